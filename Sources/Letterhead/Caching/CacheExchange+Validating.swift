import Foundation
import Synchronization

extension CacheExchange {
    /// Validates an entry, or waits for the validation of the same entry by another request.
    ///
    /// - Returns: nil if the entry must be looked up again.
    func validated(_ entry: CachedEntry, demand: CacheDemand) async throws(HTTPError) -> HTTPResponse? {
        guard let waiter = cache.state.withLock({ $0.flights.join(entry.id) }) else {
            return try await validate(entry, demand: demand)
        }
        let outcome = await waiter.value(
            within: request.timeLeft, on: ContinuousClock(), onTimeout: { waiter.set(.tooLate) },
            onCancel: { waiter.set(.cancelled) })
        switch outcome {
        case .again: return nil
        case .cancelled: throw HTTPError(.cancelled, request: request, mayHaveBeenSent: false)
        case .tooLate: throw request.deadlinePassed(while: "waiting for a validation", mayHaveBeenSent: false)
        case .entry(let entry, let decision):
            // The response to the other request may be another variant.
            guard Vary.fields(entry.head.varied.map(\.name), of: request) == entry.head.varied,
                entry.body.count <= request.responseLimit
            else { return nil }
            return reuse(entry, as: decision.outcome, reason: "shared validation")
        case .failed(let error):
            if let stale = replacing(error: error, with: entry, demand: demand) { return stale }
            throw error.with(request: request)
        }
    }

    /// Validates an entry, and notifies the requests that wait for the result.
    private func validate(_ entry: CachedEntry, demand: CacheDemand) async throws(HTTPError) -> HTTPResponse {
        var outcome = CacheFlights.Outcome.again
        defer {
            let waiters = cache.state.withLock { $0.flights.end(entry.id) }
            for waiter in waiters { waiter.set(outcome) }
        }
        do throws(HTTPError) {
            let (response, updated) = try await ask(entry, demand: demand)
            if let updated { outcome = .entry(updated, response.cacheDecision) }
            return response
        } catch {
            if let stale = replacing(error: error, with: entry, demand: demand) {
                outcome = .failed(error)
                return stale
            }
            if error.code != .cancelled, error.code != .timedOut { outcome = .failed(error) }
            throw error
        }
    }

    /// Sends the request with the validators of an entry.
    ///
    /// - Returns: the response, and the entry that other requests can use.
    private func ask(
        _ entry: CachedEntry, demand: CacheDemand
    ) async throws(HTTPError) -> (HTTPResponse, CachedEntry?) {
        let forward = CacheForward(exchange: self, key: entry.key)
        let start = cache.seconds
        let ticket = cache.state.withLock { $0.begin(entry.key.url) }
        let response: HTTPResponse
        do throws(HTTPError) {
            response = try await next.load(CacheRules.validating(request, entry.head, reload: demand.validates))
        } catch {
            _ = cache.state.withLock { $0.end(ticket) }
            throw error
        }
        let isOwn = !entry.head.headers.contains(.eTag) && !entry.head.headers.contains(.lastModified)
        guard response.status == .notModified, !isOwn else {
            return answered(response, instead: entry, demand, forward, ticket, start)
        }
        guard cache.state.withLock({ $0.end(ticket) }), CacheRules.confirms(response, entry.head) else {
            // The 304 belongs to another response, or the entry was invalidated in the meantime. The request is
            // therefore sent again without the validators.
            _ = cache.guarded { try cache.storage.remove(entry) }
            return (try await forward.response(), nil)
        }
        // The empty body is read to its end, so that the connection can be reused.
        _ = try? await response.body.data(upTo: 1 << 16)
        return confirmed(response, entry, start)
    }

    private func confirmed(
        _ confirmation: HTTPResponse, _ entry: CachedEntry, _ start: Int64
    ) -> (HTTPResponse, CachedEntry?) {
        let head = entry.head.updated(by: confirmation, requestTime: start, responseTime: cache.seconds)
        let stored = CachedEntry(key: entry.key, head: head, body: entry.body, id: entry.id)
        var response = confirmation
        response.status = HTTPStatus(head.status)
        response.headers = head.headers
        response.body = entry.body.makeBody(isBuffered: request.responseDelivery == .buffered)
        response.request = request
        response[option: NewSetCookies.self] = confirmation.headers.values(for: .setCookie)
        response.cacheDecision = CacheDecision(
            outcome: .revalidated, freshness: CacheFreshness(head, now: cache.seconds))
        if CacheControl(request.headers).contains("no-store") { return (response, nil) }
        guard CacheRules.mayKeep(head, insteadOf: entry.head), belongs(head, sentAs: confirmation.request) else {
            _ = cache.guarded { try cache.storage.remove(entry) }
            return (response, nil)
        }
        return (response, cache.guarded { try cache.storage.update(entry, head: head) } ?? stored)
    }

    /// Handles a response that is not a confirmation: it replaces the entry, or the entry replaces an error.
    private func answered(
        _ answer: HTTPResponse, instead entry: CachedEntry, _ demand: CacheDemand, _ forward: CacheForward,
        _ ticket: CacheState.Ticket, _ start: Int64
    ) -> (HTTPResponse, CachedEntry?) {
        if CacheRules.isError(answer.status), CacheRules.mayReplaceError(entry.head, for: demand, now: cache.seconds),
            let stale = reuse(entry, as: .stale, reason: "the server responded with \(answer.status.code)")
        {
            _ = cache.state.withLock { $0.end(ticket) }
            return (stale, nil)
        }
        var response = forward.store(answer, ticket: ticket, start: start)
        response.request = request
        if response.cache != .stored, answer.status.code < 500 { _ = cache.guarded { try cache.storage.remove(entry) } }
        guard response.cache == .stored, response.body.buffered != nil else { return (response, nil) }
        let stored = cache.guarded { try cache.storage.find(entry.key) { Vary.fields($0, of: request) } } ?? nil
        return (response, stored)
    }

    private func replacing(error: HTTPError, with entry: CachedEntry, demand: CacheDemand) -> HTTPResponse? {
        guard error.code != .cancelled, error.code != .resetInProgress, error.code != .invalidRequest,
            CacheRules.mayReplaceError(entry.head, for: demand, now: cache.seconds)
        else { return nil }
        return reuse(entry, as: .stale, reason: "the validation failed: \(error.code)")
    }

    /// Validates an entry in the background, unless a validation is in progress. A reset of the chain ends it.
    func validateLater(_ entry: CachedEntry) {
        var request = request.withoutDeadline
        _ = request.takeProgressReport()
        request.context.progress = nil
        request.options.remove(TransferProgressOption.self)
        request.responseDelivery = .buffered
        let exchange = CacheExchange(cache: cache, request: request, next: next)
        let validation = OwnedWork()
        let isFirst = cache.state.withLock { state in
            guard state.background[entry.id] == nil else { return false }
            state.background[entry.id] = validation
            return true
        }
        guard isFirst else { return }
        validation.start {
            if !validation.isCancelled {
                do { _ = try await exchange.validated(entry, demand: CacheDemand()) } catch {
                    exchange.cache.onError(error)
                }
            }
            _ = exchange.cache.state.withLock { $0.background.removeValue(forKey: entry.id) }
        }
    }
}
