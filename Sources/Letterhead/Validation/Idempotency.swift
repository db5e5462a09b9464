/// Whether a request may be sent twice although its method says otherwise, and by which key the server knows it again.
public enum IdempotencyOption: HTTPRequestOption {
    /// Not marked.
    public static let defaultOptionValue: Idempotency? = nil
}

/// A mark on a request that sending it twice means no more than sending it once.
///
/// The request carries an `Idempotency-Key`, the same in every attempt of a load, by which a server tells a repeat from
/// another request (draft-ietf-httpapi-idempotency-key-header). Only mark what the server handles so.
public struct Idempotency: Sendable, Hashable {
    /// The key; nil has a random one made for each load.
    public let key: String?

    /// Makes a mark.
    ///
    /// - Parameter key: the key, such as one kept over a restart of the program. Default: nil, a random one for each load.
    public init(key: String? = nil) { self.key = key }
}

extension HTTPRequest {
    /// The mark that the request may be sent twice. Default: nil, the method decides.
    public var idempotency: Idempotency? {
        get { self[option: IdempotencyOption.self] }
        set { self[option: IdempotencyOption.self] = newValue }
    }

    /// Whether it is marked, or brings an `Idempotency-Key` of its own.
    var isMarkedIdempotent: Bool { idempotency != nil || headers.contains(.idempotencyKey) }
}
