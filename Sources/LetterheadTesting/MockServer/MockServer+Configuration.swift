extension MockServer {
    /// How a server listens and what it keeps.
    public struct Configuration: Sendable {
        /// The port on 127.0.0.1; 0, the default, lets the system choose a free one, so that tests run side by side.
        public var port = 0
        /// The certificate by which the server speaks TLS; nil, the default, for plain HTTP.
        public var tls: TLS?
        /// The most bytes of a request's line and header fields. More is answered with 431. Default: 65,536.
        public var headLimit = 65_536
        /// How many bytes of a request's body are kept in ``Request/body``; more is read, counted and thrown away.
        /// Default: all.
        public var keptBodySize = Int.max
        /// How many requests are kept in ``MockServer/requests``, the first ones; 0 for a benchmark. Default: all.
        public var keptRequests = Int.max
        /// Whether a request with `Expect: 100-continue` gets its `100 Continue`. Default: true; false plays a server
        /// that ignores the expectation.
        public var sendsContinue = true
        /// The time by which faults wait: ``Effect/stall(for:)`` and ``Effect/slow(bytes:every:)``. Default: real time.
        public var clock: any Clock<Duration> = ContinuousClock()

        /// The defaults.
        public init() {}
    }
}
