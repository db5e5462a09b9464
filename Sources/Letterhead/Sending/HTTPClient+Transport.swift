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
}
