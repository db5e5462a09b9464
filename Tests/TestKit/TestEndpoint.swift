// SPDX-License-Identifier: MIT
package import Foundation
package import Letterhead
import Synchronization

/// What the endpoints of the tests answer with.
package struct Person: Codable, Sendable, Hashable {
    package var id: Int
    package var login: String

    package init(id: Int, login: String) { (self.id, self.login) = (id, login) }
}

/// A template. A test writes only what it needs.
package struct TestEndpoint<Response: Sendable>: RequestTemplate {
    package var path: RequestPath
    package var method = HTTPMethod.get
    package var query: QueryParameters = [:]
    package var headers: HTTPHeaders = [:]
    package var parameters: RequestParameters = [:]
    package var body: any HTTPBody = EmptyBody()
    package var baseURL: URL?
    package var boundary: String?
    package var options = HTTPRequestOptions()
    private let decoding: @Sendable (HTTPResponse) async throws -> Response

    package init(_ path: RequestPath = "a") where Response == HTTPResponse {
        self.init(path, Letterhead.Endpoint(.get, path))
    }

    package init(_ path: RequestPath = "a", answering response: Response.Type) where Response: Decodable {
        self.init(path, Letterhead.Endpoint(.get, path))
    }

    package init(_ path: RequestPath = "a", answering response: Response.Type) where Response == Void {
        self.init(path, Letterhead.Endpoint(.get, path))
    }

    private init(_ path: RequestPath, _ endpoint: Letterhead.Endpoint<Response>) {
        self.path = path
        decoding = { try await endpoint.decode($0) }
    }

    package func decode(_ response: HTTPResponse) async throws -> Response { try await decoding(response) }

    /// The same with something changed.
    package func with(_ change: (inout Self) -> Void) -> Self {
        var copy = self
        change(&copy)
        return copy
    }
}

extension ServerEnvironment {
    /// An environment that no test asks over a network.
    package static func of(
        _ url: String, headers: HTTPHeaders = [:], query: QueryParameters = [:]
    ) -> ServerEnvironment {
        ServerEnvironment(baseURL: URL(string: url) ?? URL(filePath: "/"), headers: headers, query: query)
    }
}

/// A directory of a test's own. A class, because it removes the directory when the test is done with it.
package final class TemporaryDirectory: Sendable {
    package let url: URL

    package init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("letterhead-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// A file with these bytes.
    package func file(_ name: String, _ data: Data) throws -> URL {
        let file = url.appendingPathComponent(name)
        try data.write(to: file)
        return file
    }
}

/// A few single bytes, one after the other. A class, because any reader may pull the body.
package final class Chunks: Sendable {
    private let left: Mutex<Int>

    package init(_ count: Int) { left = Mutex(count) }

    package func next() -> Data? {
        left.withLock { left in
            guard left > 0 else { return nil }
            left -= 1
            return Data("x".utf8)
        }
    }
}

/// Sends a request twice at once, and returns the first response.
package struct SendTwice: LoaderLink {
    package init() {}

    package func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        try await request.withHTTPErrors {
            try await withThrowingTaskGroup(of: HTTPResponse.self) { group in
                for _ in 0..<2 { group.addTask { try await next.load(request) } }
                defer { group.cancelAll() }
                guard let response = try await group.next() else { throw CancellationError() }
                return response
            }
        }
    }
}
