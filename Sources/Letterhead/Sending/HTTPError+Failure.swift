import Foundation

extension HTTPError {
    /// Decodes the body of the response to the ``RequestTemplate/Failure`` of an endpoint. Returns nil if there is no
    /// response or its body cannot be decoded.
    ///
    /// ```swift
    /// catch let error as HTTPError { show(error.failure(of: CreateUser.self)?.title) }
    /// ```
    public func failure<Template: RequestTemplate>(of template: Template.Type) -> Template.Failure? {
        decoded(Template.Failure.self)
    }

    /// Decodes the body of the response to a type. Returns nil if there is no response or its body cannot be decoded.
    ///
    /// Use it for templates without a ``RequestTemplate/Failure``, such as ``Get``, and for plain requests.
    public func failure<Value: Decodable>(as type: Value.Type) -> Value? { decoded(type) }

    /// The problem details in the body (RFC 9457); nil for a response of another media type, and for JSON that is
    /// malformed or nested more than 64 levels deep.
    ///
    /// The body is parsed on each access, in one pass. An error keeps at most 1 MiB of it.
    public var problem: ProblemDetails? {
        guard let type = mediaType, type.essence == MediaType.problemJSON.essence else { return nil }
        guard let data = response?.body.buffered, !data.isEmpty else { return nil }
        return try? JSONDecoder().value(of: ProblemDetails.self, from: data)
    }

    /// The beginning of a text body, at most 512 bytes, with the values of secret names redacted; nil for a body that
    /// is not text or is secret.
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
