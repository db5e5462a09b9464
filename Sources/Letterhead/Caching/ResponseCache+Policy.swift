extension ResponseCache {
    /// How one request uses the cache of its client.
    public struct Policy: Hashable, Sendable {
        enum Kind: Hashable {
            case standard, revalidate, bypass, onlyIfCached
            case stale(Duration, onErrorOnly: Bool)
        }

        let kind: Kind

        /// Reuses a stored response while it is fresh, and validates it when it is stale.
        public static let `default` = Policy(kind: .standard)

        /// Asks the server whether the stored response is still valid, even while it is fresh. A fresh response with
        /// `immutable` (RFC 8246) is reused without a request.
        public static let revalidate = Policy(kind: .revalidate)

        /// Sends the request, and neither reuses nor stores a response.
        public static let bypass = Policy(kind: .bypass)

        /// Never sends the request. If no stored response may be reused, the request fails with
        /// ``HTTPError/Code/notCached``.
        public static let onlyIfCached = Policy(kind: .onlyIfCached)

        /// Reuses a stale response without a validation, unless the server forbids it with `no-cache` or
        /// `must-revalidate`.
        ///
        /// - Parameters:
        ///   - limit: the longest time for which the response may have been stale.
        ///   - onErrorOnly: whether the response is reused only after its validation has failed: because of an error of
        ///     the connection, or with a status of 500, 502, 503 or 504. Default: false.
        public static func staleAllowed(_ limit: Duration, onErrorOnly: Bool = false) -> Policy {
            Policy(kind: .stale(limit, onErrorOnly: onErrorOnly))
        }
    }
}

enum CachingOption: HTTPRequestOption {
    static let defaultOptionValue = ResponseCache.Policy.default
}

extension RequestSettings {
    /// How the request uses the cache of its client. Default: ``ResponseCache/Policy/default``. This property has no
    /// effect if the client has no cache.
    public var caching: ResponseCache.Policy {
        get { self[option: CachingOption.self] }
        set { self[option: CachingOption.self] = newValue }
    }
}

extension RequestTemplate {
    /// Sets how the request uses the cache of its client.
    public func caching(_ policy: ResponseCache.Policy) -> Modified<Self> { settings { $0.caching = policy } }
}
