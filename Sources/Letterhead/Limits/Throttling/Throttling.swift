extension RequestTemplate {
    /// Says whether the request is throttled, and with which priority it waits.
    public func throttling(_ throttling: Throttling) -> WithOptions<Self> {
        option(ThrottlingOption.self, throttling)
    }
}

/// Whether a request is throttled.
enum ThrottlingOption: HTTPRequestOption {
    /// It is, with priority 0.
    static let defaultOptionValue = Throttling.always
}

extension HTTPRequest {
    /// Whether the request is throttled, and with which priority it waits. Default: ``Throttling/always``.
    public var throttling: Throttling {
        get { self[option: ThrottlingOption.self] }
        set { self[option: ThrottlingOption.self] = newValue }
    }
}

/// Whether ``Throttle`` and `LimitRate` hold a request back.
public struct Throttling: Hashable, Sendable {
    /// Held back, with priority 0.
    public static let always = Throttling(priority: 0)

    /// Passes at once and counts for nothing.
    public static let never = Throttling(priority: nil)

    /// Held back; of those that wait, a higher priority goes first, and within one, whoever came first.
    public static func priority(_ priority: Int) -> Throttling { Throttling(priority: priority) }

    let priority: Int?
}

extension HTTPRequestOptions {
    /// See ``HTTPRequest/throttling``.
    public var throttling: Throttling {
        get { self[ThrottlingOption.self] }
        set { self[ThrottlingOption.self] = newValue }
    }
}

extension WithOptions {
    /// See ``RequestTemplate/throttling(_:)``.
    public func throttling(_ throttling: Throttling) -> Self {
        option(ThrottlingOption.self, throttling)
    }
}
