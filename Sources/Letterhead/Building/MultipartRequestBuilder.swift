/// Builds the request of a template, with a multipart body (RFC 7578) in place of the body of the template.
///
/// The request is the one that ``StandardRequestBuilder`` builds for `template.multipart(parts)`. The boundary is the
/// ``RequestTemplate/boundary`` of the template. If that is nil, a random boundary is created once for the builder.
public struct MultipartRequestBuilder<Template: RequestTemplate>: RequestBuilder {
    /// The template.
    public let template: Template
    private let decorated: WithBody<Template, MultipartBody>

    /// Creates a builder.
    ///
    /// - Parameters:
    ///   - template: the template for all parts of the request except the body.
    ///   - parts: the parts of the body.
    ///   - subtype: the subtype; see ``MultipartBody``. Default: `form-data`.
    public init(_ template: Template, parts: [MultipartPart], subtype: String = "form-data") {
        self.template = template
        decorated = template.multipart(parts, subtype: subtype)
    }

    /// Builds the request.
    public func request() throws(HTTPError) -> HTTPRequest {
        try StandardRequestBuilder(decorated).request()
    }
}
