// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// The decisions of a private cache (RFC 9111), as pure functions of messages and the time.
enum CacheRules {
    enum Refusal: String, Error, Sendable {
        case method = "the method of the request is not GET or QUERY"
        case requestForbids = "the request has Cache-Control: no-store"
        case responseForbids = "the response has Cache-Control: no-store"
        case partial = "the status is 1xx, 206, 304 or 416, which is not stored"
        case notUnderstood = "the response has Cache-Control: must-understand, and its status is unknown"
        case varies = "the response has Vary: *"
        case notCacheable = "the status is not cacheable without explicit freshness"
        case useless = "the response has neither a lifetime nor a validator"
        case download = "the body is saved to a file"
        case body = "the body of the request cannot be compared"
        case tooLarge = "the body is larger than the store accepts"
        case changedBelow = "a link below has added a credential, or has changed the path or a field that Vary names"
        case truncated = "nothing proves that the body is complete"
        case outdated = "the response was invalidated while it was received"
    }

    // MARK: Storing (RFC 9111, 3)

    static func checkStorable(_ head: CachedHead, to request: HTTPRequest) throws(Refusal) {
        guard request.method == .get || request.method == .query else { throw .method }
        if CacheControl(request.headers).contains("no-store") { throw .requestForbids }
        if head.status < 200 || [206, 304, 416].contains(head.status) { throw .partial }
        let control = head.control
        if control.contains("must-understand") {
            // `no-store` is for caches that do not know `must-understand` (RFC 9111, 5.2.2.3).
            guard understood.contains(head.status) else { throw .notUnderstood }
        } else if control.contains("no-store") {
            throw .responseForbids
        }
        guard Vary.names(in: head.headers) != nil else { throw .varies }
        let freshness = CacheFreshness(head, now: head.responseTime)
        let isExplicit = control.contains("max-age") || head.headers.contains(.expires)
        guard isExplicit || isHeuristicallyCacheable(head) else { throw .notCacheable }
        guard freshness.lifetime > 0 || head.headers.contains(.eTag) || head.headers.contains(.lastModified) else {
            throw .useless
        }
    }

    /// Whether a response belongs to the request that the cache received.
    ///
    /// The links below may have added a credential, even in the path. The stored response would then belong to a user
    /// whom the cache key doesn't identify.
    ///
    /// - Parameter sent: the request as the links below sent it.
    static func belongs(
        _ head: CachedHead, to request: HTTPRequest, sentAs sent: HTTPRequest, isSecret: (HTTPHeaders.Field) -> Bool
    ) -> Bool {
        guard sent.path == request.path else { return false }
        if sent.headers == request.headers, sent.query == request.query, sent.userInfo == request.userInfo {
            return true
        }
        guard Vary.fields(head.varied.map(\.name), of: sent) == head.varied else { return false }
        return sent.headers.filter(isSecret) == request.headers.filter(isSecret)
            && sent.query.filter { sent.isSecret($0) } == request.query.filter { request.isSecret($0) }
            && sent.userInfo == request.userInfo
    }

    /// Whether the head after a 304 may replace the stored head. If not, the stored response is removed. The 304 may
    /// forbid storing the response. It may also name new fields in `Vary`, and the cache doesn't know which values the
    /// original request had for them.
    static func mayKeep(_ head: CachedHead, insteadOf stored: CachedHead) -> Bool {
        if head.control.contains("no-store"), !head.control.contains("must-understand") { return false }
        return Vary.names(in: head.headers) == stored.varied.map(\.name)
    }

    /// Whether a response lifetime may be estimated (RFC 9110, 15.1, and RFC 9111, 5.2.2.9).
    static func isHeuristicallyCacheable(_ head: CachedHead) -> Bool {
        cacheable.contains(head.status) || head.control.contains("public")
    }

    private static let cacheable: Set<Int> = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]
    private static let understood = cacheable.union([302, 303, 307, 400, 401, 403, 421, 429, 451, 500, 502, 503, 504])

    // MARK: Reusing (RFC 9111, 4)

    enum Use: Equatable {
        case fresh
        /// Reuses the stored response although it is stale. If the flag is set, the cache validates it in the
        /// background.
        case stale(validatesLater: Bool)
        /// Asks the server whether the stored response is still valid.
        case validate
    }

    /// Decides whether a stored response that was selected by its key may be reused.
    static func use(of head: CachedHead, for demand: CacheDemand, now: Int64) -> Use {
        let freshness = CacheFreshness(head, now: now)
        let control = head.control
        if control.contains("no-cache") { return .validate }
        if demand.validates {
            // A reload does not validate an immutable response while it is fresh (RFC 8246, 2).
            return freshness.isFresh && control.contains("immutable") ? .fresh : .validate
        }
        if let limit = demand.maxAge, freshness.age > limit { return .validate }
        if freshness.isFresh {
            return freshness.lifetime - freshness.age >= demand.minFresh ? .fresh : .validate
        }
        if control.contains("must-revalidate") { return .validate }
        if let limit = demand.maxStale, freshness.staleness <= limit { return .stale(validatesLater: false) }
        if let window = control.seconds("stale-while-revalidate"), freshness.staleness <= window, demand.isPlain {
            return .stale(validatesLater: true)
        }
        return .validate
    }

    /// Whether a stale response may replace an error from the server or the connection (RFC 5861, 4).
    static func mayReplaceError(_ head: CachedHead, for demand: CacheDemand, now: Int64) -> Bool {
        let control = head.control
        if control.contains("no-cache") || control.contains("must-revalidate") || demand.validates { return false }
        let limits = [control.seconds("stale-if-error"), demand.staleIfError, demand.maxStale].compactMap { $0 }
        guard let limit = limits.max() else { return false }
        return CacheFreshness(head, now: now).staleness <= limit
    }

    static func isError(_ status: HTTPStatus) -> Bool { [500, 502, 503, 504].contains(status.code) }

    // MARK: Validating (RFC 9111, 4.3)

    static func validating(_ request: HTTPRequest, _ head: CachedHead, reload: Bool) -> HTTPRequest {
        var request = request
        if let tag = head.headers[.eTag] { request.headers[.ifNoneMatch] = tag }
        if let date = head.headers[.lastModified] { request.headers[.ifModifiedSince] = date }
        if reload, !request.headers.contains(.cacheControl) { request.headers[.cacheControl] = "max-age=0" }
        return request
    }

    /// Whether a 304 belongs to a stored response. If the 304 has a strong entity tag, it must be the stored one.
    static func confirms(_ response: HTTPResponse, _ head: CachedHead) -> Bool {
        guard let tag = response.headers[.eTag], !tag.begins(with: "W/") else { return true }
        return head.headers[.eTag]?.isSame(as: tag) == true
    }

    // MARK: Invalidating (RFC 9111, 4.4)

    /// Returns the URLs that an exchange invalidates: the request URL, and `Location` and `Content-Location` if they
    /// are at the same origin.
    static func invalidated(by response: HTTPResponse, to request: HTTPRequest) -> [String] {
        guard !request.method.isSafe, (200..<400).contains(response.status.code),
            let target = CacheKey.url(of: request)
        else { return [] }
        let base = URLParts(target)
        let others = [HTTPHeaders.Name.location, .contentLocation].compactMap { response.headers[$0] }
            .map { base.resolving(URLParts($0)) }
            .compactMap { parts -> String? in
                guard let other = try? HTTPRequest(parts.string), other.origin == request.origin else { return nil }
                return CacheKey.url(of: other)
            }
        return [target] + others
    }
}
