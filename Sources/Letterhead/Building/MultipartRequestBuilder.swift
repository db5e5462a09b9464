/// Builds a request with a multipart body: the builder for `template.multipart(parts)` (RFC 7578).
///
/// All other parts of the request are built as by ``StandardRequestBuilder``. The boundary is the template's
/// ``RequestTemplate/boundary``. Without one, it is random, and the same for every request of this builder.
public struct MultipartRequestBuilder<Template: RequestTemplate>: RequestBuilder {
    /// The template.
    public let template: Template
    private let decorated: WithBody<Template, MultipartBody>

    /// Creates a builder.
    ///
    /// - Parameters:
    ///   - template: the template for everything except the body.
    ///   - parts: the parts of the body.
    ///   - kind: the multipart type. Default: a form.
    public init(_ template: Template, parts: [MultipartPart], kind: MultipartKind = .formData) {
        self.template = template
        decorated = template.multipart(parts, kind: kind)
    }

    /// Builds the request.
    public func request() throws(HTTPError) -> HTTPRequest {
        try StandardRequestBuilder(decorated).request()
    }
}
