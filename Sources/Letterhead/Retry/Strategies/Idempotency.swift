extension RequestTemplate {
    /// Marks the request as idempotent: sending it twice has the same effect as sending it once, so it may be retried
    /// with any method.
    ///
    /// The request contains an `Idempotency-Key`, which is the same in every attempt, so that the server can recognize
    /// a retry.
    ///
    /// - Parameter key: the key. Default: nil (a random key for each load).
    public func idempotent(key: String? = nil) -> Modified<Self> {
        settings { $0.markIdempotent(key: key) }
    }
}

enum IdempotencyOption: HTTPRequestOption {
    static let defaultOptionValue: Idempotency? = nil
}

/// The mark of an idempotent request, with its key. If the key is nil, a random key is created for each load.
struct Idempotency: Sendable, Hashable {
    var key: String?
}

extension HTTPRequest {
    /// Whether sending the request twice has the effect of sending it once: its method is idempotent (RFC 9110, 9.2.2),
    /// it was marked with ``RequestSettings/markIdempotent(key:)``, or it has an `Idempotency-Key`.
    public var isIdempotent: Bool { method.isIdempotent || isMarkedIdempotent }

    /// Whether the request is marked, or has its own `Idempotency-Key`.
    var isMarkedIdempotent: Bool { idempotency != nil || headers.contains(.idempotencyKey) }
}

extension RequestSettings {
    /// Marks the request as idempotent, so that it may be retried with any method.
    ///
    /// The request contains an `Idempotency-Key`, which is the same in every attempt of a load, so that the server can
    /// recognize a retry (draft-ietf-httpapi-idempotency-key-header). Mark only requests to servers that support this.
    ///
    /// - Parameter key: the key, such as one that is stored across launches. Default: nil (a random key for each load).
    public mutating func markIdempotent(key: String? = nil) { idempotency = Idempotency(key: key) }

    /// The mark of an idempotent request; nil if it is not marked.
    var idempotency: Idempotency? {
        get { self[option: IdempotencyOption.self] }
        set { self[option: IdempotencyOption.self] = newValue }
    }
}
