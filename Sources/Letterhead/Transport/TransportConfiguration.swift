// SPDX-License-Identifier: MIT
public import LetterheadFoundation

/// The settings of a transport, such as time limits, connections, the proxy, TLS and HTTP versions.
///
/// ```swift
/// var configuration = TransportConfiguration()
/// configuration.connectTimeout = .seconds(3)
/// let client = HTTPClient(environment: .production, transport: HTTPClient.makeTransport(configuration))
/// ```
///
/// Change what you need, pass it to ``HTTPClient/makeTransport(_:)``, and share the transport between clients. The
/// settings are read once, when the transport is created. To set a time limit for one request, use
/// ``RequestSettings/connectTimeout`` or ``RequestSettings/idleTimeout`` instead.
///
/// - Letterhead reads only the environment variables that specify proxies and, on Linux, the trusted authorities.
///   libcurl also reads `SSLKEYLOGFILE`.
/// - `URLSession` supports only some of the settings. If you change any other setting, each request fails with
///   `.invalidRequest`. See <doc:TheTransport>.
public struct TransportConfiguration: Sendable, Hashable {
    /// The largest number of simultaneous connections to one origin (scheme, host and port). Default: 64.
    ///
    /// Further requests wait for a connection. The limit doesn't apply to HTTP/2, where requests share connections.
    public var maximumConnectionsPerHost = 64

    /// The largest number of simultaneous connections in total. Further requests wait for a connection. Default: 512.
    public var maximumConnections = 512

    /// The longest time that a request waits while no connection becomes free for it, or nil for no limit. It then
    /// fails with `.timedOut`. Default: 2 minutes.
    ///
    /// A streamed response keeps its connection until it has been read or dropped. With libcurl, the error message
    /// contains the number of such responses, and observers receive a summary of them. The default is longer than
    /// ``idleTimeout``, so that this limit first ends the requests to a server that doesn't respond.
    public var queueTimeout: Duration? = .seconds(120)

    /// The time limit for the name lookup, the connection and the TLS handshake together, or nil for no limit. Default:
    /// 10 seconds.
    ///
    /// Waiting for a free connection doesn't count. The precision is one millisecond.
    public var connectTimeout: Duration? = .seconds(10)

    /// The time limit from the last byte of the request to the first byte of the response. Default: nil (only
    /// ``idleTimeout`` applies).
    ///
    /// Set it to notice a server that accepts requests but doesn't respond.
    public var firstByteTimeout: Duration?

    /// The longest time without transferring a byte of a request or its response, or nil for no limit. Default: 60
    /// seconds.
    ///
    /// While a streamed body waits for its reader, the time doesn't count.
    public var idleTimeout: Duration? = .seconds(60)

    /// How long a connection without a request is kept for the next one, or nil for no limit. Default: 50 seconds,
    /// because usual load balancers and servers wait for 60 seconds or more.
    ///
    /// Set it lower than the time after which the server closes idle connections, so that no request is sent on a
    /// connection that the server is just closing. For connections that libcurl keeps, as with TLS by default, the time
    /// is rounded up to whole seconds, and to 2 seconds at least.
    public var idleConnectionTimeout: Duration? = .seconds(50)

    /// How long after its creation a connection is used for further requests, or nil for no limit. Default: 10 minutes.
    ///
    /// A new connection looks up the host name again, so that requests also reach servers that were added since. A
    /// connection that is always in use, as an HTTP/2 connection can be, is kept until it has no request. For connections
    /// that libcurl keeps, as with TLS by default, the time is rounded up to whole seconds, and to 2 seconds at least.
    /// The others end in the last tenth of the time, so that many of them aren't opened again together.
    public var maximumConnectionAge: Duration? = .seconds(600)

    /// The time until TCP probes an idle connection, and the interval of further probes, or nil for no probes. Default:
    /// 60 seconds.
    ///
    /// Set it lower than the time until a firewall or a load balancer on the way forgets a silent connection. The time
    /// is rounded up to whole seconds.
    public var tcpKeepAlive: Duration? = .seconds(60)

    /// The largest size of a response head, including trailers and interim responses, in bytes. With a larger head, the
    /// request fails with `.responseTooLarge`. Default: 256 KiB.
    public var maximumHeadSize = 256 << 10

