// SPDX-License-Identifier: MIT
import Foundation
import Letterhead

/// What the endpoints of the tests answer with.
struct Person: Codable, Sendable, Hashable {
    var id: Int
    var login: String
}

/// A template of which a test writes what it needs.
struct Endpoint<Response: Sendable>: RequestTemplate {
    var path: RequestPath
    var method = HTTPMethod.get
    var query: QueryParameters = [:]
    var headers: HTTPHeaders = [:]
    var parameters: RequestParameters = [:]
    var body: any HTTPBody = EmptyBody()
    var baseURL: URL?
    var boundary: String?
    var options = HTTPRequestOptions()
    private let decoding: @Sendable (HTTPResponse) async throws -> Response

    init(_ path: RequestPath = "a") where Response == HTTPResponse { self.init(path, Letterhead.Endpoint(.get, path)) }

    init(_ path: RequestPath = "a", answering response: Response.Type) where Response: Decodable {
        self.init(path, Letterhead.Endpoint(.get, path))
    }

    init(_ path: RequestPath = "a", answering response: Response.Type) where Response == Void {
        self.init(path, Letterhead.Endpoint(.get, path))
    }

    private init(_ path: RequestPath, _ endpoint: Letterhead.Endpoint<Response>) {
        self.path = path
        decoding = { try await endpoint.decode($0) }
    }

    func decode(_ response: HTTPResponse) async throws -> Response { try await decoding(response) }

    /// The same with something changed.
    func with(_ change: (inout Self) -> Void) -> Self {
        var copy = self
        change(&copy)
        return copy
    }
}

extension ServerEnvironment {
    /// An environment that no test asks over a network.
    static func of(
        _ url: String, headers: HTTPHeaders = [:], query: QueryParameters = [:]
    ) -> ServerEnvironment {
        ServerEnvironment(baseURL: URL(string: url) ?? URL(filePath: "/"), headers: headers, query: query)
    }
}
