#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Converts a template to a request.
///
/// A client uses ``StandardRequestBuilder``. Implement the protocol if a family of requests is built differently, and
/// pass the builder to `SendableRequest(builder, over: chain)`:
///
/// ```swift
/// struct SignedBuilder<Template: RequestTemplate>: RequestBuilder {
///     let template: Template
///     func request() throws(HTTPError) -> HTTPRequest {
///         var request = try StandardRequestBuilder(template).request()
///         request.headers["X-Signature"] = signature(of: request)
///         return request
///     }
/// }
/// ```
///
/// A builder that has a `URLRequest` returns `try HTTPRequest(urlRequest)`. Laws: a builder sends nothing, and throws
/// `.invalidRequest` if it cannot build a request.
public protocol RequestBuilder<Template>: Sendable {
    /// The type of the template.
    associatedtype Template: RequestTemplate

    /// The template.
    var template: Template { get }

    /// Builds the request.
    func request() throws(HTTPError) -> HTTPRequest
}

extension RequestBuilder {
    /// Builds the request and converts it to a `URLRequest`, with its own environment applied; see
    /// ``HTTPRequest/urlRequest()``.
    ///
    /// - Throws: `.invalidRequest`, also if a member of the template has a type that the library does not support.
    public func urlRequest() throws(HTTPError) -> URLRequest { try checkedRequest().urlRequest() }

    /// Builds the request, and checks the members of the template if the builder has not checked them.
    func checkedRequest() throws(HTTPError) -> HTTPRequest {
        let request = try request()
        // The standard builder has already checked the members.
        if Self.self != StandardRequestBuilder<Template>.self,
            let misfit = Template._misfit ?? template.options[TemplateDefectOption.self]?.misfit
        {
            throw HTTPError(.invalidRequest, request: request, message: misfit)
        }
        return request
    }
}
