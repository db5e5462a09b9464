import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#else
    import Security
#endif

extension TransportConfiguration {
    /// A session that keeps nothing: no cache, no cookies, no credentials.
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

    /// Whole seconds, at least one: Foundation on Linux cuts fractions off, and takes less for none at all.
    var idleSeconds: TimeInterval { Self.seconds(of: idleTimeout) }

    /// The same for a request, which may have a limit of its own.
    func idleSeconds(for request: HTTPRequest) -> TimeInterval { Self.seconds(of: request.idleTimeout ?? idleTimeout) }

    private static func seconds(of limit: Duration?) -> TimeInterval {
        guard let limit else { return 86_400 }
        return min(86_400, max(1, (limit / .seconds(1)).rounded(.up)))
    }

    /// Which setting is out of its range, or nothing that `URLSession` has means for.
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
        if let brokenRule { return brokenRule }
        guard self != supported else { return nil }
        let changed = unsupportedNames(supported).joined(separator: ", ")
        return "URLSession has no means for \(changed); it can set \(names) of a TransportConfiguration"
    }

    /// The settings that differ from those that `URLSession` has means for.
    private func unsupportedNames(_ supported: TransportConfiguration) -> [String] {
        let settings: [(name: String, isChanged: Bool)] = [
            ("connectTimeout", connectTimeout != supported.connectTimeout),
            ("maximumConnections", maximumConnections != supported.maximumConnections),
            ("maximumHeadSize", maximumHeadSize != supported.maximumHeadSize), ("proxy", proxy != supported.proxy),
            ("security", security != supported.security), ("unixSocketPath", unixSocketPath != nil),
            ("decodesContent", !decodesContent),
            ("maximumDecodingRatio", maximumDecodingRatio != supported.maximumDecodingRatio),
        ]
        let names = settings.filter(\.isChanged).map(\.name)
        return names.isEmpty ? ["another setting"] : names
    }
}

/// A configuration of Foundation's that nobody else can change.
///
/// `@unchecked Sendable`: the copy is private, and is read only, by sessions that copy it once more.
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
    /// A new queue that runs one operation at a time, as a delegate needs it.
    fileprivate static var serial: OperationQueue {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        return queue
    }
}
