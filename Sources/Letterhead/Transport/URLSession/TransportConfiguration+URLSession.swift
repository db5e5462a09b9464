import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#else
    import Security
#endif

extension TransportConfiguration {
    /// Creates a session that stores nothing: no cache, no cookies, no credentials.
    func makeURLSession(delegate: URLSessionRelay) -> URLSession {
        let settings = URLSessionConfiguration.ephemeral
        settings.urlCache = nil
        settings.httpCookieStorage = nil
        settings.urlCredentialStorage = nil
        settings.httpShouldSetCookies = false
        settings.httpCookieAcceptPolicy = .never
        settings.httpMaximumConnectionsPerHost = maximumConnectionsPerHost
        settings.timeoutIntervalForRequest = idleSeconds
        #if !canImport(FoundationNetworking)
            settings.tlsMinimumSupportedProtocolVersion = security.minimumVersion == .tls13 ? .TLSv13 : .TLSv12
        #endif
        return URLSession(configuration: settings, delegate: delegate, delegateQueue: .serial)
    }

    /// The idle limit in whole seconds, at least one. Foundation on Linux truncates fractions, and treats zero as no
    /// limit.
    var idleSeconds: TimeInterval { Self.seconds(of: idleTimeout) }

    /// Returns the idle limit of a request in whole seconds.
    func idleSeconds(for request: HTTPRequest) -> TimeInterval { Self.seconds(of: request.idleTimeout ?? idleTimeout) }

    private static func seconds(of limit: Duration?) -> TimeInterval {
        guard let limit else { return 86_400 }
        return min(86_400, max(1, (limit / .seconds(1)).rounded(.up)))
    }

    /// The setting that is out of range or not supported by `URLSession`; nil if all settings can be applied.
    var brokenURLSessionRule: String? {
        let standard = TransportConfiguration()
        var supported = standard
        supported.maximumConnectionsPerHost = maximumConnectionsPerHost
        supported.firstByteTimeout = firstByteTimeout
        supported.idleTimeout = idleTimeout
        #if canImport(FoundationNetworking)
            let names = "maximumConnectionsPerHost, firstByteTimeout and idleTimeout"
        #else
            supported.security.minimumVersion = security.minimumVersion
            let names = "maximumConnectionsPerHost, firstByteTimeout, idleTimeout and security.minimumVersion"
        #endif
        guard self != supported else { return brokenRule }
        let changed = unsupportedNames(supported).joined(separator: ", ")
        return "URLSession does not support \(changed); the only supported settings are \(names)"
    }

    /// Returns the names of the changed settings that `URLSession` does not support.
    private func unsupportedNames(_ supported: TransportConfiguration) -> [String] {
        let settings: [(name: String, isChanged: Bool)] = [
            ("connectTimeout", connectTimeout != supported.connectTimeout),
            ("maximumConnections", maximumConnections != supported.maximumConnections),
            ("maximumHeadSize", maximumHeadSize != supported.maximumHeadSize), ("proxy", proxy != supported.proxy),
            ("security", security != supported.security), ("unixSocketPath", unixSocketPath != nil),
            ("httpVersions", httpVersions != .http2), ("addressFamily", addressFamily != .any),
            ("networkInterface", networkInterface != nil),
            ("connectTo", !connectTo.isEmpty), ("dnsOverHTTPS", dnsOverHTTPS != nil),
            ("decodesContent", !decodesContent),
            ("maximumDecodingRatio", maximumDecodingRatio != supported.maximumDecodingRatio),
        ]
        let names = settings.filter(\.isChanged).map(\.name)
        return names.isEmpty ? ["another setting"] : names
    }
}

/// A private copy of a Foundation configuration.
///
/// `@unchecked Sendable`: only sessions read the copy, and each session copies it again.
struct FoundationConfiguration: @unchecked Sendable {
    private let copy: URLSessionConfiguration

    init(_ configuration: URLSessionConfiguration) {
        copy = configuration.copy() as? URLSessionConfiguration ?? configuration
    }

    func makeURLSession(delegate: URLSessionRelay) -> URLSession {
        URLSession(configuration: copy, delegate: delegate, delegateQueue: .serial)
    }
}

extension OperationQueue {
    /// Creates a queue that runs one operation at a time, as required for a delegate.
    fileprivate static var serial: OperationQueue {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        return queue
    }
}
