/// Does what an alternate says, on behalf of one load.
struct AlternateRun {
    let next: any HTTPLoader
    let flights: AlternateFlights
    /// When the load's last attempt began.
    let mark: AlternateAnswers.Mark

    /// The request for the next attempts; an error of the alternate goes to its catcher, and the request stays as it is.
    ///
    /// - Throws: `.cancelled`, when the load was cancelled or reset; `.timedOut`, when its deadline passed.
    func request(after alternate: RetryAlternate, of original: HTTPRequest) async throws(HTTPError) -> HTTPRequest {
        do {
            let changed = try await changed(original, by: alternate)
            guard changed.id == original.id else {
                throw HTTPError(
                    .invalidRequest, request: original,
                    message: "an alternate replaced the request by another one; change the one that it is given")
            }
            return changed
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
        case .answer(let answer): return try answer.get()
        case .cancelled: throw EndOfLoad(error: HTTPError(.cancelled, request: original))
        case .reset: throw EndOfLoad(error: HTTPError(.cancelled, request: original, message: "the chain was reset"))
        case .late:
            throw EndOfLoad(error: original.deadlinePassed(while: "waiting for the alternate request"))
        }
    }

    /// Sends the alternate, marked so that no retry further down retries it.
    private static func send(
        _ alternate: RetryAlternateRequest, for original: HTTPRequest, next: any HTTPLoader, sharesDeadline: Bool
    ) async throws -> HTTPResponse? {
        guard var request = try await alternate.make(original) else { return nil }
        request[option: AttemptNumberOption.self] = 1
        if sharesDeadline { request.shareDeadline(of: original) }
        return try await next.load(request)
    }
}

/// An error that ends the load, and is no matter of a catcher.
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
