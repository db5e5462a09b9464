// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Synchronization
import TestKit

/// A retry over a scripted loader, on a clock that moves itself: what was sent, and how long was waited.
struct RetryScene {
    let clock: TestClock
    let mock: MockLoader
    let chain: any HTTPLoader
    private let onRetry: (@Sendable (Retry.Context) async -> Void)?

    init(
        _ mock: MockLoader, validators: [any HTTPValidator] = [DefaultValidator()],
        clock: TestClock = TestClock(isAutomatic: true),
        maximumRetries: Int = 0, budget: Retry.Budget = .standard, random: @escaping @Sendable () -> Double = { 1 },
        onRetry: (@Sendable (Retry.Context) async -> Void)? = nil
    ) {
        (self.clock, self.mock, self.onRetry) = (clock, mock, onRetry)
        let backoff = Backoff(
            maximumRetries: maximumRetries, clock: clock, now: { Date(timeIntervalSince1970: 784_111_777) },
            random: random)
        chain = Deadline(clock: clock) --> Retry(validators: validators, backoff, budget: budget) --> mock
    }

    /// How many requests were sent.
    var sent: Int { mock.requests.count }

    func load(_ request: HTTPRequest) async -> Result<HTTPResponse, HTTPError> {
        var request = request
        if let onRetry {
            request.onRetry = { [own = request.onRetry] context in
                await onRetry(context)
                await own?(context)
            }
        }
        do throws(HTTPError) { return .success(try await chain.load(request)) } catch { return .failure(error) }
    }

    func load(
        _ method: HTTPMethod = .get, _ configure: (inout HTTPRequest) -> Void = { _ in }
    ) async -> Result<HTTPResponse, HTTPError> { await load(.plain(method, configure)) }
}

extension HTTPRequest {
    /// A request to a host that does not exist.
    static func plain(_ method: HTTPMethod = .get, _ configure: (inout HTTPRequest) -> Void = { _ in }) -> HTTPRequest {
        HTTPRequest().with { ($0.method, $0.host, $0.path) = (method, "a.test", "/x") }.with(configure)
    }
}

extension MockLoader {
    /// Answers with these statuses in order, then always with the last. 0 is a lost connection.
    static func answering(_ statuses: Int..., headers: HTTPHeaders = [:], body: String = "") -> MockLoader {
        let number = Counter()
        return MockLoader { request in
            let status = statuses[min(number.next(), statuses.count) - 1]
            guard status > 0 else { throw HTTPError(.connectionLost, request: request) }
            return HTTPResponse(
                request: request, status: HTTPStatus(status), headers: headers, body: HTTPResponseBody(Data(body.utf8)))
        }
    }

    /// Answers with a body of single bytes that are still arriving.
    static func streaming(_ count: Int) -> MockLoader {
        MockLoader { request in
            let chunks = Chunks(count)
            return HTTPResponse(request: request, status: 200, body: HTTPResponseBody(length: nil) { chunks.next() })
        }
    }

    /// Always fails.
    static func failing(_ code: HTTPError.Code, mayHaveBeenSent: Bool? = nil) -> MockLoader {
        MockLoader { throw HTTPError(code, request: $0, mayHaveBeenSent: mayHaveBeenSent) }
    }
}

extension Result where Success == HTTPResponse, Failure == HTTPError {
    var status: Int? { (try? get())?.status.code }
    var code: HTTPError.Code? { error?.code }
    var error: HTTPError? { if case .failure(let error) = self { error } else { nil } }
    var attempts: [HTTPRequest.Attempt] { (try? get())?.attempts ?? error?.attempts ?? [] }
}
