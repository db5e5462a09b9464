import Foundation

/// Why a transfer failed, as the transport knows it; the loader makes it an ``HTTPError`` of the request.
struct TransportFailure: Error {
    var code: HTTPError.Code
    var message: String
    var mayHaveBeenSent = true
    var underlying: (any Error)?
    private var isOfBody = false
    /// What had arrived of the response.
    var head: [UInt8] = []
    var body = Data()

    init(_ code: HTTPError.Code, _ message: String, mayHaveBeenSent: Bool = true, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.mayHaveBeenSent = mayHaveBeenSent
        self.underlying = underlying
    }

    static let cancelled = TransportFailure(.cancelled, "the task was cancelled")
    static let noMemory = TransportFailure(.responseTooLarge, "there is no memory for the body of the response")
    /// The same, when nothing can have left.
    var unsent: TransportFailure {
        var failure = self
        failure.mayHaveBeenSent = false
        return failure
    }

    /// The body of the request threw while it was sent.
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
