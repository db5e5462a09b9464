import Foundation

extension RequestTemplate {
    /// Sets the body, in place of the template's own.
    public func body<NewBody: HTTPBody>(_ body: NewBody) -> WithBody<Self, NewBody> {
        WithBody(base: self) { _ in body }
    }

    /// Sends parts as `multipart/form-data` (RFC 7578), in place of the template's own body.
    ///
    /// ```swift
    /// upload.multipart([.text("Me", name: "caption"), .file(at: picture, name: "avatar")])
    /// ```
    ///
    /// The boundary is the template's ``RequestTemplate/boundary``. Without one it is random and drawn once for this value,
    /// so that every retry sends the same bytes.
    ///
    /// - Parameters:
    ///   - parts: the parts, in order.
    ///   - kind: which multipart type it is. Default: a form.
    public func multipart(_ parts: [MultipartPart], kind: MultipartKind = .formData) -> WithBody<Self, MultipartBody> {
        let body = MultipartBody(parts, kind: kind)
        return WithBody(base: self) { $0.placed(body) }
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
    public func multipart(adding parts: [MultipartPart]) -> WithBody<Self, any HTTPBody> {
        let added = MultipartBody(parts)
        return WithBody(base: self) { base in
            let body = base.body
            if let own = body as? MultipartBody { return own.adding(added.parts) }
            return StandardParameters.isEmpty(body) ? base.placed(added) : PartsWithoutPlace(body: "\(Body.self)")
        }
    }

    /// A multipart body with the template's boundary, if it has one.
    private func placed(_ body: MultipartBody) -> MultipartBody {
        boundary.map { MultipartBody(body.parts, kind: body.kind, uncheckedBoundary: $0) } ?? body
    }
}

/// A template with another body.
public struct WithBody<Base: RequestTemplate, Body: Sendable>: RequestDecorator {
    /// What is wrapped.
    public var base: Base
    let make: @Sendable (Base) -> Body

    /// What is sent.
    public var body: Body { make(base) }
}

extension WithBody: PageForwarding, PaginatedTemplate where Base: PaginatedTemplate {}

/// In place of a body to which no part can be added.
private struct PartsWithoutPlace: HTTPBody {
    let body: String

    func encode() throws -> Data {
        throw HTTPBodyError.invalid(
            "parts were added to a \(body), which is not a MultipartBody: use multipart(_:) to replace it")
    }
}
