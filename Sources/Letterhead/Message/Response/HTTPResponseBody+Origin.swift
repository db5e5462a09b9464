extension HTTPResponseBody {
    /// The response that a body belongs to, without the body. It is a class, so that a body stays small and no
    /// reference cycle arises.
    final class Origin: Sendable {
        let response: HTTPResponse
        var request: HTTPRequest { response.request }

        init(_ response: HTTPResponse) {
            var head = response
            head.body = HTTPResponseBody()
            self.response = head
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
    /// Returns the response with a streamed body that refers to it, so that errors of reading name the request.
    var namedInBody: HTTPResponse {
        guard body.isStreamed, body.origin == nil else { return self }
        var response = self
        response.body.origin = HTTPResponseBody.Origin(self)
        return response
    }
}
