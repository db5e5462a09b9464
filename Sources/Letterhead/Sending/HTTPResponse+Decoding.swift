extension HTTPResponse {
    /// Decodes the body with the decoder of the request, or else with the decoder of the client.
    ///
    /// ```swift
    /// let user = try await client.send(HTTPRequest("https://api.example.com/users/ada")).decode(User.self)
    /// ```
    ///
    /// `Data` and `String` are decoded without a decoder. If the type is an optional and the body is empty, the value
    /// is nil. The status is not checked. Decoding never runs on the main actor of the caller.
    ///
    /// - Parameter type: the type of the value.
    /// - Throws: ``HTTPError`` with `.cannotDecodeResponse` or `.emptyResponse`, or with the code of an error in
    ///   receiving a streamed body; and `CancellationError` if the calling task was cancelled.
    @concurrent
    public func decode<Value: Decodable & Sendable>(_ type: Value.Type) async throws -> Value {
        do {
            return try await ResponseDecoding.decode(type, from: self)
        } catch {
            throw HTTPError(ofDecoding: error, response: self).orCancellation
        }
    }
}
