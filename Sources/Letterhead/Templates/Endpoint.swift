/// A template for an endpoint that needs no separate type.
///
/// ``Get``, ``Post``, ``Put``, ``Patch`` and ``Delete`` are endpoints with a fixed method. Declare the endpoints of an
/// API as static functions, and pass their results to a client:
///
/// ```swift
/// extension RequestTemplate where Self == Get<User> {
///     static func user(_ login: String) -> Self { Get("users/\(login)") }
/// }
///
/// let ada = try await client.send(.user("ada").timeout(.seconds(5)))
/// let options = try await client.send(Endpoint<HTTPResponse>(.options, "users"))
/// ```
///
/// The response is a `Decodable` type, `Void` or ``HTTPResponse``. An endpoint has no ``RequestTemplate/Failure`` type:
/// use ``HTTPError/failure(as:)``. For custom decoding, or for a `Failure` type, declare a type that conforms to
/// ``RequestTemplate``.
public struct Endpoint<Response: Sendable>: RequestTemplate {
    /// The method.
    public let method: HTTPMethod
    /// The path.
    public let path: RequestPath
    /// The query.
    public let query: QueryParameters
    /// The headers.
    public let headers: HTTPHeaders
    /// The body.
    public let body: any HTTPBody
    /// How a response is decoded. The initializers choose it, because only the compiler can see whether a conformance
    /// to `Decodable` is isolated to an actor.
    private let decoding: @Sendable (HTTPResponse) async throws -> Response

    /// Creates a template whose response is decoded.
    ///
    /// - Parameters:
    ///   - method: the method.
    ///   - path: the path. A path without a slash at its beginning is appended to the path of the base URL.
    ///   - query: the query. Items with the value nil are omitted. Default: none.
    ///   - headers: the headers. Default: none.
    ///   - body: the body. Default: none.
    public init(
        _ method: HTTPMethod, _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:],
        body: any HTTPBody = EmptyBody()
    ) where Response: Decodable {
        self.init(method, path, query, headers, body) { try await ResponseDecoding.decode(Response.self, from: $0) }
    }

    /// Creates a template whose response has no value. The body of the response is ignored.
    public init(
        _ method: HTTPMethod, _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:],
        body: any HTTPBody = EmptyBody()
    ) where Response == Void {
        self.init(method, path, query, headers, body) { _ in }
    }

    /// Creates a template that returns the response itself.
    public init(
        _ method: HTTPMethod, _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:],
        body: any HTTPBody = EmptyBody()
    ) where Response == HTTPResponse {
        self.init(method, path, query, headers, body) { $0 }
    }

    private init(
        _ method: HTTPMethod, _ path: RequestPath, _ query: QueryParameters, _ headers: HTTPHeaders,
        _ body: any HTTPBody, decoding: @escaping @Sendable (HTTPResponse) async throws -> Response
    ) {
        (self.method, self.path, self.query, self.headers, self.body) = (method, path, query, headers, body)
        self.decoding = decoding
    }

    /// Decodes the response type that the initializer has chosen.
    public func decode(_ response: HTTPResponse) async throws -> Response { try await decoding(response) }
}
