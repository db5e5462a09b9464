import Foundation

/// Through whom a transport connects.
///
/// ```swift
/// configuration.proxy = .http("proxy.example", port: 3128)
/// ```
public struct TransportProxy: Sendable, Hashable {
    enum Kind: Hashable {
        case direct
        case environment
        case server(scheme: String, host: String, port: Int)
    }

    let kind: Kind
    var credentials: Credentials?
    var exceptions: [String] = []

    struct Credentials: Hashable {
        let user: String
        let password: String

        /// Over HTTP a colon would end the user, and no control character can be sent (RFC 7617, 2).
        func brokenRule(mayContainColon: Bool) -> String? {
            if !mayContainColon, user.utf8.contains(UInt8(ascii: ":")) { return "the proxy's user contains a colon" }
            let isPrintable = (user + password).utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
            return isPrintable ? nil : "the proxy's user or password contains a control character"
        }
    }

    /// Nobody: straight to the server, whatever the environment says.
    public static let direct = TransportProxy(kind: .direct)

    /// Whom the process's environment names: `http_proxy`, `https_proxy` or `all_proxy`, and whom `no_proxy` leaves out.
    /// Whether it names anybody is found out with the first request.
    public static let environment = TransportProxy(kind: .environment)

    /// An HTTP proxy; requests over https go through a tunnel (CONNECT).
    public static func http(_ host: String, port: Int) -> TransportProxy {
        TransportProxy(kind: .server(scheme: "http", host: host, port: port))
    }

    /// An HTTP proxy that is itself reached over TLS.
    public static func https(_ host: String, port: Int) -> TransportProxy {
        TransportProxy(kind: .server(scheme: "https", host: host, port: port))
    }

    /// A SOCKS 5 proxy, which looks up the names of servers.
    public static func socks5(_ host: String, port: Int) -> TransportProxy {
        TransportProxy(kind: .server(scheme: "socks5h", host: host, port: port))
    }

    /// The same proxy with a user and a password, which are sent to the proxy alone.
    ///
    /// This is the one way to give credentials to a proxy. A request's own `Proxy-Authorization` is
    /// ``HTTPError/Code/invalidRequest``, also for plain http through a proxy that is configured: an exception, a redirect or
    /// the environment of the process may lead the request to the server itself, which must not see it.
    public func authenticated(user: String, password: String) -> TransportProxy {
        var proxy = self
        proxy.credentials = Credentials(user: user, password: password)
        return proxy
    }

    /// The same proxy, but for hosts of these names and of the domains under them, which are reached directly.
    public func except(_ hosts: [String]) -> TransportProxy {
        var proxy = self
        proxy.exceptions = hosts
        return proxy
    }

    /// Whether requests over http, or over https, may go through one.
    func isInUse(isSecure: Bool) -> Bool {
        switch kind {
        case .direct: false
        case .environment: isSecure ? Self.isInEnvironmentOfHTTPS : Self.isInEnvironmentOfHTTP
        case .server: true
        }
    }

    /// Whether the proxy may be one that is reached over TLS.
    var mayBeSecure: Bool {
        switch kind {
        case .direct: false
        case .environment: isInUse(isSecure: false) || isInUse(isSecure: true)
        case .server(let scheme, _, _): scheme == "https"
        }
    }

    // Looked up once: libcurl would look for each request.
    private static let isInEnvironmentOfHTTP = isInEnvironment(["http_proxy", "all_proxy", "ALL_PROXY"])
    private static let isInEnvironmentOfHTTPS = isInEnvironment([
        "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY",
    ])

    private static func isInEnvironment(_ names: [String]) -> Bool {
        let environment = ProcessInfo.processInfo.environment
        return names.contains { environment[$0]?.isEmpty == false }
    }

    /// What libcurl takes; nil leaves it to the environment.
    var url: String? {
        switch kind {
        case .direct: ""
        case .environment: isInUse(isSecure: false) || isInUse(isSecure: true) ? nil : ""
        case .server(let scheme, let host, let port): "\(scheme)://\(host):\(port)"
        }
    }

    var brokenRule: String? {
        guard case .server(let scheme, let host, let port) = kind else { return nil }
        if host.isEmpty || !host.utf8.allSatisfy({ ASCII.isTokenCharacter($0) || "[]:".utf8.contains($0) }) {
            return "the proxy's host is empty or malformed"
        }
        guard (1...65535).contains(port) else { return "the proxy's port is not in 1...65535" }
        return credentials?.brokenRule(mayContainColon: scheme.hasPrefix("socks"))
    }
}

extension TransportProxy: CustomStringConvertible, CustomReflectable {
    /// The proxy without its credentials.
    public var description: String {
        switch kind {
        case .direct: "direct"
        case .environment: "environment"
        case .server(let scheme, let host, let port): "\(scheme)://\(host):\(port)"
        }
    }

    /// The description only, so that no dump prints a password.
    public var customMirror: Mirror { Mirror(describing: self) }
}
