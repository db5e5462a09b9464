// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Synchronization
import Testing

extension HTTPRequest {
    /// A request to a URL that a test writes down.
    static func to(_ url: String, method: HTTPMethod = .get) throws -> HTTPRequest {
        HTTPRequest(method: method, url: try #require(URL(string: url)))
    }
}

extension MockLoader {
    /// Answers with the redirects of a table, by URL, and with 200 for any other.
    static func redirecting(_ redirects: [String: (Int, String)]) -> MockLoader {
        MockLoader { request in
            guard let (status, location) = redirects[try request.urlString()] else { return .ok(request) }
            return HTTPResponse(request: request, status: HTTPStatus(status), headers: ["Location": location])
        }
    }
}

/// Sends a request twice at once, and returns the first response.
struct Hedge: LoaderLink {
    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        try await request.mappingErrors {
            try await withThrowingTaskGroup(of: HTTPResponse.self) { group in
                for _ in 0..<2 { group.addTask { try await next.load(request) } }
                defer { group.cancelAll() }
                guard let response = try await group.next() else { throw CancellationError() }
                return response
            }
        }
    }
}

/// A body of five bytes, which may be sent again or not.
struct Words: HTTPBody {
    var isReplayable = true
    var additionalHeaders: HTTPHeaders { ["Content-Type": "text/plain"] }
    func encode() -> Data { Data("words".utf8) }
}

/// A few single bytes, one after the other. A class, because any reader may pull the body.
final class Chunks: Sendable {
    private let left: Mutex<Int>

    init(_ count: Int) { left = Mutex(count) }

    func next() -> Data? {
        left.withLock { left in
            guard left > 0 else { return nil }
            left -= 1
            return Data("x".utf8)
        }
    }
}
