import Foundation

/// The reason that a transfer failed. The loader converts it to an ``HTTPError`` of the request.
struct TransportFailure: Error {
    var code: HTTPError.Code
    var message: String
    var mayHaveBeenSent = true
    var underlying: (any Error)?
    private var isOfBody = false
    /// The received part of the head of the response.
    var head: [UInt8] = []
    var body = Data()

    init(_ code: HTTPError.Code, _ message: String, mayHaveBeenSent: Bool = true, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.mayHaveBeenSent = mayHaveBeenSent
        self.underlying = underlying
    }

    static let cancelled = TransportFailure(.cancelled, "the task was cancelled")
    static let noMemory = TransportFailure(
        .responseTooLarge, "there is not enough memory for the body of the response")
    /// The same failure, but with ``mayHaveBeenSent`` set to false. Use it only if it is certain that nothing was sent.
    var unsent: TransportFailure {
        var failure = self
        failure.mayHaveBeenSent = false
        return failure
    }

    /// The failure of a request whose body threw an error while it was sent.
    static func ofBody(_ error: any Error) -> TransportFailure {
        var failure = TransportFailure(.invalidRequest, "", underlying: error)
        failure.isOfBody = true
        return failure
    }

    func error(for request: HTTPRequest) -> HTTPError {
        if isOfBody, let underlying {
            return HTTPError(ofBody: underlying, request: request, mayHaveBeenSent: mayHaveBeenSent)
        }
        let partial = head.isEmpty ? nil : try? ResponseHead(head)
        let response = partial.map {
            HTTPResponse(request: request, status: $0.status, headers: $0.headers, body: HTTPResponseBody(body))
        }
        return HTTPError(
            code, request: request, response: response, underlying: underlying, message: message,
            mayHaveBeenSent: mayHaveBeenSent)
    }
}
