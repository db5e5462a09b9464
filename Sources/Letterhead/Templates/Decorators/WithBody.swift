// SPDX-License-Identifier: MIT
import LetterheadFoundation

extension RequestTemplate {
    /// Replaces the template body, for example to send a file: `Put<Void>("uploads/7").body(FileBody(at: picture))`.
    public func body<NewBody: HTTPBody>(_ body: NewBody) -> WithBody<Self, NewBody> {
        WithBody(base: self) { _ in body }
    }

    /// Replaces the template body with parts, sent as `multipart/form-data` (RFC 7578).
    ///
    /// ```swift
    /// upload.multipart([.text("Me", name: "caption"), .file(at: picture, name: "avatar")])
    /// ```
    ///
    /// If the template has no ``RequestTemplate/boundary``, the returned template creates a random boundary once, so
    /// that every retry sends the same bytes.
    public func multipart(
        _ parts: [MultipartBody.Part], subtype: String = "form-data"
    ) -> WithBody<Self, MultipartBody> {
        let body = MultipartBody(parts, subtype: subtype)
        return WithBody(base: self) { $0.placed(body) }
    }

    /// Adds parts at the end of the multipart body. The multipart type and the boundary do not change.
    ///
    /// If the template has no body, the parts are sent as a form. If its body isn't a ``MultipartBody``, sending the
    /// template fails with `.invalidRequest`.
    public func multipart(adding parts: [MultipartBody.Part]) -> WithBody<Self, any HTTPBody> {
        let added = MultipartBody(parts)
        return WithBody(base: self) { base in
            let body = base.body
            if let own = body as? MultipartBody { return own.adding(added.parts) }
            return StandardParameters.isEmpty(body) ? base.placed(added) : PartsWithoutPlace(body: "\(Body.self)")
        }
    }

    /// Returns the body with the template boundary, if there is one.
    private func placed(_ body: MultipartBody) -> MultipartBody {
        boundary.map { MultipartBody(body.parts, subtype: body.subtype, boundary: $0) } ?? body
    }
}

/// A template with a replaced body. See ``RequestTemplate/body(_:)`` and ``RequestTemplate/multipart(_:subtype:)``.
public struct WithBody<Base: RequestTemplate, Body: Sendable>: RequestDecorator {
    public var base: Base
    let make: @Sendable (Base) -> Body

    public var body: Body { make(base) }
}

extension WithBody: PaginatedDecorator, PaginatedTemplate where Base: PaginatedTemplate {}

/// A body that fails when it is encoded, because parts were added to a body that isn't a ``MultipartBody``.
private struct PartsWithoutPlace: HTTPBody {
    let body: String

    func encode() throws -> Data {
        throw HTTPBodyError.invalid(
            "parts were added to a \(body), which is not a MultipartBody (to replace it, use multipart(_:))")
    }
}
