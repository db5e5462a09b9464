public import Foundation

/// An endpoint: an immutable value that describes one request and the type of its response. It sends nothing.
///
/// Declare one type for each endpoint, decorate it, and pass it to a client. Only ``path`` is required; all other
/// members have defaults.
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
/// ``Get``, ``Post`` and ``Endpoint`` are templates for endpoints without a custom type.
///
/// Laws: a template is a value, every access of a member returns the same result, and a template contains no client.
///
/// Declare each member with exactly the type that it has here. Otherwise, Swift treats it as an unrelated member and
/// uses the default: a `var method: String` would send a GET. The builder refuses such a template with
/// `.invalidRequest`, and the message contains the member and the required type. It also refuses a setting that is
/// declared as a member, such as a `timeout` or an `authentication` of the type of that setting, because a template has
/// no such member: write `.timeout(…)` where you send it. ``body`` may have any type that is an ``HTTPBody``: `some
/// HTTPBody`, `any HTTPBody` or a custom type.
public protocol RequestTemplate<Response>: Sendable, _TemplateMembers {
    /// The type of the decoded response: a `Decodable` type, `Data`, `String`, `Void`, an optional of these (nil for an
    /// empty body), or ``HTTPResponse``, which is the default. For any other type, implement ``decode(_:)``; without
    /// it, sending the template is `.invalidRequest`.
    associatedtype Response: Sendable = HTTPResponse

    /// The type to which the body of a failure is decoded. Default: `Never` (failures are not decoded).
    associatedtype Failure: Decodable & Sendable = Never

    /// The type of the body. Default: ``EmptyBody``.
    associatedtype Body = EmptyBody

    /// The path. A relative path is appended to the path of the base URL.
    var path: RequestPath { get }

    /// The base URL. With a base URL, the template needs no environment. Default: nil.
    var baseURL: URL? { get }

    /// The method. Default: GET.
    var method: HTTPMethod { get }

    /// The query. Default: none.
    var query: QueryParameters { get }

    /// The headers. They take precedence over those of the body, the environment and the client. Default: none.
    var headers: HTTPHeaders { get }

    /// Values that are sent as the query of a GET or HEAD and as the JSON body of any other method. Default: none.
    var parameters: RequestParameters { get }

    /// The body. Default: empty.
    var body: Body { get }

    /// The boundary of a multipart body; nil creates a random one. Default: nil.
    var boundary: String? { get }

    /// The accepted statuses. Default: nil (2xx, and 304 if the request is conditional).
    var acceptedStatuses: HTTPStatusSet? { get }

    /// The options for the links. Default: none.
    var options: HTTPRequestOptions { get }

    /// Decodes an accepted response. Default: by the type of ``Response``, with the decoder of the client.
    ///
    /// The function is asynchronous because a body may still be arriving. An error that it throws is the underlying
    /// error of a `.cannotDecodeResponse`. It never runs on the caller's main actor.
    func decode(_ response: HTTPResponse) async throws -> Response

    /// Receives the result of the load, once, before decoding: a response with an accepted status, or the error. It may
    /// return a response for an error and throw an error for a response. Default: returns the response or throws the
    /// error.
    func finish(_ result: Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse
}

extension RequestTemplate {
    /// Nil.
    public var baseURL: URL? { nil }
    /// The GET method.
    public var method: HTTPMethod { .get }
    /// An empty query.
    public var query: QueryParameters { [:] }
    /// No headers.
    public var headers: HTTPHeaders { [:] }
    /// No parameters.
    public var parameters: RequestParameters { [:] }
    /// Nil: a random boundary is created.
    public var boundary: String? { nil }
    /// Nil: 2xx, and 304 if the request is conditional.
    public var acceptedStatuses: HTTPStatusSet? { nil }
    /// No options.
    public var options: HTTPRequestOptions { HTTPRequestOptions() }

    /// Decodes by the type of ``Response``.
    ///
    /// It is generic so that the library can detect whether a template implements ``decode(_:)``.
    ///
    /// - Throws: ``HTTPError``; `.invalidRequest` if it is called for a type other than ``Response``.
    @_disfavoredOverload
    public func decode<Value>(_ response: HTTPResponse) async throws -> Value {
        guard Value.self == Response.self else {
            throw HTTPError(
                .invalidRequest, request: response.request, response: response,
                message: "\(Self.self) decodes \(Response.self), but \(Value.self) was requested")
        }
        return try await ResponseDecoding.decode(Value.self, from: response)
    }

    /// Returns the response or throws the error.
    public func finish(_ result: Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse { try result.get() }
}

extension RequestTemplate where Body == EmptyBody {
    /// An empty body.
    public var body: EmptyBody { EmptyBody() }
}
