import Foundation
import Synchronization

/// Handles one request: finds a stored response, decides whether it can be reused, and sends the request if necessary.
struct CacheExchange: Sendable {
    let cache: ResponseCache
    let request: HTTPRequest
    let next: any HTTPLoader

    func response() async throws(HTTPError) -> HTTPResponse {
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
            case .stale(let validatesLater):
                if let stale = reuse(entry, as: .stale, reason: validatesLater ? "validated later" : "stale is allowed")
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
        for name in Self.conditions where request.headers.contains(name) {
            return "the caller has added a condition to the request"
        }
        return nil
    }

    private static let conditions: [HTTPHeaders.Name] = [
        .ifNoneMatch, .ifModifiedSince, .ifMatch, .ifUnmodifiedSince, .ifRange,
    ]

    private func bypassing(_ reason: String) async throws(HTTPError) -> HTTPResponse {
        if CacheDemand(request).onlyIfCached { throw notCached }
        var response = try await next.load(request)
        response.cacheDecision = CacheDecision(outcome: .bypassed, reason: reason)
        return response
    }

    /// Sends a request with a method other than GET, HEAD and QUERY, and removes the stored responses that it makes
    /// invalid.
    private func unsafe() async throws(HTTPError) -> HTTPResponse {
        if request.caching == .onlyIfCached { throw notCached }
        var response = try await next.load(request)
        for url in CacheRules.invalidated(by: response, to: request) {
            cache.state.withLock { $0.invalidate(url) }
            _ = cache.guarded { try cache.storage.remove(url: url) }
        }
        response.cacheDecision = CacheDecision(outcome: .missed, reason: CacheRules.Refusal.method.rawValue)
        return response
    }

    /// Whether a response belongs to the request, although the links below may have changed the request.
    func belongs(_ head: CachedHead, sentAs sent: HTTPRequest) -> Bool {
        CacheRules.belongs(head, to: request, sentAs: sent) { cache.isSecret($0, in: sent) }
    }

    private var notCached: HTTPError {
        HTTPError(
            .notCached, request: request,
            message: "no stored response can be reused, and the request must not be sent; use another caching policy",
            mayHaveBeenSent: false)
    }

    /// Returns a stored response; nil if the part that the request asks for cannot be taken from it.
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
        response[option: NewSetCookies.self] = []
        response.cacheDecision = CacheDecision(outcome: outcome, reason: reason, freshness: freshness)
        if request.options.contains(TransferProgressOption.self) || request.reportsProgress,
            let count = response.body.buffered?.count, count > 0
        {
            request.onProgress?(TransferProgress(direction: .download, completedBytes: count, totalBytes: count))
        }
        return response
    }
}
