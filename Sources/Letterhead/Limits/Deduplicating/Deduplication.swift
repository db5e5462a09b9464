extension RequestTemplate {
    /// Sets whether the request shares a load with equal ones.
    public func deduplication(_ deduplication: Deduplication) -> Modified<Self> {
        settings { $0.deduplication = deduplication }
    }
}

enum DeduplicationOption: HTTPRequestOption {
    static let defaultOptionValue = Deduplication.automatic
}

extension RequestSettings {
    /// Whether the request shares a load with equal requests. Only a chain that contains ``Deduplicate`` uses this
    /// setting.
    ///
    /// Default: ``Deduplication/automatic``.
    public var deduplication: Deduplication {
        get { self[option: DeduplicationOption.self] }
        set { self[option: DeduplicationOption.self] = newValue }
    }
}

/// A setting that determines whether a request shares a load with equal ones.
public struct Deduplication: Hashable, Sendable {
    enum Kind: Hashable {
        case automatic, never
        case key(String)
    }

    let kind: Kind

    /// Shares a load with requests that have the same method, URL, headers, body, credentials, timeouts and
    /// ``RequestSettings/responseLimit``, if the method is safe (RFC 9110, 9.2.1). Their deadlines may differ.
    public static let automatic = Deduplication(kind: .automatic)

    /// Never shares a load.
    public static let never = Deduplication(kind: .never)

    /// Shares a load with requests that have the same key, origin, headers and identity. Method, path and body may
    /// differ. The identity consists of every secret query item, the authentication with its scopes, and the
    /// environment.
    ///
    /// A header that is ignored (`Deduplicate(ignoring:)`) is compared only if it is secret. The body is compared only
    /// if the request is ``RequestSettings/isSecret``. If the path, another query item or only the body identifies the
    /// user, include the user in the key.
    public static func key(_ key: String) -> Deduplication { Deduplication(kind: .key(key)) }
}

private enum SharedLoadValue: HTTPRequestOption {
    static let defaultOptionValue: HTTPRequest.ID? = nil
}

extension HTTPResponse {
    /// The identifier of the equal request that was sent instead of the request of this response. It is nil if the
    /// request of this response was sent itself.
    public internal(set) var sharedFrom: HTTPRequest.ID? {
        get { self[option: SharedLoadValue.self] }
        set { self[option: SharedLoadValue.self] = newValue }
    }
}
