extension HTTPResponseBody {
    /// The response that a body belongs to, without the body. It is a class, so that a body stays small and no
    /// reference cycle arises.
    final class Origin: Sendable {
        let response: HTTPResponse
        var request: HTTPRequest { response.request }
        /// The generation of the client that received the body; nil without a client.
        private let generation: ClientGeneration?

        init(_ response: HTTPResponse, generation: ClientGeneration? = nil) {
            self.generation = generation
            var head = response
            head.body = HTTPResponseBody()
            self.response = head
        }

        /// Whether the client was reset since the response arrived.
        var wasReset: Bool { generation?.hasEnded ?? false }

        var resetError: HTTPError {
            Self.error(self, .cancelled, "the client was reset while the body was read")
        }

        /// Returns the error that a reader of the body receives.
        static func error(
            _ origin: Origin?, _ code: HTTPError.Code, _ message: String, underlying: (any Error)? = nil
        ) -> HTTPError {
            HTTPError(
                code, request: origin?.request ?? HTTPRequest(), response: origin?.response, underlying: underlying,
                message: message)
        }
    }
}

extension HTTPResponse {
    /// Returns the response with a streamed body that refers to it, so that errors of reading name the request, and that
    /// cannot be read after a reset of the client.
    func namedInBody(_ generation: ClientGeneration?) -> HTTPResponse {
        guard body.isStreamed else { return self }
        var response = self
        response.body.origin = HTTPResponseBody.Origin(self, generation: generation)
        return response
    }
}