    /// The proxy. Default: the proxy in the environment variables of the process.
    public var proxy = TransportConfiguration.Proxy.environment

    /// TLS settings, and the addresses that connections may be opened to. Default: the system authorities, TLS 1.2 or
    /// later, no client certificate, any address.
    public var security = TransportConfiguration.Security()

    /// The path of a Unix-domain socket, such as the socket of a local daemon. Requests for any host are sent to it.
    /// Default: nil (no socket).
    ///
    /// A request still contains the name of its host. With ``Security/addresses`` other than `.any`, each request fails
    /// with `.invalidRequest`.
    public var unixSocketPath: String?

    /// The HTTP versions that requests use. Default: `.http2`.
    public var httpVersions = HTTPVersions.http2

    /// The IP versions that connections use. Default: `.any`.
    public var addressFamily = AddressFamily.any

    /// The network interface, such as `eth0`, or the local IP address that connections use. Default: nil (the system
    /// chooses).
    public var networkInterface: String?

    /// The addresses to connect to instead of the host in a URL. Default: empty.
    ///
    /// Use it, for example, to test a new server before its name leads to it.
    ///
    /// A key is the `host:port` of a URL, and its value is the `host:port` that the transport connects to. The request
    /// still contains the host in the URL, and the certificate must be valid for that host.
    ///
    /// ```swift
    /// var configuration = TransportConfiguration()
    /// configuration.connectTo = ["api.example.com:443": "10.0.0.7:8443"]
    /// ```
    public var connectTo: [String: String] = [:]

    /// The URL of a DNS over HTTPS resolver (RFC 8484), such as `https://dns.example/dns-query`. Default: nil (the
    /// system resolver).
    ///
    /// The resolver replaces the system resolver, which then resolves only the name of the DNS over HTTPS resolver. If
    /// the resolver fails, the request fails with `.cannotConnect`. The resolver certificate is verified with the roots
    /// in ``security`` and the system certificates. Requests to the resolver use the proxy in the environment
    /// variables, and not ``proxy``.
    ///
    /// Each request fails with `.invalidRequest` if the value isn't an https URL, if it contains a user, a password or
    /// a fragment, or if the installed libcurl is older than 8.10.
    public var dnsOverHTTPS: URL?

    /// Whether the transport on Linux writes the requests that certainly use HTTP/1.1 and reads their responses itself,
    /// on connections that libcurl opens. Default: true, because it takes less processor time.
    ///
    /// These are requests without TLS, and requests over TLS if ``httpVersions`` is `.http1`. Set the property to false
    /// to let libcurl do all of it, for example to find the cause of a difference. Requests to an HTTP proxy, or that
    /// may use a different version, are always sent by libcurl, and so are all if ``proxy`` is an HTTP proxy. A later
    /// version removes this property.
    public var sendsHTTP1Directly = true

    /// The HTTP versions that a transport offers to servers.
    public enum HTTPVersions: Sendable, Hashable {
        /// HTTP/1.1 only.
        case http1
        /// Over TLS, HTTP/2 if the server negotiates it, and otherwise HTTP/1.1. Without TLS, HTTP/1.1.
        case http2
        /// The same as ``http2`` over TLS. Without TLS, HTTP/2 with prior knowledge (RFC 9113, 3.3): a request to a
        /// server that doesn't support it fails.
        ///
        /// A request without TLS fails with `.invalidRequest` if the proxy is an HTTP proxy, because such a proxy
        /// requires HTTP/1.1. It also fails if ``TransportConfiguration/proxy`` is `.environment` and the environment
        /// variables specify a proxy of any kind for http. Each request fails with `.invalidRequest` if the installed
        /// libcurl was built without HTTP/2.
        case http2PriorKnowledge
        /// Over TLS, HTTP/3 (RFC 9114) if it reaches the server, and otherwise HTTP/2 or HTTP/1.1. Without TLS,
        /// HTTP/1.1.
        ///
        /// Each request fails with `.invalidRequest` if the installed libcurl was built without HTTP/3, or is older
        /// than 7.88.
        case http3
    }

