extension RetryLoad {
    /// Applies the transformers to the response of an attempt, those of the client first.
    ///
    /// - Returns: false if a transformer threw. The result is then that failure, and validators are not called.
    @inline(__always)
    func transform(
        _ result: inout Result<HTTPResponse, HTTPError>, by common: [ModifyResponse]
    ) async -> Bool {
        let own = request.context.additions.responseTransformers + (isNested ? [] : request.responseTransformers)
        guard !common.isEmpty || !own.isEmpty, case .success(let response) = result else { return true }
        return await transform(&result, response, by: common + own)
    }

    private func transform(
        _ result: inout Result<HTTPResponse, HTTPError>, _ received: HTTPResponse, by transformers: [ModifyResponse]
    ) async -> Bool {
        var response = received
        let asked = response.request
        do {
            for transformer in transformers { try await transformer.transform(&response) }
            result = .success(response)
            return true
        } catch {
            response.request = asked
            let failure = HTTPError(error, request: asked, response: await response.keptInMemory())
            result = .failure(failure.with(mayHaveBeenSent: true))
            return false
        }
    }
}
