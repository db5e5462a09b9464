// SPDX-License-Identifier: MIT
public import LetterheadFoundation

/// A template that wraps another template, and changes some of its members. Modifiers, such as
/// `.header(_:_:)`, create the decorators of this library.
///
/// Write a decorator for a change that you want to apply to single endpoints: `GetUser(login: "ada").traced()`. Use a
/// ``LoaderLink`` to change every request of a client, and a ``RequestBuilder`` to build requests in another way. A
/// decorator is a generic type with a ``base``, and declares only the members that it changes:
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
/// Decorators nest in any order. To keep a paginated template paginated, see ``PaginatedDecorator``.
public protocol RequestDecorator<Base>: RequestTemplate {
    associatedtype Base: RequestTemplate

    associatedtype Failure = Base.Failure

    var base: Base { get }
}

extension RequestDecorator {
    public var path: RequestPath { base.path }
    public var baseURL: URL? { base.baseURL }
    public var method: HTTPMethod { base.method }
    public var query: QueryParameters { base.query }
    public var headers: HTTPHeaders { base.headers }
    public var parameters: RequestParameters { base.parameters }
    public var boundary: String? { base.boundary }
    public var acceptedStatuses: HTTPStatusSet? { base.acceptedStatuses }
    public var options: HTTPRequestOptions { base.options }
    public func finish(_ result: Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse {
        try await base.finish(result)
    }
}

extension RequestDecorator where Body == Base.Body {
    public var body: Base.Body { base.body }
}

extension RequestDecorator where Response == Base.Response {
    public func decode(_ response: HTTPResponse) async throws -> Base.Response { try await base.decode(response) }
}

extension HTTPRequest {
    /// The template that the request was built from, with its decorators; nil for a request that was created without
    /// one. It is never sent.
    ///
    /// Loaders, observers and tests use it to recognize an endpoint; see ``template(as:)``. The requests of a redirect
    /// and of a retry carry the template of the first request.
    public var template: (any RequestTemplate)? { context.template as? any RequestTemplate }

    /// Returns the template of a type that the request was built from; nil if it was built from another one.
    ///
    /// ```swift
    /// if let getUser = request.template(as: GetUser.self) { print(getUser.login) }
    /// ```
    ///
    /// The template is found inside any number of decorators, and inside an ``AnyTemplate``. The outermost match is
    /// returned, so a decorator can be found as well.
    public func template<Template: RequestTemplate>(as type: Template.Type) -> Template? {
        var next = template
        while let template = next {
            if let match = template as? Template { return match }
            next = template.inner
        }
        return nil
    }

    /// Stores the template that the request was built from, unless one is stored.
    mutating func originate(from template: some RequestTemplate) {
        if context.template == nil { context.template = template }
    }
}

extension RequestTemplate {
    /// The template inside a decorator or an ``AnyTemplate``; nil for any other template.
    package var inner: (any RequestTemplate)? {
        (self as? any RequestDecorator)?.base ?? (self as? any ErasingTemplate)?.erased
    }
}

/// A template that hides the type of another one without being its decorator.
protocol ErasingTemplate: RequestTemplate {
    /// The hidden template.
    var erased: any RequestTemplate { get }
}

extension AnyTemplate: ErasingTemplate {}

/// Returns the name of the type of a template without its decorators.
func rootName<Template: RequestTemplate>(of type: Template.Type) -> String {
    func base<Decorator: RequestDecorator>(_ decorator: Decorator.Type) -> String { rootName(of: Decorator.Base.self) }
    if let decorator = type as? any RequestDecorator.Type { return base(decorator) }
    return String(describing: type)
}
