// SPDX-License-Identifier: MIT
public import Letterhead
public import LetterheadFoundation
import Synchronization

/// Stores responses for a client, and reuses them as their servers allow (RFC 9111), to send fewer requests.
///
/// ```swift
/// let cache = ResponseCache(store: .memory(bytes: 16 << 20))
/// let client = HTTPClient(environment: .production, cache: cache)
/// let catalog = try await client.send(GetCatalog())                        // sent, and stored
/// let again = try await client.send(GetCatalog())                          // reused while it is fresh
/// let checked = try await client.send(GetCatalog().caching(.revalidate))   // asks whether it is still valid
/// ```
///
/// Use it if your client requests the same resources more than once. The server determines with `Cache-Control`,
/// `Expires`, `ETag` and `Last-Modified` what is stored and for how long. To see what the cache did, read
/// `HTTPResponse.cache`.
///
/// ## Choose the store and the policy
///
/// To keep responses after the program has ended, use a folder. To change what one request does, set its ``Policy``.
///
/// ```swift
/// let store = try ResponseCache.Store.files(in: folder, bytes: 100 << 20)
/// let offline = HTTPClient(environment: .production, cache: ResponseCache(store: store))
/// _ = try await offline.send(GetCatalog().caching(.staleAllowed(.seconds(600))))
/// ```
///
/// ## What is stored and reused
///
/// - Responses to GET and QUERY (RFC 10008) are stored. A fresh response to GET is also used for HEAD and for a single
///   byte range.
/// - Responses are kept apart by URL, by credential, and by the request fields that `Vary` names.
/// - A successful request with an unsafe method, such as POST, removes the stored responses for its URL.
/// - Concurrent requests share one validation. `stale-while-revalidate` and `stale-if-error` (RFC 5861) and `immutable`
///   (RFC 8246) are supported.
/// - A download to a file doesn't use the cache. A request to which you have added a condition, such as
///   `If-None-Match`, doesn't use it either.
/// - If the store fails, the request continues without it.
/// - `HTTPClient.reset()` cancels validations that run in the background, and removes all responses.
///
/// In a custom chain, the cache is a link. Put it below `Authenticate` and a `CookieJar`, and above `Throttle`. If a
/// link below the cache adds a credential, the response isn't stored. <doc:CachingResponses> has an example.
public final class ResponseCache: LoaderLink {
    let storage: any CacheStorage
    let now: @Sendable () -> Date
    let onError: @Sendable (any Error) -> Void
    let statusName: String?
    let state = Mutex(CacheState())
    /// Locked while a response is stored, and while a reset or an invalidation removes responses.
    ///
    /// A reset and an invalidation change ``state`` before they lock it. So a response that is stored at the same time
    /// either sees the change and isn't stored, or is stored first and then removed.
    let storingLock = Mutex(())
    /// The validations in flight. A validation in the background continues even when no request waits for it.
    let validations = Flights<CacheValidation.Key, CacheValidation>()
    private let storeDescription: String

    /// Creates a cache.
    ///
    /// - Parameters:
    ///   - store: where the responses are kept.
    ///   - statusName: the name of this cache for the `Cache-Status` field (RFC 9211), which each response then
    ///     contains. Default: nil (no field).
    ///   - now: returns the current date. Pass a different closure in a test.
    ///   - onError: receives store errors, such as a full disk, on the thread that handles the request. The request
    ///     continues without the store. Default: errors are ignored.
    public init(
        store: Store, statusName: String? = nil, now: @escaping @Sendable () -> Date = { Date() },
        onError: @escaping @Sendable (any Error) -> Void = { _ in }
    ) {
        storage = store.storage
        storeDescription = store.description
        (self.statusName, self.now, self.onError) = (statusName, now, onError)
    }

    /// Removes all stored responses, including those of other caches that share the store.
    ///
    /// A request in flight may still store its response afterwards. To prevent this as well, reset the client.
    public func removeAll() { guarded { try storingLock.withLock { _ in try storage.removeAll() } } }

