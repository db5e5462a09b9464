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
/// An endpoint has no ``RequestTemplate/Failure`` type: use ``HTTPError/failure(as:)``. For custom decoding, or for a
/// `Failure` type, declare a type that conforms to ``RequestTemplate``.
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

    /// Creates a template.
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
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
    }
}
