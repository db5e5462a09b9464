extension MockServer {
    /// The settings of a server.
    public struct Configuration: Sendable {
        /// The port on 127.0.0.1. Default: 0 (a free port that the system chooses, so that tests can run in parallel).
        public var port = 0
        /// The certificate for TLS. Default: nil (plain HTTP).
        public var tls: TLS?
        /// The maximum size of a request line and its header fields, in bytes. The server responds to a larger head
        /// with 431. Default: 65,536.
        public var headLimit = 65_536
        /// The number of bytes of a request body that ``Request/body`` keeps. Further bytes are read, counted and
        /// discarded. Default: no limit.
        public var keptBodySize = Int.max
        /// The number of requests that ``MockServer/requests`` keeps; later requests are not kept. Set 0 for a
        /// benchmark. Default: no limit.
        public var keptRequests = Int.max
        /// Whether the server responds to `Expect: 100-continue` with `100 Continue`. False simulates a server that
        /// ignores the expectation. Default: true.
        public var sendsContinue = true
        /// The clock for the delays of faults: ``Effect/stall(for:)`` and ``Effect/slow(bytes:every:)``. Default: the
        /// continuous clock.
        public var clock: any Clock<Duration> = ContinuousClock()

        /// Creates the default settings.
        public init() {}
    }
}
