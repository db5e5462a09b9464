/// Builds a request whose body is parts: the builder for `template.multipart(parts)` (RFC 7578).
///
/// Everything else is built as ``StandardRequestBuilder`` builds it. The boundary is the template's
/// ``RequestTemplate/boundary``; without one it is random, and the same for every request that this builder makes.
public struct MultipartRequestBuilder<Template: RequestTemplate>: RequestBuilder {
    /// The template.
    public let template: Template
    private let decorated: WithBody<Template, MultipartBody>

    /// Makes a builder.
    ///
    /// - Parameters:
    ///   - template: what everything but the body is taken from.
    ///   - parts: what is sent.
    ///   - kind: which multipart type it is. Default: a form.
    public init(_ template: Template, parts: [MultipartPart], kind: MultipartKind = .formData) {
        self.template = template
        decorated = template.multipart(parts, kind: kind)
    }

    /// Makes the request.
    public func request() throws(HTTPError) -> HTTPRequest {
        try StandardRequestBuilder(decorated).request()
    }
}
