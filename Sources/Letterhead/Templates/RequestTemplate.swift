// SPDX-License-Identifier: MIT
public import LetterheadFoundation

/// Describes one endpoint: the parts of its request and the type of its response.
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
/// let created = try await client.send(CreateUser(user: ada))
/// ```
///
/// Declare one type for each endpoint, and pass its values to a client, which sends the request and decodes the
/// response. A template is an immutable value and sends nothing itself, so a test can check the request without a
/// server. Only ``path`` is required. All other members have defaults.
///
/// Use ``Get``, ``Post`` and ``Endpoint`` for endpoints without a custom type.
///
/// ## Change what is sent
///
/// A modifier changes the endpoint where you send it. Settings such as the timeout and the authentication aren't
/// members of a template: set them with modifiers, or in its ``options``.
///
/// ```swift
/// let user = try await client.send(GetUser(login: "ada").header("X-Trace", "1").timeout(.seconds(5)))
/// ```
///
/// - To make the same change to several endpoints, write a ``RequestDecorator``.
/// - To change every request of a client, write a ``LoaderLink``.
/// - To accept, reject or retry responses, write an ``HTTPValidator``.
///
/// <doc:WritingDecoratorsBuildersAndLoaders> has examples of decorators and links.
///
/// ## Declare the members exactly
///
/// Declare each member with the type that it has in this protocol, and with a plain getter: stored or computed, but not
/// `lazy`. Otherwise, Swift treats the declaration as an unrelated member and uses the default: with
/// `var method: String`, a GET would be sent. Conform in an extension, and the compiler warns about such a member:
///
/// ```swift
/// struct DeleteUser { let login: String }
///
/// extension DeleteUser: RequestTemplate {
///     typealias Response = Void
///     var path: RequestPath { "users/\(login)" }
///     var method: HTTPMethod { .delete }  // String: "nearly matches defaulted requirement 'method'"
/// }
/// ```
///
/// Only ``body`` may have different types: `some HTTPBody`, `any HTTPBody` or a custom type.
///
/// Laws:
/// - A template doesn't depend on the client that sends it.
/// - A member returns the same result each time it is read.
public protocol RequestTemplate<Response>: RequestConfigurable where Configured == Modified<Self> {
    /// The decoded response type. Default: ``HTTPResponse``.
    ///
    /// It may be a `Decodable` type, `Data`, `String`, `Void`, an optional of these (nil for an empty body), or
    /// ``HTTPResponse``. For any other type, implement ``decode(_:)``. Otherwise, decoding the response fails with
    /// `.cannotDecodeResponse`.
    ///
    /// Decoding runs outside the main actor. If the default isolation of your module is the main actor, declare the
    /// model `nonisolated`.
    associatedtype Response: Sendable = HTTPResponse

    /// The type that ``HTTPError/failure(of:)`` decodes from an error body. Default: `Never` (not decoded).
    associatedtype Failure: Decodable & Sendable = Never

    /// The body type. Default: ``EmptyBody``.
    associatedtype Body = EmptyBody

    /// The endpoint path. Without a leading slash, it is appended to the base URL path.
    var path: RequestPath { get }

    /// The base URL, for a template that needs no environment. Default: nil (the environment provides it).
    var baseURL: URL? { get }

    /// The method. Default: GET.
    var method: HTTPMethod { get }

    /// The query. Default: none.
    var query: QueryParameters { get }

    /// The headers. They take precedence over body headers and environment headers. Default: none.
    var headers: HTTPHeaders { get }

    /// Values to send as the query of a GET or HEAD and as the JSON body of any other method. Default: none.
    var parameters: RequestParameters { get }

    /// The body. Default: empty.
    var body: Body { get }

    /// The boundary for a multipart body. Default: nil (a random one).
    var boundary: String? { get }

    /// The accepted statuses. Default: nil (2xx, and 304 if the request is conditional).
    var acceptedStatuses: HTTPStatusSet? { get }

    /// The options for the links. Default: none.
    var options: HTTPRequestOptions { get }

    /// Decodes a response with an accepted status. The default decodes a `Decodable` type `Response` with the request
    /// decoder or, if there is none, the client decoder. For other types, it returns the response or `Void`.
    ///
    /// The body may still be arriving. The function never runs on the main actor. If it throws an ``HTTPError``, the
    /// caller receives that error. Any other error becomes the underlying error of a `.cannotDecodeResponse`.
    func decode(_ response: HTTPResponse) async throws -> Response

    /// Receives the result before decoding: a response with an accepted status, or an error.
    ///
    /// The client calls it once for each load. It may return a response instead of an error, and throw an error instead
    /// of a response. Default: returns the response or throws the error.
    func finish(_ result: Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse
}

extension RequestTemplate {
    public var baseURL: URL? { nil }
    public var method: HTTPMethod { .get }
    public var query: QueryParameters { QueryParameters() }
    public var headers: HTTPHeaders { HTTPHeaders() }
    public var parameters: RequestParameters { [:] }
    public var boundary: String? { nil }
    public var acceptedStatuses: HTTPStatusSet? { nil }
    public var options: HTTPRequestOptions { HTTPRequestOptions() }
}

// The compiler chooses one of two defaults for `decode(_:)`. If an actor isolates a conformance to `Decodable`, it does
// not satisfy the constraint of the first default. A cast at run time would find it, and would run it outside the
// actor.

extension RequestTemplate where Response: Decodable {
    /// Decodes the type ``Response`` with the request decoder or, if there is none, the client decoder.
    ///
    /// - Throws: ``HTTPError`` with `.cannotDecodeResponse`, `.emptyResponse`, or the code of an error while receiving
    ///   a streamed body. An error from the decoder is thrown unchanged.
    public func decode(_ response: HTTPResponse) async throws -> Response {
        try await ResponseDecoding.decode(Response.self, from: response)
    }
}

extension RequestTemplate {
    /// Returns the response, for the types ``HTTPResponse`` and `Void` and for optionals of them.
    ///
    /// - Throws: ``HTTPError`` with `.cannotDecodeResponse` for any other type. The message contains the type and the
    ///   remedy.
    public func decode(_ response: HTTPResponse) async throws -> Response {
        try ResponseDecoding.value(Response.self, withoutDecoding: response)
    }

    public func finish(_ result: Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse { try result.get() }
}

extension RequestTemplate where Body == EmptyBody {
    public var body: EmptyBody { EmptyBody() }
}
