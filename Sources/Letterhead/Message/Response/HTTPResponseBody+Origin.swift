extension HTTPResponseBody {
    /// The response that a body is a part of, without the body. A class, so that a body stays small and holds no circle.
    final class Origin: Sendable {
        let response: HTTPResponse
        var request: HTTPRequest { response.request }

        init(_ response: HTTPResponse) {
            var head = response
            head.body = HTTPResponseBody()
            self.response = head
        }

        /// The error of a reader of the body.
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
    /// The response, whose streamed body knows it, so that an error of reading names the request.
    var namedInBody: HTTPResponse {
        guard body.isStreamed, body.origin == nil else { return self }
        var response = self
        response.body.origin = HTTPResponseBody.Origin(self)
        return response
    }
}
