extension RequestTemplate {
    /// Sends parts as `multipart/form-data` (RFC 7578), in place of the template's own body.
    ///
    /// ```swift
    /// upload.multipart([.text("Me", name: "caption"), .file(at: picture, name: "avatar")])
    /// ```
    ///
    /// The boundary is the template's ``RequestTemplate/boundary``; without one it is random, made once for this value,
    /// so that every repeat sends the same bytes.
    public func multipart(_ parts: [MultipartPart]) -> WithMultipart<Self> {
        WithMultipart(base: self, multipart: MultipartBody(parts))
    }
}

/// A template that sends parts.
public struct WithMultipart<Base: RequestTemplate>: RequestDecorator {
    /// What is wrapped.
    public var base: Base
    let multipart: MultipartBody

    /// The parts, between the boundary of the template if it has one.
    public var body: MultipartBody {
        base.boundary.map { MultipartBody(multipart.parts, uncheckedBoundary: $0) } ?? multipart
    }
}

extension WithMultipart: PageForwarding, PaginatedTemplate where Base: PaginatedTemplate {}
