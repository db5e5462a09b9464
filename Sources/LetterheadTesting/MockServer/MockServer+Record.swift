// SPDX-License-Identifier: MIT
extension MockServer {
    /// A record of requests, connections and failures.
    ///
    /// A request is recorded before its response is sent, and the end of a connection before the client can notice it.
    /// Sent bytes are counted after the system has accepted them, so a client may have read them before they are
    /// counted. ``MockServer/record(when:)`` waits until the record fulfills a condition.
    public struct Record: Sendable {
        /// The requests in the order of their completion, including truncated ones.
        public internal(set) var requests: [Request] = []
        /// The connections in the order in which they were accepted. The connection with number `n` has index `n - 1`.
        public internal(set) var connections: [Connection] = []
        /// The failures of the server, such as errors that the closure threw, and malformed requests.
        public internal(set) var failures: [Failure] = []
        /// Whether the server has stopped, so that the record is final.
        var isFinal = false
    }

    /// One connection of a client.
    public struct Connection: Sendable, Hashable {
        /// How a connection ended.
        public enum Ending: Sendable, Hashable {
            /// The client closed or reset it, or an error of the socket or of TLS ended it.
            case byClient
            /// The server closed it: because the messages required it, because of a fault, or because the server was
            /// stopped.
            case byServer
        }

        /// The number of the connection, starting at 1.
        public let number: Int
        /// The encryption of the connection, or nil without TLS, and until the handshake is complete.
        public internal(set) var security: Security?
        /// The number of requests that began on the connection.
        public internal(set) var requests = 0
        /// The number of responses that were sent completely.
        public internal(set) var responses = 0
        /// The number of bytes that were received on the socket.
        public internal(set) var bytesReceived = 0
        /// The number of bytes that were sent on the socket.
        public internal(set) var bytesSent = 0
        /// How the connection ended, or nil while it is open.
        public internal(set) var ending: Ending?

        /// Whether the connection is open.
        public var isOpen: Bool { ending == nil }
    }

    /// A failure of the server. A test should check that there are no unexpected failures.
    ///
    /// ```swift
    /// #expect(server.failures.isEmpty)
    /// ```
    public struct Failure: Error, Sendable, CustomStringConvertible {
        /// The number of the connection.
        public let connection: Int
        /// The request, or nil if none had been received.
        public let request: Request?
        /// The error that was thrown.
        public let underlying: any Error

        /// The request and the error.
        public var description: String {
            "\(request.map { "\($0)" } ?? "connection \(connection)"): \(underlying)"
        }
    }
}
