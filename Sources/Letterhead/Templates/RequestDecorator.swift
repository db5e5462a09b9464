// SPDX-License-Identifier: MIT
public import LetterheadFoundation

/// A template that contains a base template and changes some of its members.
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
/// Write a decorator for a change to single endpoints: `Traced(base: GetUser(login: "ada"))`. It is a generic type with
/// a ``base``, and declares only the members that it changes. Decorators nest in any order. To keep a paginated
/// template paginated, see ``PaginatedDecorator``.
///
/// - For most changes, modifiers such as `.header(_:_:)` are enough. Each returns a decorator.
/// - To change every request of a client, write a ``LoaderLink``.
/// - To build requests in a different way, write a ``RequestBuilder``.
///
/// Laws, which `DecoratorLaws` of LetterheadTesting checks:
/// - Each member that the decorator doesn't change has the same value as in the base.
/// - Each member that it changes is derived from the same member in the base.
/// - It does not change the base.
public protocol RequestDecorator<Base>: RequestTemplate {
    /// The wrapped template type, usually a generic parameter.
    associatedtype Base: RequestTemplate

    associatedtype Failure = Base.Failure

    /// The wrapped template. Members that the decorator doesn't declare come from it.
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
    /// The template that the request was built from, with its decorators. Nil for a request without a template. It is
    /// never sent.
    ///
    /// Use it to recognize an endpoint in loaders, observers and tests. See ``template(as:)``. Requests after a
    /// redirect or a retry carry the same template as the first request.
    public var template: (any RequestTemplate)? { context.template as? any RequestTemplate }

    /// Returns the template that the request was built from if it has this type, and nil otherwise.
    ///
    /// ```swift
    /// if let getUser = request.template(as: GetUser.self) { print(getUser.login) }
    /// ```
    ///
    /// The search looks inside decorators and ``AnyTemplate``, and returns the outermost match, which may be a
    /// decorator.
    public func template<Template: RequestTemplate>(as type: Template.Type) -> Template? {
        var next = template
        while let template = next {
            if let match = template as? Template { return match }
            next = template.inner
        }
        return nil
    }

    /// Stores the template that the request was built from, unless it already has one.
    mutating func originate(from template: some RequestTemplate) {
        if context.template == nil { context.template = template }
    }
}

extension RequestTemplate {
    /// The template inside a decorator or an ``AnyTemplate``. Nil for any other template.
    package var inner: (any RequestTemplate)? {
        (self as? any RequestDecorator)?.base ?? (self as? any ErasingTemplate)?.erased
    }
}

/// A template that hides the type of the template inside it, without being its decorator.
protocol ErasingTemplate: RequestTemplate {
    var erased: any RequestTemplate { get }
}

extension AnyTemplate: ErasingTemplate {}

/// Returns the name of a template type without its decorators.
func rootName<Template: RequestTemplate>(of type: Template.Type) -> String {
    func base<Decorator: RequestDecorator>(_ decorator: Decorator.Type) -> String { rootName(of: Decorator.Base.self) }
    if let decorator = type as? any RequestDecorator.Type { return base(decorator) }
    return String(describing: type)
}
