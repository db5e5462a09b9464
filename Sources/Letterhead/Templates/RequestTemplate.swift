public import Foundation

/// One endpoint: an immutable value that says everything about one request and its answer, and sends nothing.
///
/// Use: write one type for each endpoint, decorate it, and hand it to a client. Only ``path`` must be written; every
/// other member has a default.
///
/// ```swift
/// struct CreateUser: RequestTemplate {
///     typealias Response = User
///     let user: User
///     var method: HTTPMethod { .post }
///     var path: RequestPath { "users" }
///     var body: some HTTPBody { JSONBody(user) }
/// }
///
/// let user = try await client.send(CreateUser(user: ada).header("X-Trace", "1"))
/// ```
///
/// ``Get``, ``Post`` and ``Endpoint`` are templates for endpoints that need no type of their own.
///
/// Laws: it is a value, and every read of a member gives the same; it holds no client.
///
/// Declare each member with exactly the type that it has here. Swift takes a member of another type for something else
/// and uses the default, so a `var method: String` would send a GET. The builder refuses such a template with
/// `.invalidRequest`, naming the member and the right type. It also refuses a setting that is
/// declared as a member, such as a `timeout` or an `authentication` of the type of that setting, since a template has no such
/// member: write `.timeout(…)` where you send it.
/// ``body`` may have any type that is an ``HTTPBody``: `some HTTPBody`, `any HTTPBody` or your own.
public protocol RequestTemplate<Response>: Sendable, _TemplateMembers {
    /// What the answer is decoded to: a `Decodable` type, `Data`, `String`, `Void`, an optional of these (nil for an
    /// empty answer), or ``HTTPResponse``, which is the default. For any other, write ``decode(_:)``; without it, sending
    /// the template is `.invalidRequest`.
    associatedtype Response: Sendable = HTTPResponse

    /// What the body of a failure is decoded to. Default: `Never`, the endpoint has none of its own.
    associatedtype Failure: Decodable & Sendable = Never

    /// The type of the body. Default: ``EmptyBody``.
    associatedtype Body = EmptyBody

    /// The path; behind the base URL's when it is relative.
    var path: RequestPath { get }

    /// The template's own base URL; with one, it needs no environment. Default: nil.
    var baseURL: URL? { get }

    /// The method. Default: GET.
    var method: HTTPMethod { get }

    /// The query. Default: none.
    var query: QueryParameters { get }

    /// The headers; they win over those of the body, the environment and the client. Default: none.
    var headers: HTTPHeaders { get }

    /// Values that are the query of a GET or HEAD and the JSON body of any other method. Default: none.
    var parameters: RequestParameters { get }

    /// What is sent. Default: nothing.
    var body: Body { get }

    /// The boundary of a multipart body; nil lets one be made. Default: nil.
    var boundary: String? { get }

    /// The statuses that count as success. Default: nil, 2xx, and 304 when the request is conditional.
    var acceptedStatuses: HTTPStatusSet? { get }

    /// The settings for the loaders. Default: none.
    var options: HTTPRequestOptions { get }

    /// Makes the value of an accepted response. Default: by the type of ``Response``, with the decoder of the client.
    ///
    /// It is async because a body may still be arriving. What it throws is inside the `.cannotDecodeResponse` that the
    /// caller gets. It never runs on the caller's main actor.
    func decode(_ response: HTTPResponse) async throws -> Response

    /// Hears how the load ended, once, before decoding: a response with an accepted status, or the error. What it
    /// returns or throws counts, so it may turn one into the other. Default: passes the result on.
    func finish(_ result: Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse
}

extension RequestTemplate {
    /// None of its own.
    public var baseURL: URL? { nil }
    /// GET.
    public var method: HTTPMethod { .get }
    /// None.
    public var query: QueryParameters { [:] }
    /// None.
    public var headers: HTTPHeaders { [:] }
    /// None.
    public var parameters: RequestParameters { [:] }
    /// One is made.
    public var boundary: String? { nil }
    /// 2xx, and 304 when the request is conditional.
    public var acceptedStatuses: HTTPStatusSet? { nil }
    /// None.
    public var options: HTTPRequestOptions { HTTPRequestOptions() }

    /// Decodes by the type of ``Response``.
    ///
    /// It is generic so that the library can tell whether a template declares its own ``decode(_:)``.
    ///
    /// - Throws: ``HTTPError``; `.invalidRequest` when it is called for another type than ``Response``.
    @_disfavoredOverload
    public func decode<Value>(_ response: HTTPResponse) async throws -> Value {
        guard Value.self == Response.self else {
            throw HTTPError(
                .invalidRequest, request: response.request, response: response,
                message: "\(Self.self) decodes \(Response.self), and \(Value.self) was asked for")
        }
        return try await ResponseDecoding.decode(Value.self, from: response)
    }

    /// Passes the result on.
    public func finish(_ result: Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse { try result.get() }
}

extension RequestTemplate where Body == EmptyBody {
    /// Nothing.
    public var body: EmptyBody { EmptyBody() }
}