    /// Returns a stored response that may be reused, or else sends the request.
    ///
    /// - Throws: errors from the next loader, or `.notCached` if the request must not be sent and no stored response
    ///   may be reused.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        let response = try await CacheExchange(cache: self, request: request, next: next).response()
        let decision = response.cacheDecision
        request.record(decision.outcome.event) { event in
            if !decision.reason.isEmpty { event[.reason] = Redaction.visible(decision.reason) }
        }
        guard let statusName, let status = decision.status(of: statusName) else { return response }
        var named = response
        named.headers.append("Cache-Status", status)
        return named
    }

    /// Cancels the validations of this client, removes all stored responses, and resets the links below.
    public func reset(next: any HTTPLoader) async {
        state.withLock { $0.resets += 1 }
        validations.reset { $0.generation?.hasEnded ?? true }
        await next.reset()
        removeAll()
    }

    var seconds: Int64 {
        let (first, last) = (Double(CachedHead.times.lowerBound), Double(CachedHead.times.upperBound))
        return Int64(Double.maximum(first, .minimum(last, now().timeIntervalSince1970)).rounded(.down))
    }

    /// Calls a closure that stores a response. If a reset has occurred or the URL was invalidated since the request
    /// began, returns nil and doesn't call the closure.
    func storing<Value>(_ ticket: CacheState.Ticket, _ store: () throws -> Value) throws -> Value? {
        try storingLock.withLock { _ in try state.withLock { $0.isCurrent(ticket) } ? store() : nil }
    }

    @discardableResult
    func guarded<Value>(_ use: () throws -> Value) -> Value? {
        do { return try use() } catch {
            onError(error)
            return nil
        }
    }

    /// Whether a field contains a credential. The cache keeps the result for each name, because determining it is slow.
    func isSecret(_ field: HTTPHeaders.Field, in request: HTTPRequest) -> Bool {
        if field.isSecret { return true }
        if request.redaction != .standard { return request.isSecret(field) }
        if let known = state.withLock({ $0.secretNames[field.name] }) { return known }
        let isSecret = request.isSecret(field)
        state.withLock { state in
            if state.secretNames.count < 256 { state.secretNames[field.name] = isSecret }
        }
        return isSecret
    }
}

extension ResponseCache: CustomStringConvertible {
    public var description: String { "ResponseCache(\(storeDescription))" }
}

extension HTTPError.Code {
    /// No stored response may be reused, and the caching policy forbids sending the request (see
    /// ``ResponseCache/Policy/onlyIfCached``).
    public static let notCached = Self(rawValue: "notCached")
}

extension ResponseCache {
    /// Where a cache keeps responses. Several caches can share a store.
    public struct Store: Sendable, CustomStringConvertible {
        let storage: any CacheStorage
        /// What the store is and how many bytes it may contain: `memory, at most 16777216 bytes`.
        public let description: String

        /// Keeps responses in memory, until the program ends.
        ///
        /// If all bodies and headers together exceed `bytes`, or if there are more than `entries` responses, the store
        /// removes the least recently used responses. If a body is larger than a quarter of `bytes`, its response isn't
        /// stored.
        public static func memory(bytes: Int, entries: Int = 10_000) -> Store {
            Store(
                storage: MemoryCacheStorage(bytes: bytes, entries: entries),
                description: "memory, at most \(bytes) bytes")
        }

        /// Keeps responses in a folder, even after the program has ended.
        ///
        /// Pass a folder that contains nothing else. It is created if it doesn't exist, and only its owner can read the
        /// files. Several stores and processes can use it.
        ///
        /// If all files together exceed `bytes`, the store removes the least recently used responses. The files may
        /// exceed the limit by 5% for a short time. If a body is larger than a quarter of `bytes`, its response isn't
        /// stored. A crash never leaves a partial response, and a damaged file counts as missing.
        ///
        /// - Throws: an error from the file system if the folder can't be created or read, or if it belongs to a
        ///   different user.
        public static func files(in folder: URL, bytes: Int) throws -> Store {
            Store(
                storage: try FileCacheStorage(folder: folder, bytes: bytes),
                description: "files, at most \(bytes) bytes")
        }
    }
}

extension ResponseCache {
    /// Determines how a request uses the cache of its client.
    public struct Policy: Hashable, Sendable {
        enum Kind: Hashable {
            case standard, revalidate, bypass, onlyIfCached
            case stale(Duration, onErrorOnly: Bool)
        }

        let kind: Kind

        /// Reuses a stored response while it is fresh, and validates it when it is stale.
        public static let `default` = Policy(kind: .standard)

        /// Asks the server whether the stored response is still valid, even if it is fresh. Only a fresh response with
        /// `immutable` (RFC 8246) is reused without a request.
        public static let revalidate = Policy(kind: .revalidate)

        /// Sends the request, and neither reuses nor stores a response.
        public static let bypass = Policy(kind: .bypass)

        /// Never sends the request. If no stored response may be reused, the request fails with `.notCached`.
        public static let onlyIfCached = Policy(kind: .onlyIfCached)

        /// Reuses a stale response without a validation if it became stale at most `limit` ago. The server can forbid
        /// it with `no-cache` or `must-revalidate`.
        ///
        /// With `onErrorOnly`, the cache validates the response first. It reuses the stale response only if the
        /// connection failed, or if the status was 500, 502, 503 or 504.
        public static func staleAllowed(_ limit: Duration, onErrorOnly: Bool = false) -> Policy {
            Policy(kind: .stale(limit, onErrorOnly: onErrorOnly))
        }
    }
}

enum CachingOption: HTTPRequestOption {
    static let defaultOptionValue = ResponseCache.Policy.default
}

extension RequestSettings {
    /// How the request uses the cache. Default: ``ResponseCache/Policy/default``. If the client has no cache, it has no
    /// effect.
    public var caching: ResponseCache.Policy {
        get { self[option: CachingOption.self] }
        set { self[option: CachingOption.self] = newValue }
    }
}

