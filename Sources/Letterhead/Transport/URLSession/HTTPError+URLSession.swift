import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension HTTPError {
    /// Creates an error from Foundation's error at the end of a task, and from the received part of the response.
    /// Foundation's code for a lost connection does not tell whether the connection was ever established.
    init(endOf request: HTTPRequest, _ error: any Error, head: HTTPURLResponse?, receivedBytes: Int) {
        let code = (error as? URLError)?.code
        guard code == .networkConnectionLost || code == .unknown && head != nil else {
            self.init(error, request: request)
            return
        }
        let response = head?.response(to: request, body: HTTPResponseBody())
        if let length = head?.knownLength(of: request.method), receivedBytes < length {
            self.init(
                .invalidResponse, request: request, response: response, underlying: error,
                message: "the body ended after \(receivedBytes) of \(length) bytes")
        } else if code == .networkConnectionLost {
            self.init(
                .connectionLost, request: request, response: response, underlying: error,
                message: "the connection was lost")
        } else {
            self.init(error, request: request, response: response)
        }
    }
}
