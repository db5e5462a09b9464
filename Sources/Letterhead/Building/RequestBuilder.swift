#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

/// A type that creates a request from a template.
///
/// A client uses ``StandardRequestBuilder``. Implement the protocol if some requests must be built differently, and
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
/// A builder that creates a `URLRequest` returns `try HTTPRequest(urlRequest)`.
///
/// Laws:
///
/// - A builder sends nothing.
/// - It throws `.invalidRequest` if it cannot build a request.
public protocol RequestBuilder<Template>: Sendable {
    /// The type of the template.
    associatedtype Template: RequestTemplate

    /// The template. It is the same each time.
    var template: Template { get }

    /// Builds the request.
    func request() throws(HTTPError) -> HTTPRequest
}

extension RequestBuilder {
    /// Builds the request and converts it to a `URLRequest`; see ``HTTPRequest/urlRequest()``.
    ///
    /// - Throws: `.invalidRequest` if the request cannot be built or converted.
    public func urlRequest() throws(HTTPError) -> URLRequest { try checkedRequest().urlRequest() }

    /// Builds the request, and adds what every request of a template carries: the template and its cookies.
    func checkedRequest() throws(HTTPError) -> HTTPRequest {
        var request = try request()
        request.originate(from: template)
        try request.addTemplateCookies()
        return request
    }
}
