extension RequestTemplate {
    /// Sets whether the request is throttled, and its priority in the queue.
    public func throttling(_ throttling: Throttling) -> Modified<Self> {
        settings { $0.throttling = throttling }
    }
}

enum ThrottlingOption: HTTPRequestOption {
    static let defaultOptionValue = Throttling.always
}

extension RequestSettings {
    /// Whether the request is throttled, and its priority in the queue. Default: ``Throttling/always``.
    public var throttling: Throttling {
        get { self[option: ThrottlingOption.self] }
        set { self[option: ThrottlingOption.self] = newValue }
    }
}

/// A setting that determines whether ``Throttle`` and ``LimitRate`` limit a request.
public struct Throttling: Hashable, Sendable {
    /// Throttles the request, with priority 0.
    public static let always = Throttling(priority: 0)

    /// Sends the request at once, without counting it.
    public static let never = Throttling(priority: nil)

    /// Throttles the request with a priority. Requests with a higher priority are sent first; within a priority,
    /// requests are sent in order of arrival.
    public static func priority(_ priority: Int) -> Throttling { Throttling(priority: priority) }

    /// The priority in the queue, 0 unless it is set; nil if the request is not throttled.
    public let priority: Int?
}

extension Throttling {
    /// The requests that share a limit of ``Throttle`` or ``LimitRate``.
    public struct Scope: Sendable {
        private enum Kind: Sendable {
            case client, host
            case key(@Sendable (HTTPRequest) throws -> String)
        }

        private let kind: Kind

        /// All requests of the link.
        public static let client = Scope(kind: .client)

        /// The requests to the same scheme, host and port. Put the link below the environment, which sets the host.
        public static let host = Scope(kind: .host)

        /// The requests with the same key. If the closure throws, the request fails and nothing is sent.
        public static func key(_ key: @escaping @Sendable (HTTPRequest) throws -> String) -> Scope {
            Scope(kind: .key(key))
        }

        /// Whether the key is a custom one, whose closure may throw.
        var isOwn: Bool { if case .key = kind { true } else { false } }

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
                        message: "the closure for the key of a throttle threw \(type(of: error))",
                        mayHaveBeenSent: false)
                }
            }
        }
    }
}

/// Identifies the requests that share a limit.
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
