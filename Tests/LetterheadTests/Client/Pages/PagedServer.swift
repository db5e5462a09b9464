// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting

/// A server that knows exactly which targets it may be asked for, in order, and answers 400 to any other.
struct PagedServer {
    struct Answer: Sendable {
        var target: String
        var body: String
        var headers: HTTPHeaders
        /// What a POST must bring, as JSON.
        var expects: String?
        var status: HTTPStatus

        init(
            _ target: String, _ body: String, headers: HTTPHeaders = [:], link: String? = nil, expects: String? = nil,
            status: HTTPStatus = .ok
        ) {
            (self.target, self.body, self.headers, self.expects) = (target, body, headers, expects)
            self.status = status
            if let link { self.headers["Link"] = link }
        }
    }

    let server: MockServer
    let client: HTTPClient

    init(_ answers: [Answer]) async throws {
        server = try await MockServer.start { request in
            guard let answer = answers.first(where: { $0.target == request.target && $0.fits(request) }) else {
                return MockServer.Response(status: 400, body: Data("not asked for: \(request.target)".utf8))
            }
            var headers = answer.headers
            headers["Content-Type"] = "application/json"
            return MockServer.Response(status: answer.status, headers: headers, body: Data(answer.body.utf8))
        }
        client = HTTPClient(environment: ServerEnvironment(baseURL: server.url))
    }

    /// The targets that were asked for, in order.
    var targets: [String] { server.requests.map(\.target) }

    func stop() async { await server.stop() }
}

extension PagedServer.Answer {
    fileprivate func fits(_ request: MockServer.Request) -> Bool {
        guard let expects else { return request.body.isEmpty }
        let sent = try? JSONDecoder().decode(JSONValue.self, from: request.body)
        return sent == (try? JSONDecoder().decode(JSONValue.self, from: Data(expects.utf8)))
    }
}

extension AsyncSequence {
    func collect() async throws -> [Element] {
        var elements: [Element] = []
        for try await element in self { elements.append(element) }
        return elements
    }
}
