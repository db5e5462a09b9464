#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// Turns a template into a request.
///
/// Use: ``StandardRequestBuilder`` is what a client uses. Choose another, or write one, when a whole family of requests
/// is made in a way of its own, and hand it to `SendableRequest(builder, over: chain)`:
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
/// A builder that has a `URLRequest` hands over `try HTTPRequest(urlRequest)`. Laws: it sends nothing; and what it cannot
/// build is `.invalidRequest`.
public protocol RequestBuilder<Template>: Sendable {
    /// What is built from.
    associatedtype Template: RequestTemplate

    /// The template.
    var template: Template { get }

    /// Makes the request.
    func request() throws(HTTPError) -> HTTPRequest
}

extension RequestBuilder {
    /// The request for Foundation, with its own environment applied; see ``HTTPRequest/urlRequest()``.
    ///
    /// - Throws: `.invalidRequest`, also when a member of the template has a type that the library does not read.
    public func urlRequest() throws(HTTPError) -> URLRequest { try checkedRequest().urlRequest() }

    /// The request, after a check of the template's members that a builder need not make itself.
    func checkedRequest() throws(HTTPError) -> HTTPRequest {
        let request = try request()
        // The standard builder has made the check.
        if Self.self != StandardRequestBuilder<Template>.self,
            let misfit = Template._misfit ?? template.options[TemplateDefectOption.self]?.misfit
        {
            throw HTTPError(.invalidRequest, request: request, message: misfit)
        }
        return request
    }
}