    /// The IP versions of the connections that a transport opens.
    public enum AddressFamily: Sendable, Hashable {
        /// IPv6 and IPv4. The transport tries both and uses the first connection.
        case any
        /// IPv4 only.
        case ipv4
        /// IPv6 only.
        case ipv6
    }

    /// Whether the transport decompresses responses. Default: true.
    ///
    /// - On Apple platforms, it decompresses gzip, deflate and brotli.
    /// - On Linux, it decompresses gzip and deflate, and also brotli and Zstandard if the libraries `libbrotlidec.so.1`
    ///   and `libzstd.so.1` are present. `Accept-Encoding` lists these codings in every request that neither sets it
    ///   nor requests a range.
    /// - A compressed response is decompressed even if the request sets `Accept-Encoding`.
    /// - The body and headers of a 206 stay unchanged, because a range refers to the compressed bytes (RFC 9110,
    ///   14.1.2).
    public var decodesContent = true

    /// The largest ratio of decompressed to compressed bytes for a body of more than 16 MiB after decompression.
    /// Default: 200.
    ///
    /// With a larger ratio, the request fails with `.responseTooLarge`. If a body has several content codings, the
    /// compressed bytes are the ones received over the connection.
    public var maximumDecodingRatio = 200

    /// Creates settings with the defaults that the properties describe.
    public init() {}

    /// Why a setting is invalid, or nil if all settings are valid.
    var brokenRule: String? {
        if maximumConnectionsPerHost < 1 { return "maximumConnectionsPerHost is less than 1" }
        if maximumConnections < 1 { return "maximumConnections is less than 1" }
        if let rule = proxy.brokenRule ?? security.brokenRule ?? security.addresses.brokenRule(for: self) {
            return rule
        }
        if let unixSocketPath, unixSocketPath.isEmpty || unixSocketPath.utf8.count > 107 {
            return "unixSocketPath is empty or longer than the 107 bytes that the system allows"
        }
        if let networkInterface,
            networkInterface.isEmpty || networkInterface.utf8.contains(where: { $0 <= 0x20 || $0 == UInt8(ascii: "!") })
        {
            return "networkInterface is not the name of an interface or an IP address"
        }
        if let dnsOverHTTPS, !Self.isResolver(dnsOverHTTPS) {
            return "dnsOverHTTPS must be an https URL without a user, a password or a fragment"
        }
        for entry in connectTo where !Self.isHostAndPort(entry.key) || !Self.isHostAndPort(entry.value) {
            return "a key or a value of connectTo is not host:port"
        }
        if maximumDecodingRatio < 1 { return "maximumDecodingRatio is less than 1" }
        if maximumHeadSize < 1 { return "maximumHeadSize is less than 1" }
        for (name, limit) in [
            ("queueTimeout", queueTimeout), ("connectTimeout", connectTimeout),
            ("firstByteTimeout", firstByteTimeout), ("idleTimeout", idleTimeout), ("tcpKeepAlive", tcpKeepAlive),
            ("idleConnectionTimeout", idleConnectionTimeout), ("maximumConnectionAge", maximumConnectionAge),
        ] {
            if let limit, limit <= .zero { return "\(name) is zero or less (use nil for no limit)" }
        }
        return nil
    }

    private static func isResolver(_ url: URL) -> Bool {
        guard let host = url.host(percentEncoded: true), !host.isEmpty else { return false }
        return url.scheme.map(ASCII.lowercased) == "https" && (1...65535).contains(url.port ?? 443) && url.user == nil
            && url.password == nil && url.fragment == nil
    }

    private static func isHostAndPort(_ text: String) -> Bool {
        guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")),
            let port = Int(text[text.utf8.index(after: colon)...]),
            (1...65535).contains(port)
        else { return false }
        let host = text[..<colon]
        let isLiteral = host.begins(with: "[") && host.ends(with: "]")
        let isAllowed = { (byte: UInt8) in byte > 0x20 && byte < 0x7F && !"/?#@".utf8.contains(byte) }
        return !host.isEmpty && host.utf8.allSatisfy(isAllowed) && (isLiteral || !host.utf8.contains(UInt8(ascii: ":")))
    }
}
