// SPDX-License-Identifier: MIT
import Letterhead
import Synchronization

/// Handles one request: finds a stored response, decides whether it can be reused, and sends the request if necessary.
struct CacheExchange: Sendable {
    let cache: ResponseCache
    let request: HTTPRequest
    let next: any HTTPLoader

    func response() async throws(HTTPError) -> HTTPResponse {
        // Two requests for a live stream may ask for different positions, so they must not share a validation (HTML
        // Standard, 9.2.2).
        if request.isLiveStream { return try await sending("the response is a live stream") }
        let method = request.method
        guard method == .get || method == .head || method == .query else { return try await unsafe() }
        if let reason = bypassReason { return try await bypassing(reason) }
        guard let key = CacheKey(request, isSecret: { cache.isSecret($0, in: request) }) else {
            return try await bypassing(CacheRules.Refusal.body.rawValue)
        }
        return try await response(for: key, demand: CacheDemand(request))
    }

    private func response(for key: CacheKey, demand: CacheDemand) async throws(HTTPError) -> HTTPResponse {
        while true {
            let entry = cache.guarded { try cache.storage.find(key) { Vary.fields($0, of: request) } } ?? nil
            guard let entry, entry.body.count <= request.responseLimit else {
                if demand.onlyIfCached { throw notCached }
                return try await CacheForward(exchange: self, key: key).response()
            }
            // A request that a transport would refuse is refused even if its response is stored.
            try request.validate()
            switch CacheRules.use(of: entry.head, for: demand, now: cache.seconds) {
            case .fresh:
                if let hit = reuse(entry, as: .hit, reason: "") { return hit }
            case .stale(let mayValidate):
                let validatesLater = mayValidate && !demand.onlyIfCached
                if let stale = reuse(
                    entry, as: .stale, reason: validatesLater ? "validated later" : "a stale response is allowed")
                {
                    if validatesLater { validateLater(entry) }
                    return stale
                }
            case .validate:
                if demand.onlyIfCached { throw notCached }
                if isWhole {
                    guard let response = try await validated(entry, demand: demand) else { continue }
                    return response
                }
            }
            return try await bypassing("the range or the head cannot be taken from the stored response")
        }
    }

    /// Whether the request asks for a whole response, which can be stored.
    private var isWhole: Bool { request.method != .head && !request.headers.contains(.range) }

    private var bypassReason: String? {
        if request.caching == .bypass { return "the request bypasses the cache" }
        if case .file = request.responseDelivery { return CacheRules.Refusal.download.rawValue }
        let isConditional = request.headers.contains { $0.name.fieldClass == .condition }
        return isConditional ? "the request has its own condition, such as If-None-Match" : nil
    }

    private func bypassing(_ reason: String) async throws(HTTPError) -> HTTPResponse {
        if CacheDemand(request).onlyIfCached { throw notCached }
        return try await sending(reason)
    }

    private func sending(_ reason: String) async throws(HTTPError) -> HTTPResponse {
        var response = try await forwarded()
        response.cacheDecision = CacheDecision(outcome: .bypassed, reason: reason)
        return response
    }

    /// Sends the request. If its method is unsafe and its status isn't an error, the stored responses for its URL are
    /// removed, even if the body of the response can't be received.
    private func forwarded() async throws(HTTPError) -> HTTPResponse {
        do throws(HTTPError) {
            let response = try await next.load(request)
            invalidate(after: response)
            return response
        } catch {
            if let response = error.response { invalidate(after: response) }
            throw error
        }
    }

    private func invalidate(after response: HTTPResponse) {
        for url in CacheRules.invalidated(by: response, to: request) { cache.remove(url: url) }
    }

    /// Sends a request with a method other than GET, HEAD and QUERY.
    private func unsafe() async throws(HTTPError) -> HTTPResponse {
        if request.caching == .onlyIfCached { throw notCached }
        var response = try await forwarded()
        response.cacheDecision = CacheRules.Refusal.method.decision
        return response
    }

    /// Whether a response belongs to the request that the cache received. The links below may have sent a different
    /// request, for example with a credential.
    func belongs(_ head: CachedHead, sentAs sent: HTTPRequest) -> Bool {
        CacheRules.belongs(head, to: request, sentAs: sent) { cache.isSecret($0, in: sent) }
    }

    private var notCached: HTTPError {
        HTTPError(
            .notCached, request: request,
            message:
                "no stored response fits the request, and only-if-cached forbids sending it (use a different policy)",
            mayHaveBeenSent: false)
    }

