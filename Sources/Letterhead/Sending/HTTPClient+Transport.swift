#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension HTTPClient {
    /// The transport of the platform: libcurl on Linux, URLSession on Apple platforms. The process has one value, so
    /// that clients share their connections.
    ///
    /// The transport at the end of a chain is the only part of the library that opens connections.
    public static var defaultTransport: any HTTPLoader {
        #if os(Linux)
            CurlLoader.shared
        #else
            URLSessionLoader.shared
        #endif
    }

    /// Creates a transport of the platform with a configuration. Keep it: its connections are closed with it.
    ///
    /// - Parameter configuration: the settings of the transport. A setting that the platform's transport does not
    ///   support fails each request with `.invalidRequest` and the name of the setting.
    public static func makeTransport(_ configuration: TransportConfiguration) -> any HTTPLoader {
        #if os(Linux)
            CurlLoader(configuration)
        #else
            URLSessionLoader(configuration)
        #endif
    }

    /// Creates a transport based on Foundation's `URLSession` with a session configuration. Use it for proxies,
    /// protocol classes, TLS settings or service types, or to share the cache, the cookies and the credentials of an
    /// existing session: `makeTransport(sessionConfiguration: session.configuration)`.
    ///
    /// All settings of the configuration apply, and the transport creates a separate session.
    /// `timeoutIntervalForRequest` is the idle limit, unless a request sets ``HTTPRequest/idleTimeout``. Redirects are
    /// returned as responses, as with every transport. The cache, the cookies and the credentials of the session work
    /// below the library: a response may come from the cache, and ``reset()`` does not remove them. <doc:TheTransport>
    /// lists what `URLSession` does not support.
    ///
    /// - Parameter sessionConfiguration: the configuration. Later changes to it have no effect.
    public static func makeTransport(sessionConfiguration: URLSessionConfiguration) -> any HTTPLoader {
        URLSessionLoader(sessionConfiguration: sessionConfiguration)
    }
}
