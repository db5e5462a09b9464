extension RetryLoad {
    /// Has transformers change the response of an attempt, the client's before the request's own.
    ///
    /// - Returns: false when one threw; the result is then that failure, and nobody judges it.
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
