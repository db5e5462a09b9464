// SPDX-License-Identifier: MIT
import LetterheadFoundation

extension TransportConfiguration {
    /// The proxy that a transport connects to instead of the server.
    ///
    /// ```swift
    /// configuration.proxy = .http("proxy.example", port: 3128).authenticated(user: "ada", password: password)
    /// ```
    public struct Proxy: Sendable, Hashable {
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

            /// Returns the rule that the credentials violate. With an HTTP proxy, a colon would end the user, and
            /// control characters can't be sent (RFC 7617, 2).
            func brokenRule(mayContainColon: Bool) -> String? {
                if !mayContainColon, user.utf8.contains(UInt8(ascii: ":")) {
                    return "the proxy's user contains a colon"
                }
                let isPrintable = (user + password).utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
                return isPrintable ? nil : "the proxy's user or password contains a control character"
            }
        }

        /// A direct connection to the server. Environment variables have no effect.
        public static let direct = TransportConfiguration.Proxy(kind: .direct)

        /// The proxy in the environment variables of the process: `http_proxy`, `https_proxy` or `all_proxy`, with the
        /// exceptions in `no_proxy`.
        ///
        /// The first request determines whether the variables specify a proxy. If they do, libcurl reads them again for
        /// each request. A program with more rights than its caller, such as a set-user-ID program, ignores the
        /// variables.
        public static let environment = TransportConfiguration.Proxy(kind: .environment)

        /// An HTTP proxy. Requests over https use a tunnel (CONNECT).
        public static func http(_ host: String, port: Int) -> TransportConfiguration.Proxy {
            TransportConfiguration.Proxy(kind: .server(scheme: "http", host: host, port: port))
        }

        /// An HTTP proxy with a TLS connection between the client and the proxy.
        public static func https(_ host: String, port: Int) -> TransportConfiguration.Proxy {
            TransportConfiguration.Proxy(kind: .server(scheme: "https", host: host, port: port))
        }

        /// A SOCKS 5 proxy. The proxy resolves the names of servers.
        public static func socks5(_ host: String, port: Int) -> TransportConfiguration.Proxy {
            TransportConfiguration.Proxy(kind: .server(scheme: "socks5h", host: host, port: port))
        }

        /// Returns the same proxy with a user and a password. Only the proxy receives them.
        ///
        /// Each request fails with ``HTTPError/Code/invalidRequest`` in these cases:
        ///
        /// - The user contains a colon (except for SOCKS).
        /// - The user or the password contains a control character.
        /// - The proxy is ``direct``.
        /// - The proxy is ``environment``. The environment variables must then contain its credentials.
        ///
        /// Don't set `Proxy-Authorization` in a request instead: the request fails with
        /// ``HTTPError/Code/invalidRequest``, even for plain http through a configured proxy. A proxy exception, a
        /// redirect or an environment variable could otherwise send the header directly to a server, which must not
        /// receive the proxy credentials.
        public func authenticated(user: String, password: String) -> TransportConfiguration.Proxy {
            var proxy = self
            proxy.credentials = Credentials(user: user, password: password)
            return proxy
        }

        /// Returns the same proxy with exceptions. Requests to these hosts, and to hosts in these domains, bypass the
        /// proxy.
        ///
        /// Each request fails with ``HTTPError/Code/invalidRequest`` if the proxy is ``direct``. It also fails if the
        /// proxy is ``environment``, because `no_proxy` must contain its exceptions.
        public func except(_ hosts: [String]) -> TransportConfiguration.Proxy {
            var proxy = self
            proxy.exceptions = hosts
            return proxy
        }

        /// Returns whether requests over http, or over https, may use a proxy.
        func isInUse(isSecure: Bool) -> Bool {
            switch kind {
            case .direct: false
            case .environment: isSecure ? Self.isInEnvironmentOfHTTPS : Self.isInEnvironmentOfHTTP
            case .server: true
            }
        }

