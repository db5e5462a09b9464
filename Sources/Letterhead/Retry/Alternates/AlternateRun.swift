/// Performs the work of a retry alternate for one load.
struct AlternateRun {
    let next: any HTTPLoader
    let flights: AlternateFlights
    /// The start of the load's last attempt.
    let mark: AlternateAnswers.Mark

    /// Returns the request for the next attempts. If the alternate fails, its error is passed to `onError`, and the
    /// original request is returned unchanged.
    ///
    /// - Throws: `.cancelled` if the load was cancelled or reset; `.timedOut` if its deadline passed.
    func request(after alternate: RetryAlternate, of original: HTTPRequest) async throws(HTTPError) -> HTTPRequest {
        do {
            return try await changed(original, by: alternate)
        } catch let error as EndOfLoad {
            throw error.error
        } catch {
            if Task.isCancelled { throw HTTPError(.cancelled, request: original) }
            await alternate.catcher(error)
            return original
        }
    }

    private func changed(_ original: HTTPRequest, by alternate: RetryAlternate) async throws -> HTTPRequest {
        var changed = original
        switch alternate {
        case .task(let task, _):
            try await task(&changed)
        case .request(let alternate):
            guard let answer = try await answer(to: alternate, for: original) else { return original }
            try await alternate.onResponse(&changed, answer)
        }
        return changed
    }

    private func answer(to alternate: RetryAlternateRequest, for original: HTTPRequest) async throws -> HTTPResponse? {
        guard let sharing = alternate.sharing else {
            return try await Self.send(alternate, for: original, next: next, sharesDeadline: true)
        }
        let key = AlternateFlights.Key(sharing: sharing.key, identity: RequestIdentity(original))
        let outcome = await flights.outcome(of: key, since: mark, within: original.timeLeft) { [next] in
            do {
                var response = try await Self.send(alternate, for: original, next: next, sharesDeadline: false)
                if let body = response?.body, body.buffered == nil {
                    response?.body = HTTPResponseBody(try await body.data())
                }
                return .success(response)
            } catch {
                return .failure(error)
            }
        }
        switch outcome {
        case .value(let answer): return try answer.get()
        case .cancelled: throw EndOfLoad(error: HTTPError(.cancelled, request: original))
        case .reset: throw EndOfLoad(error: HTTPError(.cancelled, request: original, message: "the chain was reset"))
        case .late:
            throw EndOfLoad(error: original.deadlinePassed(while: "waiting for the alternate request"))
        }
    }

    /// Sends the alternate request, marked so that no other retry link retries it.
    private static func send(
        _ alternate: RetryAlternateRequest, for original: HTTPRequest, next: any HTTPLoader, sharesDeadline: Bool
    ) async throws -> HTTPResponse? {
        // The alternate may be a copy of the original. Its response must not be saved to the file of the original.
        guard var request = try await alternate.make(original) else { return nil }
        if request.responseDelivery != .buffered { request.responseDelivery = .buffered }
        request.isAttempt = true
        if sharesDeadline { request.shareDeadline(of: original) }
        return try await next.load(request, as: "alternate", for: original)
    }
}

/// An error that ends the load and is not passed to `onError`.
private struct EndOfLoad: Error {
    let error: HTTPError
}

extension RetryAlternate {
    fileprivate var catcher: @Sendable (any Error) async -> Void {
        switch self {
        case .request(let alternate): alternate.onError
        case .task(_, let onError): onError
        }
    }
}