extension HTTPClient {
    /// Sets the caching policy for requests that don't set it.
    public func caching(_ policy: ResponseCache.Policy) -> HTTPClient { option(CachingOption.self, policy) }
}

extension RequestConfigurable {
    /// Sets the caching policy for this request: `.caching(.revalidate)`.
    public func caching(_ policy: ResponseCache.Policy) -> Configured { option(CachingOption.self, policy) }
}

extension ResponseCache {
    /// Tells what the cache did for a response.
    public enum Outcome: String, Hashable, Sendable {
        /// The client has no cache.
        case unused
        /// The cache reused a fresh response without a request.
        case hit
        /// The cache reused a stale response, either without a request or after its validation had failed.
        case stale
        /// The server confirmed the stored response with 304.
        case revalidated
        /// The server responded, and the cache stores the response. A streamed response is stored when its body has
        /// ended.
        case stored
        /// The server responded, and the response is not stored, because it was not cacheable or the store failed.
        case missed
        /// The cache wasn't used, because the policy is ``ResponseCache/Policy/bypass`` or because the cache doesn't
        /// apply to such requests.
        case bypassed

        fileprivate var event: HTTPEvent.Name {
            switch self {
            case .hit: .cacheHit
            case .stale: .cacheStale
            case .revalidated: .cacheRevalidated
            case .stored: .cacheStored
            case .missed: .cacheMissed
            case .bypassed, .unused: .cacheBypassed
            }
        }
    }
}

struct CacheDecision: Equatable, Sendable, CustomStringConvertible {
    let outcome: ResponseCache.Outcome
    /// The reason for the decision, such as the rule that forbids storing a response.
    var reason = ""
    /// How old a reused response is, and how long it is fresh.
    var freshness: CacheFreshness?

    var description: String { reason.isEmpty ? outcome.rawValue : "\(outcome.rawValue): \(reason)" }
}

extension CacheRules.Refusal {
    var decision: CacheDecision { CacheDecision(outcome: .missed, reason: rawValue) }
}

enum CacheDecisionValue: HTTPRequestOption {
    static let defaultOptionValue = CacheDecision(outcome: .unused)
}

extension HTTPResponse {
    /// What the cache did for this response. ``ResponseCache/Outcome/unused`` if the client has no cache.
    public var cache: ResponseCache.Outcome { cacheDecision.outcome }

    var cacheDecision: CacheDecision {
        get { self[option: CacheDecisionValue.self] }
        set { self[option: CacheDecisionValue.self] = newValue }
    }
}

extension CacheDecision {
    /// Returns the value of `Cache-Status` (RFC 9211) for a named cache.
    func status(of name: String) -> String? {
        guard var text = Self.quoted(name) else { return nil }
        switch outcome {
        case .hit, .stale: text += ";hit"
        case .revalidated: text += ";fwd=stale"
        case .stored: text += ";fwd=miss;stored"
        case .missed: text += ";fwd=miss"
        case .bypassed, .unused: text += ";fwd=bypass"
        }
        if let freshness, [.hit, .stale].contains(outcome) { text += ";ttl=\(freshness.lifetime - freshness.age)" }
        if !reason.isEmpty, let detail = Self.quoted(reason) { text += ";detail=\(detail)" }
        return text
    }

    /// Returns a text as a structured field string (RFC 9651, 3.3.3), or nil if it contains characters other than
    /// printable ASCII.
    private static func quoted(_ text: String) -> String? {
        guard text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else { return nil }
        return ASCII.quoted(text)
    }
}

/// The state that all requests share. Callers hold a lock.
struct CacheState {
    /// The number of resets. The response to a request that began before the last reset isn't stored.
    var resets = 0
    var secretNames: [HTTPHeaders.Name: Bool] = [:]

    struct Loads {
        var count = 0
        var invalidated = -1
    }

    private(set) var loads: [String: Loads] = [:]
    private var clock = 0

    struct Ticket: Sendable {
        let url: String
        let resets: Int
        let time: Int
    }

    mutating func begin(_ url: String) -> Ticket {
        loads[url, default: Loads()].count += 1
        return Ticket(url: url, resets: resets, time: clock)
    }

    /// Whether a response may be stored: no reset and no invalidation of its URL have occurred since ``begin(_:)``.
    func isCurrent(_ ticket: Ticket) -> Bool {
        resets == ticket.resets && (loads[ticket.url]?.invalidated ?? -1) <= ticket.time
    }

    mutating func end(_ ticket: Ticket) {
        loads[ticket.url]?.count -= 1
        if loads[ticket.url]?.count == 0 { loads[ticket.url] = nil }
    }

    /// Records that the stored responses for a URL have become invalid. Only requests for this URL that have already
    /// begun are affected: their responses won't be stored.
    mutating func invalidate(_ url: String) {
        clock += 1
        loads[url]?.invalidated = clock
    }

    mutating func invalidate(where fits: (String) -> Bool) {
        clock += 1
        for url in loads.keys where fits(url) { loads[url]?.invalidated = clock }
    }
}