    /// Returns a response from the entry, or nil if the entry doesn't contain the part that the request asks for.
    func reuse(_ entry: CachedEntry, as outcome: ResponseCache.Outcome, reason: String) -> HTTPResponse? {
        let freshness = CacheFreshness(entry.head, now: cache.seconds)
        var headers = entry.head.headers
        headers[.age] = String(freshness.age)
        var response = HTTPResponse(request: request, status: HTTPStatus(entry.head.status), headers: headers)
        if request.headers.contains(.range) {
            guard let part = CachedRange(request, of: entry) else { return nil }
            part.apply(to: &response)
        } else if request.method != .head {
            response.body = entry.body.makeBody(isBuffered: request.responseDelivery == .buffered)
        }
        response.newSetCookies = []
        response.respondingServer = entry.head.respondingServer
        response.receivedDate = entry.head.receivedDate
        response.cacheDecision = CacheDecision(outcome: outcome, reason: reason, freshness: freshness)
        if request.accepts(response.status), let count = response.body.buffered?.count, count > 0 {
            request.onProgress?(HTTPRequest.Progress(direction: .download, completedBytes: count, totalBytes: count))
        }
        return response
    }
}

extension CacheExchange {
    /// Validates an entry, or waits for a concurrent request that is validating it. Returns nil if the caller must look
    /// up the entry again.
    func validated(_ entry: CachedEntry, demand: CacheDemand) async throws(HTTPError) -> HTTPResponse? {
        if Task.isCancelled { throw HTTPError(.cancelled, request: request, mayHaveBeenSent: false) }
        let left = request.timeLeft
        if let left, left <= .zero { return try late(entry, demand) }
        let validation = cache.validations.join(key(of: entry)) { await self.validation(of: entry, demand: demand) }
        let isOwn = validation.isFirst
        // If this request itself is sent, the links below end it at its deadline.
        let limit = isOwn ? nil : left
        switch await cache.validations.outcome(for: validation, within: limit, on: ContinuousClock()) {
        case .cancelled: throw HTTPError(.cancelled, request: request, mayHaveBeenSent: isOwn)
        case .reset: throw HTTPError(.cancelled, request: request, message: "the chain was reset")
        case .late: return try late(entry, demand)
        case .value(let shared):
            switch shared.result {
            case .success(let response):
                if isOwn { return response }
                // The response to the concurrent request may be a different variant.
                guard let entry = shared.entry, entry.body.count <= request.responseLimit,
                    Vary.fields(entry.head.varied.map(\.name), of: request) == entry.head.varied
                else { return nil }
                return reuse(entry, as: response.cache, reason: "shared validation")
            case .failure(let error):
                if let stale = staleReplacement(error: error, with: entry, demand: demand) { return stale }
                if isOwn { throw error }
                if [.cancelled, .timedOut, .signatureSpent, .responseTooLarge].contains(error.code) { return nil }
                throw error.with(request: request)
            }
        }
    }

    /// Returns the stored response after the deadline has passed, if a stale response is allowed. Nothing was sent.
    private func late(_ entry: CachedEntry, _ demand: CacheDemand) throws(HTTPError) -> HTTPResponse {
        let error = request.deadlinePassed(while: "waiting for a validation", mayHaveBeenSent: false)
        guard let stale = staleReplacement(error: error, with: entry, demand: demand) else { throw error }
        return stale
    }

    private func key(of entry: CachedEntry) -> CacheValidation.Key {
        CacheValidation.Key(entry: entry.id, generation: request.generation)
    }

    private func validation(of entry: CachedEntry, demand: CacheDemand) async -> CacheValidation {
        do throws(HTTPError) {
            let (response, updated) = try await ask(entry, demand: demand)
            return CacheValidation(result: .success(response), entry: updated)
        } catch {
            return CacheValidation(result: .failure(error), entry: nil)
        }
    }

