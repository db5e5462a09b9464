extension RequestTemplate {
    /// Sends parts as `multipart/form-data` (RFC 7578), in place of the template's own body.
    ///
    /// ```swift
    /// upload.multipart([.text("Me", name: "caption"), .file(at: picture, name: "avatar")])
    /// ```
    ///
    /// The boundary is the template's ``RequestTemplate/boundary``; without one it is random, made once for this value,
    /// so that every repeat sends the same bytes.
    ///
    /// - Parameters:
    ///   - parts: the parts, in order.
    ///   - kind: which multipart type it is. Default: a form.
    public func multipart(_ parts: [MultipartPart], kind: MultipartKind = .formData) -> WithMultipart<Self> {
        WithMultipart(base: self, multipart: MultipartBody(parts, kind: kind))
    }
}

/// A template that sends parts.
public struct WithMultipart<Base: RequestTemplate>: RequestDecorator {
    /// What is wrapped.
    public var base: Base
    let multipart: MultipartBody

    /// The parts, between the boundary of the template if it has one.
    public var body: MultipartBody {
        base.boundary.map { MultipartBody(multipart.parts, kind: multipart.kind, uncheckedBoundary: $0) } ?? multipart
    }
}

extension WithMultipart: PageForwarding, PaginatedTemplate where Base: PaginatedTemplate {}
