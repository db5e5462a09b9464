extension RetryLoad {
    /// Applies the transformers to the response of an attempt, those of the client first.
    ///
    /// - Returns: false if a transformer threw. The result is then that failure, and validators are not called.
    func transform(
        _ result: inout Result<HTTPResponse, HTTPError>, by common: [ModifyResponse]
    ) async -> Bool {
        let own = isNested ? [] : request.responseTransformers
        guard !common.isEmpty || !own.isEmpty, case .success(var response) = result else { return true }
        let asked = response.request
        do {
            for transformer in common + own { try await transformer.transform(&response) }
            result = .success(try response.answering(asked, by: "a response transformer"))
            return true
        } catch {
            response.request = asked
            let failure = HTTPError(error, request: asked, response: await response.keptInMemory())
            result = .failure(failure.with(mayHaveBeenSent: true))
            return false
        }
    }
}