    /// Sends the request with the validators from an entry. Besides the response, it returns the entry for the other
    /// requests that wait for this validation.
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
            cache.state.withLock { $0.end(ticket) }
            throw error
        }
        let isOwn = !entry.head.headers.contains(.eTag) && !entry.head.headers.contains(.lastModified)
        guard response.status == .notModified, !isOwn else {
            return answered(response, instead: entry, demand, forward, ticket, start)
        }
        guard cache.state.withLock({ $0.isCurrent(ticket) }), CacheRules.confirms(response, entry.head) else {
            // The 304 belongs to a different response, or the entry was invalidated in the meantime. The request is
            // therefore sent again without the validators.
            cache.state.withLock { $0.end(ticket) }
            _ = cache.guarded { try cache.storage.remove(entry) }
            await response.body.discard()
            if request.isSignedOnce {
                throw HTTPError(
                    .signatureSpent, request: request,
                    message: "the 304 confirms a response that is not stored, and the signature can be used only once")
            }
            return (try await forward.response(), nil)
        }
        await response.body.discard()
        defer { cache.state.withLock { $0.end(ticket) } }
        return confirmed(response, entry, ticket, start)
    }

    private func confirmed(
        _ confirmation: HTTPResponse, _ entry: CachedEntry, _ ticket: CacheState.Ticket, _ start: Int64
    ) -> (HTTPResponse, CachedEntry?) {
        let head = entry.head.updated(by: confirmation, requestTime: start, responseTime: cache.seconds)
        var response = confirmation
        response.status = HTTPStatus(head.status)
        response.headers = head.headers
        response.body = entry.body.makeBody(isBuffered: request.responseDelivery == .buffered)
        response.request = request
        response.respondingServer = head.respondingServer
        response.receivedDate = head.receivedDate
        response.newSetCookies = confirmation.headers.values(for: .setCookie)
        response.cacheDecision = CacheDecision(
            outcome: .revalidated, freshness: CacheFreshness(head, now: cache.seconds))
        if CacheControl(request.headers).contains("no-store") { return (response, nil) }
        guard CacheRules.mayKeep(head, insteadOf: entry.head), belongs(head, sentAs: confirmation.request) else {
            _ = cache.guarded { try cache.storage.remove(entry) }
            return (response, nil)
        }
        let updated = cache.guarded { try cache.storing(ticket) { try cache.storage.update(entry, head: head) } }
        return (response, updated ?? CachedEntry(key: entry.key, head: head, body: entry.body, id: entry.id))
    }

    /// Handles a response other than 304. A success replaces the stored entry. For an error, the stored entry may be
    /// returned instead.
    private func answered(
        _ answer: HTTPResponse, instead entry: CachedEntry, _ demand: CacheDemand, _ forward: CacheForward,
        _ ticket: CacheState.Ticket, _ start: Int64
    ) -> (HTTPResponse, CachedEntry?) {
        if CacheRules.isError(answer.status), CacheRules.mayReplaceError(entry.head, for: demand, now: cache.seconds),
            let stale = reuse(entry, as: .stale, reason: "the server responded with \(answer.status.code)")
        {
            cache.state.withLock { $0.end(ticket) }
            return (stale, nil)
        }
        var response = forward.store(answer, ticket: ticket, start: start)
        response.request = request
        if response.cache != .stored, answer.status.code < 500 { _ = cache.guarded { try cache.storage.remove(entry) } }
        guard response.cache == .stored, response.body.buffered != nil else { return (response, nil) }
        let stored = cache.guarded { try cache.storage.find(entry.key) { Vary.fields($0, of: request) } } ?? nil
        return (response, stored)
    }

    private func staleReplacement(error: HTTPError, with entry: CachedEntry, demand: CacheDemand) -> HTTPResponse? {
        let others: [HTTPError.Code] = [
            .cancelled, .resetInProgress, .invalidRequest, .signatureSpent, .responseTooLarge,
        ]
        guard !others.contains(error.code),
            CacheRules.mayReplaceError(entry.head, for: demand, now: cache.seconds)
        else { return nil }
        return reuse(entry, as: .stale, reason: "the validation failed: \(error.code)")
    }

    /// Validates an entry in a separate load, unless a validation is already in progress. A chain reset ends the load.
    func validateLater(_ entry: CachedEntry) {
        var request = request
        request.inheritDeadline(from: nil)
        request.onProgress = nil
        request.responseDelivery = .buffered
        let load = AnyLoader { [next, request] in try await next.load($0, onBehalfOf: request, as: "validation") }
        let exchange = CacheExchange(cache: cache, request: request, next: load)
        cache.validations.start(key(of: entry)) {
            let demand = CacheDemand()
            let validation = await exchange.validation(of: entry, demand: demand)
            if case .failure(let error) = validation.result, !Task.isCancelled,
                exchange.staleReplacement(error: error, with: entry, demand: demand) == nil
            {
                exchange.cache.onError(error)
            }
            return validation
        }
    }
}

struct CacheValidation: Sendable {
    /// All requests from one client share a validation, until a reset.
    struct Key: Hashable {
        let entry: UInt64
        let generation: ClientGeneration?
    }

    /// The result for the request that was sent to the server.
    let result: Result<HTTPResponse, HTTPError>
    /// The entry that the other requests can use. It is the stored entry that the server has confirmed, or the new
    /// entry that has replaced it. If it is nil, the other requests look up the entry again.
    let entry: CachedEntry?
}
