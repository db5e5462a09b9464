import Foundation

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

    /// Adds parts at the end of the template's own, which keep their kind and their boundary.
    ///
    /// ```swift
    /// upload.multipart(adding: [.text("beta", name: "channel")])
    /// ```
    ///
    /// The parts are the whole body of a template without one, as a form. A template whose body is not a ``MultipartBody``
    /// is `.invalidRequest` when it is sent.
    ///
    /// - Parameter parts: the parts, in order.
    public func multipart(adding parts: [MultipartPart]) -> WithMultipart<Self> {
        WithMultipart(base: self, multipart: MultipartBody(parts), isAdding: true)
    }
}

/// A template that sends parts.
public struct WithMultipart<Base: RequestTemplate>: RequestDecorator {
    /// What is wrapped.
    public var base: Base
    let multipart: MultipartBody
    var isAdding = false

    /// The parts, between the boundary of the template if it has one; those of the template first, when parts are added.
    public var body: any HTTPBody {
        guard isAdding else { return alone }
        let body = base.body
        if let own = body as? MultipartBody { return own.adding(multipart.parts) }
        return StandardParameters.isEmpty(body) ? alone : PartsWithoutPlace(body: "\(Base.Body.self)")
    }

    private var alone: MultipartBody {
        base.boundary.map { MultipartBody(multipart.parts, kind: multipart.kind, uncheckedBoundary: $0) } ?? multipart
    }
}

extension WithMultipart: PageForwarding, PaginatedTemplate where Base: PaginatedTemplate {}

/// In place of a body to which no part can be added.
private struct PartsWithoutPlace: HTTPBody {
    let body: String

    func encode() throws -> Data {
        throw InvalidBody(
            "parts were added to a \(body), which is not a MultipartBody: use multipart(_:) to replace it")
    }
}
