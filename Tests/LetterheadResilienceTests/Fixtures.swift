// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadResilience
import LetterheadTesting
import Synchronization

let logical = HTTPOrigin(scheme: "https", host: "orders.test")

func request(_ path: RequestPath = "/orders", method: HTTPMethod = .get) -> HTTPRequest {
    HTTPRequest(method: method, host: "orders.test", path: path)
}

/// The date of a test that began on Sun, 06 Nov 1994 08:49:37 GMT.
func date(after offset: Duration) -> Date { Date(timeIntervalSince1970: 784_111_777 + offset / .seconds(1)) }

extension MockLoader {
    /// Responds with a status that may depend on the host.
    static func answering(_ status: @escaping @Sendable (HTTPRequest) -> HTTPStatus) -> MockLoader {
        MockLoader { HTTPResponse(request: $0, status: status($0)) }
    }

    /// The hosts of the requests, in order.
    var hosts: [String] { requests.map { $0.host ?? "" } }
}

extension HTTPLoader {
    /// The status of a response or the code of an error, as text.
    func outcome(of request: HTTPRequest) async -> String {
        switch await result(of: request) {
        case .success(let response): "\(response.status.code)"
        case .failure(let error): "\(error.code)"
        }
    }

    func outcomes(_ count: Int, of request: HTTPRequest = request()) async -> [String] {
        var outcomes: [String] = []
        for _ in 0..<count { outcomes.append(await outcome(of: request)) }
        return outcomes
    }
}

/// A value that a test changes while requests read it.
final class Flag<Value: Sendable>: Sendable {
    private let state: Mutex<Value>

    init(_ value: Value) { state = Mutex(value) }

    var value: Value {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }

    @discardableResult
    func change(_ change: (inout Value) -> Void) -> Value {
        state.withLock { value in
            change(&value)
            return value
        }
    }
}
