extension RequestTemplate {
    /// Says whether the request shares a load with equal ones.
    public func deduplication(_ deduplication: Deduplication) -> WithOptions<Self> {
        option(DeduplicationOption.self, deduplication)
    }
}

/// Whether a request shares a load with equal ones.
enum DeduplicationOption: HTTPRequestOption {
    /// When it is safe.
    static let defaultOptionValue = Deduplication.automatic
}

extension HTTPRequest {
    /// Whether the request shares a load with equal ones, where ``Deduplicate`` stands in the chain.
    ///
    /// Default: ``Deduplication/automatic``.
    public var deduplication: Deduplication {
        get { self[option: DeduplicationOption.self] }
        set { self[option: DeduplicationOption.self] = newValue }
    }
}

/// Whether a request shares a load with equal ones.
public struct Deduplication: Hashable, Sendable {
    enum Kind: Hashable {
        case automatic, never
        case key(String)
    }

    let kind: Kind

    /// With those of the same method, URL, headers, body and credentials, if the method is safe (RFC 9110, 9.2.1).
    public static let automatic = Deduplication(kind: .automatic)

    /// With none.
    public static let never = Deduplication(kind: .never)

    /// With requests of the same key, whatever their method, path and body, but of the same origin and identity.
    ///
    /// Requests never share across origins, users or environments: every secret header and secret query item, the
    /// authentication and its scopes are compared. So is the body of a request that is ``HTTPRequest/isSecret``. A user
    /// that is named in the path or in a body only must be part of the key.
    public static func key(_ key: String) -> Deduplication { Deduplication(kind: .key(key)) }
}

private enum SharedLoadValue: HTTPRequestOption {
    static let defaultOptionValue: HTTPRequest.ID? = nil
}

extension HTTPResponse {
    /// Which request was sent, when this response was shared with an equal one that came before; nil for that one itself.
    public internal(set) var sharedFrom: HTTPRequest.ID? {
        get { self[option: SharedLoadValue.self] }
        set { self[option: SharedLoadValue.self] = newValue }
    }
}

extension HTTPRequestOptions {
    /// See ``HTTPRequest/deduplication``.
    public var deduplication: Deduplication {
        get { self[DeduplicationOption.self] }
        set { self[DeduplicationOption.self] = newValue }
    }
}

extension WithOptions {
    /// See ``RequestTemplate/deduplication(_:)``.
    public func deduplication(_ deduplication: Deduplication) -> Self {
        option(DeduplicationOption.self, deduplication)
    }
}
