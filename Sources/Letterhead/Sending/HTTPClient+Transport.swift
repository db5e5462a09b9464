#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension HTTPClient {
    /// The default transport: libcurl on Linux, URLSession on Apple platforms. All clients of a process share it, so
    /// they share their connections.
    ///
    /// A reset of a client ends the requests of this client, and its later requests use new connections; requests of
    /// other clients continue. A chain without a client needs ``Autocancel`` for its requests to be cancelled by a reset.
    ///
    /// Only transports open connections; no other part of the library does.
    public static var defaultTransport: any HTTPLoader {
        #if os(Linux)
            CurlLoader.shared
        #else
            URLSessionLoader.shared
        #endif
    }

    /// Whether a transport ends the requests of a client at a reset. Other transports need ``Autocancel``.
    static func endsItsRequests(_ transport: any HTTPLoader) -> Bool {
        #if os(Linux)
            transport is CurlLoader || transport is URLSessionLoader
        #else
            transport is URLSessionLoader
        #endif
    }

    /// Creates a transport with a configuration: libcurl on Linux, URLSession on Apple platforms.
    ///
    /// Keep the transport and use it for several clients: when it is released, its connections are closed.
    ///
    /// - Parameter configuration: the settings of the transport. If the transport of the platform does not support a
    ///   setting, each request fails with `.invalidRequest`, and the message names the setting.
    public static func makeTransport(_ configuration: TransportConfiguration) -> any HTTPLoader {
        #if os(Linux)
            CurlLoader(configuration)
        #else
            URLSessionLoader(configuration)
        #endif
    }

    /// Creates a transport that uses Foundation's `URLSession` with a session configuration.
    ///
    /// Use it to set proxies, protocol classes, TLS settings or service types. To share the cache, the cookies and the
    /// credentials of an existing session, write `makeTransport(sessionConfiguration: session.configuration)`.
    ///
    /// The transport creates a separate session, to which all settings of the configuration apply.
    /// `timeoutIntervalForRequest` is the idle timeout, unless a request sets ``RequestSettings/idleTimeout``. The
    /// session does not follow redirects, because a link of the chain follows them. The session manages its cache,
    /// cookies and credentials itself: a response may come from the cache, and ``reset()`` does not remove them.
    /// <doc:TheTransport> lists what `URLSession` does not support.
    ///
    /// - Parameter sessionConfiguration: the configuration. Later changes to it have no effect.
    public static func makeTransport(sessionConfiguration: URLSessionConfiguration) -> any HTTPLoader {
        URLSessionLoader(sessionConfiguration: sessionConfiguration)
    }
}