        /// Whether the connection to the proxy may use TLS.
        var mayBeSecure: Bool {
            switch kind {
            case .direct: false
            case .environment: isInUse(isSecure: false) || isInUse(isSecure: true)
            case .server(let scheme, _, _): scheme == "https"
            }
        }

        // Looked up once. If no variable specifies a proxy, libcurl doesn't look up the variables for each request.
        private static let isInEnvironmentOfHTTP = isInEnvironment(["http_proxy", "all_proxy", "ALL_PROXY"])
        private static let isInEnvironmentOfHTTPS = isInEnvironment([
            "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY",
        ])

        private static func isInEnvironment(_ names: [String]) -> Bool {
            let environment = ProcessInfo.trustedVariables
            return names.contains { environment[$0]?.isEmpty == false }
        }

        /// The proxy URL for libcurl. Empty for no proxy. Nil leaves the choice to the environment variables.
        var url: String? {
            switch kind {
            case .direct: ""
            case .environment: isInUse(isSecure: false) || isInUse(isSecure: true) ? nil : ""
            case .server(let scheme, let host, let port): "\(scheme)://\(host):\(port)"
            }
        }

        var brokenRule: String? {
            guard case .server(let scheme, let host, let port) = kind else {
                if credentials == nil, exceptions.isEmpty { return nil }
                return kind == .direct
                    ? "a direct connection uses no proxy, so it can't have proxy credentials or exceptions"
                    : "a proxy from environment variables takes its credentials and exceptions from them, too"
            }
            if host.isEmpty || !host.utf8.allSatisfy({ ASCII.isTokenCharacter($0) || "[]:".utf8.contains($0) }) {
                return "the proxy's host is empty or malformed"
            }
            guard (1...65535).contains(port) else { return "the proxy's port is not in 1...65535" }
            return credentials?.brokenRule(mayContainColon: scheme.begins(with: "socks"))
        }
    }
}

extension TransportConfiguration.Proxy {
    /// What the request line contains as the target, without TLS.
    enum PlainTarget {
        case path
        /// The absolute URL without the fragment, for an HTTP proxy.
        case url
        /// The target that libcurl chooses, because only libcurl knows whether it uses a proxy.
        case libcurls

        init(_ proxy: TransportConfiguration.Proxy) {
            self =
                switch proxy.kind {
                case .direct: .path
                case .environment: proxy.isInUse(isSecure: false) ? .libcurls : .path
                case .server(let scheme, _, _):
                    scheme.begins(with: "socks") ? .path : proxy.exceptions.isEmpty ? .url : .libcurls
                }
        }
    }
}

extension TransportConfiguration.Proxy: CustomStringConvertible, CustomReflectable {
    /// The proxy without its credentials.
    public var description: String {
        switch kind {
        case .direct: "direct"
        case .environment: "environment"
        case .server(let scheme, let host, let port): "\(scheme)://\(host):\(port)"
        }
    }

    /// Contains only the description, so that `dump` prints no passwords.
    public var customMirror: Mirror { Mirror(describing: self) }
}

extension HTTPError {
    /// The status that the proxy responded to CONNECT with, if it refused to connect to the server. Otherwise nil.
    ///
    /// The error code is ``Code/proxyRefused`` for 401, 403 and 407, and ``Code/cannotConnect`` for any other status.
    public var proxyStatus: HTTPStatus? { (underlying as? ProxyRefusal)?.status }
}

/// The refusal of a proxy to connect to the server (RFC 9110, 9.3.6).
private struct ProxyRefusal: SafelyDescribed {
    let status: HTTPStatus

    var description: String { "the proxy responded to CONNECT with \(status)" }
}

extension TransportFailure {
    static func refused(byProxy status: HTTPStatus) -> TransportFailure {
        let refusal = ProxyRefusal(status: status)
        let isFinal = [401, 403, 407].contains(status.code)
        let advice = isFinal ? " (check proxy and its credentials)" : ""
        return TransportFailure(
            isFinal ? .proxyRefused : .cannotConnect, "\(refusal)\(advice)", mayHaveBeenSent: false, underlying: refusal
        )
    }
}
