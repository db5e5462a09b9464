#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension HTTPClient {
    /// The platform's transport, one value for the process, so that clients share their connections: libcurl's on Linux,
    /// URLSession's on Apple platforms.
    ///
    /// The transport at the end of a chain is the only part of the library that opens a connection.
    public static var defaultTransport: any HTTPLoader {
        #if os(Linux)
            CurlLoader.shared
        #else
            URLSessionLoader.shared
        #endif
    }

    /// A transport of the platform's kind with a configuration of its own: keep it, for its connections live with it.
    ///
    /// - Parameter configuration: how to connect. What the platform's transport cannot do is `.invalidRequest` at each
    ///   load, naming the setting.
    public static func makeTransport(_ configuration: TransportConfiguration) -> any HTTPLoader {
        #if os(Linux)
            CurlLoader(configuration)
        #else
            URLSessionLoader(configuration)
        #endif
    }

    /// A transport over Foundation's `URLSession` with a session configuration: for its proxies, its protocol classes, its
    /// TLS settings, its service type, or to use the cache, the cookies and the credentials of a session that a program
    /// has already: `makeTransport(sessionConfiguration: session.configuration)`.
    ///
    /// Everything in the configuration holds, and the transport has its own session. `timeoutIntervalForRequest` is the
    /// idle limit, unless a request sets ``HTTPRequest/idleTimeout``. Redirects are responses, as with every transport. A
    /// cache, cookies and credentials of the session work below the library, which does not see them: a response may come
    /// from the cache, and ``reset()`` does not wipe them. What `URLSession` cannot do is listed in <doc:TheTransport>.
    ///
    /// - Parameter sessionConfiguration: the configuration; later changes to it have no effect.
    public static func makeTransport(sessionConfiguration: URLSessionConfiguration) -> any HTTPLoader {
        URLSessionLoader(sessionConfiguration: sessionConfiguration)
    }
}
