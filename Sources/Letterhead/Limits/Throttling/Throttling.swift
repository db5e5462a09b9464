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

/// What is counted together by ``Throttle`` and `LimitRate`.
public struct ThrottleScope: Sendable {
    private enum Kind: Sendable {
        case client, host
        case key(@Sendable (HTTPRequest) throws -> String)
    }

    private let kind: Kind

    /// All requests of the link.
    public static let client = ThrottleScope(kind: .client)

    /// Those to the same scheme, host and port. Put the link behind the environment, which names the host.
    public static let host = ThrottleScope(kind: .host)

    /// Those with the same key; what the closure throws fails the load, and nothing is sent.
    public static func key(_ key: @escaping @Sendable (HTTPRequest) throws -> String) -> ThrottleScope {
        ThrottleScope(kind: .key(key))
    }

    /// Whether the key is a caller's, who may refuse to make one.
    var isOwn: Bool { if case .key = kind { true } else { false } }

    /// Whether all requests are counted together.
    var isClient: Bool { if case .client = kind { true } else { false } }

    func key(of request: HTTPRequest) throws(HTTPError) -> ThrottleKey {
        switch kind {
        case .client: return .client
        case .host: return request.origin.map { .host($0) } ?? .client
        case .key(let key):
            do {
                return .named(try key(request))
            } catch {
                let own = HTTPError(error, request: request)
                throw HTTPError(
                    own.code == .unknown ? .invalidRequest : own.code, request: request, underlying: error,
                    message: "the key of a throttle could not be made: its closure threw \(type(of: error))",
                    mayHaveBeenSent: false)
            }
        }
    }
}

/// Which requests are counted together.
struct ThrottleKey: Hashable, Sendable {
    private enum Kind: Hashable {
        case client
        case host(HTTPOrigin)
        case named(String)
    }

    private let kind: Kind

    static var client: ThrottleKey { ThrottleKey(kind: .client) }
    static func host(_ host: HTTPOrigin) -> ThrottleKey { ThrottleKey(kind: .host(host)) }
    static func named(_ name: String) -> ThrottleKey { ThrottleKey(kind: .named(name)) }

    var isClient: Bool { if case .client = kind { true } else { false } }
}
