import Foundation

extension HTTPError {
    /// The body of the response, decoded to the ``RequestTemplate/Failure`` of an endpoint; nil without a response, or
    /// when its body is something else.
    ///
    /// ```swift
    /// catch let error as HTTPError { show(error.failure(of: CreateUser.self)?.title) }
    /// ```
    public func failure<Template: RequestTemplate>(of template: Template.Type) -> Template.Failure? {
        decoded(Template.Failure.self)
    }

    /// The problem that the server describes in the form of RFC 9457; nil for a response of another media type, and for
    /// JSON that is malformed or nested more than 64 levels deep.
    ///
    /// The body, of which an error keeps at most 1 MiB, is parsed at each call, in one pass.
    public var problem: ProblemDetails? {
        guard let type = mediaType, type.essence == MediaType.problemJSON.essence else { return nil }
        guard let data = response?.body.buffered, !data.isEmpty else { return nil }
        return try? JSONDecoder().value(of: ProblemDetails.self, from: data)
    }

    /// The beginning of a body of text, at most 512 bytes, with the values of secret names redacted; nil for a body that
    /// is no text, or that is secret as a whole.
    public var bodyExcerpt: String? {
        guard let response, let data = response.body.buffered, !data.isEmpty else { return nil }
        guard !request.isSecret, !response.request.isSecret else { return nil }
        return request.redaction.excerpt(of: data, headers: response.headers)
    }

    private var mediaType: MediaType? { response?.headers.mediaType }

    private func decoded<Value: Decodable>(_ type: Value.Type) -> Value? {
        guard let response, let data = response.body.buffered, !data.isEmpty else { return nil }
        let decoder = try? (response.request.decoder ?? JSONDecoder()).decoder(for: mediaType)
        return try? (decoder ?? JSONDecoder()).value(of: type, from: data)
    }
}
