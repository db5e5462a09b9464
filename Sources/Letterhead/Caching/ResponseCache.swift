public import Foundation
import Synchronization

/// Stores responses and reuses them (RFC 9111), as the private cache of one client.
///
/// ```swift
/// let cache = ResponseCache(store: .memory(bytes: 16 << 20))
/// let client = HTTPClient(environment: .production, cache: cache)
/// let catalog = try await client.send(GetCatalog())                        // sent, and stored
/// let again = try await client.send(GetCatalog())                          // reused while it is fresh
/// let checked = try await client.send(GetCatalog().caching(.revalidate))   // asks whether it is still valid
/// ```
///
/// The server determines with `Cache-Control`, `Expires`, `ETag` and `Last-Modified` what is stored and for how long.
/// Responses to GET and QUERY (RFC 10008) are stored; a fresh response to GET is also used for HEAD and for requests
/// for a single byte range. Stored responses are separate for each URL, for each credential, and for each set of values
/// of the request fields that `Vary` names. A successful request with an unsafe method, such as POST, removes the
/// stored responses of its URL. Concurrent requests share one validation. `stale-while-revalidate` and `stale-if-error`
/// (RFC 5861) are supported, as is `immutable` (RFC 8246).
///
/// A download to a file does not use the cache, and neither does a request to which you have added a condition, such as
/// `If-None-Match`. No request fails because of an error of the store. ``HTTPClient/reset()`` cancels validations that
/// run in the background, and removes all responses.
///
/// In a custom chain, the cache is a link. Put it below ``Authenticate`` and a ``CookieJar``, and above ``Throttle``. If a
/// link below the cache adds a credential, only a response that is `public` is stored.
public final class ResponseCache: LoaderLink {
    let storage: any CacheStorage
    let now: @Sendable () -> Date
    let onError: @Sendable (any Error) -> Void
    let statusName: String?
    let state = Mutex(CacheState())
    /// The validations in flight, by entry. Those in the background are lasting.
    let validations = Flights<UInt64, CacheValidation>()
    private let storeDescription: String

    /// Creates a cache.
    ///
    /// - Parameters:
    ///   - store: the store for the responses.
    ///   - statusName: the name of the cache in a `Cache-Status` field (RFC 9211) that is added to each response.
    ///     Default: nil (no field is added).
    ///   - now: returns the current time. Default: the system's.
    ///   - onError: receives the errors of the store, such as a full disk, on the thread of the request. The request
    ///     continues without the store.
    public init(
        store: Store, statusName: String? = nil, now: @escaping @Sendable () -> Date = { Date() },
        onError: @escaping @Sendable (any Error) -> Void = { _ in }
    ) {
        storage = store.storage
        storeDescription = store.description
        (self.statusName, self.now, self.onError) = (statusName, now, onError)
    }

    /// Removes all stored responses.
    public func removeAll() { guarded { try storage.removeAll() } }

    /// Reuses a stored response, or calls the next loader and stores its response.
    ///
    /// - Throws: the error of the next loader; ``HTTPError/Code/notCached`` if the request must not be sent and no
    ///   stored response may be reused.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        let response = try await CacheExchange(cache: self, request: request, next: next).response()
        if let observation = request.observation {
            let decision = response.cacheDecision
            observation.record(HTTPEvent.Name(rawValue: "cache.\(decision.outcome.rawValue)")) { event in
                if !decision.reason.isEmpty { event[.reason] = Redaction.visible(decision.reason) }
            }
        }
        guard let statusName, let status = response.cacheDecision.status(of: statusName) else { return response }
        var named = response
        named.headers.append("Cache-Status", status)
        return named
    }

    /// Cancels validations, removes all stored responses, and resets the links below.
    public func reset(next: any HTTPLoader) async {
        state.withLock { $0.generation += 1 }
        validations.reset()
        await next.reset()
        removeAll()
    }

    /// The current time in seconds since 1970.
    var seconds: Int64 {
        let (first, last) = (Double(CachedHead.times.lowerBound), Double(CachedHead.times.upperBound))
        return Int64(Double.maximum(first, .minimum(last, now().timeIntervalSince1970)).rounded(.down))
    }

    /// Calls a function of the store. An error is reported, and the result is nil.
    func guarded<Value>(_ use: () throws -> Value) -> Value? {
        do { return try use() } catch {
            onError(error)
            return nil
        }
    }

    /// Whether a field contains a credential. The result is stored for each name, because determining it is slow.
    func isSecret(_ field: HTTPHeaders.Field, in request: HTTPRequest) -> Bool {
        if field.isSecret { return true }
        if request.options.contains(RedactionOption.self) { return request.isSecret(field) }
        if let known = state.withLock({ $0.secretNames[field.name] }) { return known }
        let isSecret = request.isSecret(field)
        state.withLock { state in
            if state.secretNames.count < 256 { state.secretNames[field.name] = isSecret }
        }
        return isSecret
    }
}

extension ResponseCache: CustomStringConvertible {
    /// The kind of the store and its limit.
    public var description: String { "ResponseCache(\(storeDescription))" }
}

extension HTTPError.Code {
    /// The caching policy of the request forbids sending it, and no stored response may be reused; see
    /// ``ResponseCache/Policy/onlyIfCached``.
    public static let notCached = Self(rawValue: "notCached")
}
