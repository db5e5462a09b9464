extension HTTPResponse {
    /// Decodes the body with the decoder of the request, or else with that of the client.
    ///
    /// ```swift
    /// let user = try await client.send(HTTPRequest("https://api.example.com/users/ada")).decode(User.self)
    /// ```
    ///
    /// `Data` and `String` need no decoder, and an optional is nil for an empty body. The status is not checked again.
    /// Decoding never runs on the caller's main actor.
    ///
    /// - Parameter type: the type of the value.
    /// - Throws: ``HTTPError``: `.cannotDecodeResponse`, `.emptyResponse`, or the error of a body that was still
    ///   arriving; and `CancellationError` if the calling task was cancelled.
    @concurrent
    public func decode<Value: Decodable & Sendable>(_ type: Value.Type) async throws -> Value {
        do {
            return try await ResponseDecoding.decode(type, from: self)
        } catch {
            throw HTTPError(ofDecoding: error, response: self).atTheDoor
        }
    }
}

extension HTTPError {
    /// Creates the error of a response that could not be decoded.
    init(ofDecoding error: any Error, response: HTTPResponse) {
        if error is HTTPError || error is CancellationError {
            self.init(error, request: response.request, response: response)
        } else {
            self.init(
                .cannotDecodeResponse, request: response.request, response: response, underlying: error,
                message: Self.summary(of: error))
        }
    }
}
