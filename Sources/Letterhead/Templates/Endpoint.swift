/// A template as a value, for an endpoint that needs no type of its own.
///
/// ``Get``, ``Post``, ``Put``, ``Patch`` and ``Delete`` are the same for one method each. Declare the endpoints of an API as
/// functions, and call them where you send:
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
/// Its failures have no type of their own: use ``HTTPError/failure(as:)``. Write a ``RequestTemplate`` for an endpoint that
/// decodes, finishes or fails in a way of its own.
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

    /// Makes a template.
    ///
    /// - Parameters:
    ///   - method: the method.
    ///   - path: the path; a relative one is appended to the path of the base URL.
    ///   - query: the query; a nil value is left out. Default: none.
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
