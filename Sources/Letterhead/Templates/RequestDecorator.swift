public import Foundation

/// A template that has a template: it changes one thing and leaves the rest to what it wraps.
///
/// Use: the fluent methods of ``RequestTemplate`` make the decorators of this library. Write one: a generic type with a
/// ``base``, and only the members that it changes.
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
/// Laws, which `DecoratorLaws` of LetterheadTesting checks: every member that it does not change is the base's; what it
/// changes it takes from the base; it changes nothing in place. Decorators nest in any order. To keep a paginated template
/// paginated, see ``PageForwarding``.
public protocol RequestDecorator<Base>: RequestTemplate {
    /// The type of what is wrapped.
    associatedtype Base: RequestTemplate

    /// Default: the base's.
    associatedtype Failure = Base.Failure

    /// What is wrapped.
    var base: Base { get }
}

extension RequestDecorator {
    /// The base's.
    public var path: RequestPath { base.path }
    /// The base's.
    public var baseURL: URL? { base.baseURL }
    /// The base's.
    public var method: HTTPMethod { base.method }
    /// The base's.
    public var query: QueryParameters { base.query }
    /// The base's.
    public var headers: HTTPHeaders { base.headers }
    /// The base's.
    public var parameters: RequestParameters { base.parameters }
    /// The base's.
    public var boundary: String? { base.boundary }
    /// The base's.
    public var acceptedStatuses: HTTPStatusSet? { base.acceptedStatuses }
    /// The base's.
    public var options: HTTPRequestOptions { base.options }

    /// Has the base hear it.
    public func finish(_ result: Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse {
        try await base.finish(result)
    }
}

extension RequestDecorator where Body == Base.Body {
    /// The base's.
    public var body: Base.Body { base.body }
}

extension RequestDecorator where Response == Base.Response {
    /// Has the base decode it.
    public func decode(_ response: HTTPResponse) async throws -> Base.Response { try await base.decode(response) }
}
