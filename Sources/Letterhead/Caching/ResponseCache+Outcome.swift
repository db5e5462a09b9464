extension ResponseCache {
    /// The way in which the cache has contributed to a response.
    public enum Outcome: String, Hashable, Sendable {
        /// The client has no cache.
        case unused
        /// A fresh stored response was reused without a request.
        case hit
        /// A stale stored response was reused: without a request, or after its validation had failed.
        case stale
        /// The server confirmed the stored response with 304.
        case revalidated
        /// The server responded, and the response is stored. A streamed response is stored when it has been read
        /// completely.
        case stored
        /// The server responded, and the response is not stored.
        case missed
        /// The request neither reuses nor stores responses.
        case bypassed
    }
}

/// The decision of a cache about one request, which an observer can record.
struct CacheDecision: Equatable, Sendable, CustomStringConvertible {
    let outcome: ResponseCache.Outcome
    /// The reason, such as the rule by which a response was not stored.
    var reason = ""
    /// The age of a reused response, and its lifetime, in seconds.
    var freshness: CacheFreshness?

    var description: String { reason.isEmpty ? outcome.rawValue : "\(outcome.rawValue): \(reason)" }
}

enum CacheDecisionValue: HTTPRequestOption {
    static let defaultOptionValue = CacheDecision(outcome: .unused)
}

extension HTTPResponse {
    /// The way in which the client's cache has contributed to this response.
    public var cache: ResponseCache.Outcome { cacheDecision.outcome }

    /// The decision of the cache, with its reason.
    var cacheDecision: CacheDecision {
        get { self[option: CacheDecisionValue.self] }
        set { self[option: CacheDecisionValue.self] = newValue }
    }
}

extension CacheDecision {
    /// Returns the value of `Cache-Status` (RFC 9211) for a cache with a name.
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

    /// Returns a string of a structured field (RFC 9651, 3.3.3); nil for text with other than printable ASCII
    /// characters.
    private static func quoted(_ text: String) -> String? {
        guard text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else { return nil }
        return ASCII.quoted(text)
    }
}
