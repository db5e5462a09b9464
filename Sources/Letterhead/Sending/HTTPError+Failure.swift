import Foundation

extension HTTPError {
    /// Decodes the body of the response to the ``RequestTemplate/Failure`` type of a template. Returns nil if there is
    /// no response, or if its body is empty or cannot be decoded.
    ///
    /// ```swift
    /// catch let error as HTTPError { show(error.failure(of: CreateUser.self)?.title) }
    /// ```
    public func failure<Template: RequestTemplate>(of template: Template.Type) -> Template.Failure? {
        decoded(Template.Failure.self)
    }

    /// Decodes the body of the response to a type. Returns nil if there is no response, or if its body is empty or
    /// cannot be decoded.
    ///
    /// Use it for templates without a ``RequestTemplate/Failure`` type, such as ``Get``, and for plain requests.
    public func failure<Value: Decodable>(as type: Value.Type) -> Value? { decoded(type) }

    /// The problem details in the body of the response (RFC 9457). It is nil if the media type is not
    /// `application/problem+json`, or if the JSON is malformed or nested more than 64 levels deep.
    ///
    /// The body is parsed each time the property is read. The error of a status that is not accepted contains at most
    /// the first 1 MiB of the body.
    public var problem: ProblemDetails? {
        guard let type = mediaType, type.essence == MediaType.problemJSON.essence else { return nil }
        guard let data = response?.body.buffered, !data.isEmpty else { return nil }
        return try? JSONDecoder().value(of: ProblemDetails.self, from: data)
    }

    /// The first 512 bytes, at most, of the body of the response, with the values of secret names redacted. It is nil
    /// if the body is empty, secret, multipart, or not text.
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
