public import Foundation

/// A template that wraps another template, and changes some of its members.
///
/// The modifiers of ``RequestTemplate``, such as `.header(_:_:)`, create the decorators of this library. Implement a
/// custom decorator as a generic type with a ``base``, and declare only the members that it changes:
///
/// ```swift
/// struct Traced<Base: RequestTemplate>: RequestDecorator {
///     let base: Base
///     var headers: HTTPHeaders {
///         var headers = base.headers
///         headers["X-Trace"] = "traced"
///         return headers
///     }
/// }
/// ```
///
/// Laws, which `DecoratorLaws` of LetterheadTesting checks:
///
/// - Each member that the decorator does not change has the value of the base.
/// - Each member that it changes is derived from the member of the base.
/// - It does not change the base.
///
/// Decorators nest in any order. To keep a paginated template paginated, see ``PageForwarding``.
public protocol RequestDecorator<Base>: RequestTemplate {
    /// The type of the wrapped template.
    associatedtype Base: RequestTemplate

    /// The failure type. Default: that of the base.
    associatedtype Failure = Base.Failure

    /// The wrapped template.
    var base: Base { get }
}

extension RequestDecorator {
    /// The path of the base.
    public var path: RequestPath { base.path }
    /// The base URL of the base.
    public var baseURL: URL? { base.baseURL }
    /// The method of the base.
    public var method: HTTPMethod { base.method }
    /// The query of the base.
    public var query: QueryParameters { base.query }
    /// The headers of the base.
    public var headers: HTTPHeaders { base.headers }
    /// The parameters of the base.
    public var parameters: RequestParameters { base.parameters }
    /// The boundary of the base.
    public var boundary: String? { base.boundary }
    /// The accepted statuses of the base.
    public var acceptedStatuses: HTTPStatusSet? { base.acceptedStatuses }
    /// The options of the base.
    public var options: HTTPRequestOptions { base.options }

    /// Calls `finish` of the base.
    public func finish(_ result: Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse {
        try await base.finish(result)
    }
}

extension RequestDecorator where Body == Base.Body {
    /// The body of the base.
    public var body: Base.Body { base.body }
}

extension RequestDecorator where Response == Base.Response {
    /// Calls `decode` of the base.
    public func decode(_ response: HTTPResponse) async throws -> Base.Response { try await base.decode(response) }
}
