extension MockServer {
    /// What a server has seen.
    ///
    /// A request is recorded before it is answered, and the end of a connection before the client can see it. What went
    /// out is counted when the system has taken it, which a client may have read by then: ``MockServer/record(when:)``
    /// waits.
    public struct Record: Sendable {
        /// The requests, in the order in which they were complete, with those that were cut short.
        public internal(set) var requests: [Request] = []
        /// The connections, in the order in which they were accepted; the one with number `n` is at `n - 1`.
        public internal(set) var connections: [Connection] = []
        /// What went wrong at the server: errors that the closure threw, requests that were none, and the like.
        public internal(set) var failures: [Failure] = []
    }

    /// One connection of a client.
    public struct Connection: Sendable, Hashable {
        /// How a connection came to its end.
        public enum Ending: Sendable, Hashable {
            /// The client closed or reset it.
            case byClient
            /// The server closed it: as the messages said, by a fault, or because it was stopped.
            case byServer
        }

        /// Its number, from 1.
        public let number: Int
        /// How it is encrypted; nil without TLS, and while the handshake is going on.
        public internal(set) var security: Security?
        /// How many requests began on it.
        public internal(set) var requests = 0
        /// How many responses went out on it to their last byte.
        public internal(set) var responses = 0
        /// How many bytes came from the client, as they crossed the socket.
        public internal(set) var bytesReceived = 0
        /// How many bytes went to the client, as they crossed the socket.
        public internal(set) var bytesSent = 0
        /// How it ended; nil while it is open.
        public internal(set) var ending: Ending?

        /// Whether it is open still.
        public var isOpen: Bool { ending == nil }
    }

    /// Something that went wrong at the server, which a test should know of.
    ///
    /// ```swift
    /// #expect(server.failures.isEmpty)
    /// ```
    public struct Failure: Error, Sendable, CustomStringConvertible {
        /// The number of the connection.
        public let connection: Int
        /// The request, when there was one.
        public let request: Request?
        /// What was thrown.
        public let underlying: any Error

        /// What failed and why.
        public var description: String {
            "\(request.map { "\($0)" } ?? "connection \(connection)"): \(underlying)"
        }
    }
}
