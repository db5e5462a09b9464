import Foundation

extension HTTPResponse {
    /// A response whose body still arrives, as its request wants it: streamed, in memory, or in a file.
    ///
    /// What is no success does not go to the file: its body is in memory, for the error that it becomes.
    func delivered(to request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        var response = self
        do {
            switch request.responseDelivery {
            case .streamed: break
            case .file(let url) where request.accepts(status):
                try await ResponseFile(url).save(body)
                response.body = HTTPResponseBody()
            case .buffered, .file:
                response.body = HTTPResponseBody(try await body.data(upTo: request.responseLimit))
            }
        } catch let error as BodyTooLarge {
            response.body = HTTPResponseBody()
            throw HTTPError(
                .responseTooLarge, request: request, response: response, underlying: error,
                message: "the body is larger than the \(error.limit) bytes allowed; see responseLimit")
        } catch {
            response.body = HTTPResponseBody()
            if error is HTTPError || error is CancellationError {
                throw HTTPError(error, request: request, response: response)
            }
            throw HTTPError(
                .cannotSaveResponse, request: request, response: response, underlying: error,
                message: "the response could not be written to its file")
        }
        return response
    }
}
