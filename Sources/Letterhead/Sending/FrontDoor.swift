extension HTTPResponse {
    /// This response, if its status counts as success.
    ///
    /// - Throws: `.unacceptableStatus`, with the response, whose body is in memory and at most 1 MiB of it.
    func accepted(by request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        if request.accepts(status) { return self }
        let response = await keptInMemory()
        if Task.isCancelled {
            throw HTTPError(.cancelled, request: self.request, response: response, attempts: attempts)
        }
        throw HTTPError(
            .unacceptableStatus, request: self.request, response: response,
            message: "the status is none that counts as success here", attempts: attempts)
    }
}

extension HTTPError {
    /// What a caller at the front door gets: the cancellation of its own task is Swift's, everything else is ours.
    var atTheDoor: any Error { code == .cancelled && Task.isCancelled ? CancellationError() : self }
}
