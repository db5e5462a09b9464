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
