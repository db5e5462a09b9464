// SPDX-License-Identifier: MIT
extension MockServer {
    /// Lists requests, connections and failures.
    ///
    /// The record contains a request before its response is sent, and a connection's end before the client can notice
    /// it. It counts sent bytes after the system has accepted them, so a client may have read them before.
    /// ``MockServer/record(when:)`` waits until the record fulfills a condition.
    public struct Record: Sendable {
        /// The requests, including truncated ones. The first complete one is first.
        public internal(set) var requests: [Request] = []
        /// The connections. The first accepted one is first, so the connection with number `n` has index `n - 1`.
        public internal(set) var connections: [Connection] = []
        /// The server's failures, such as errors from the closure, and malformed requests.
        public internal(set) var failures: [Failure] = []
        /// Whether the server has stopped, so that the record is final.
        var isFinal = false
    }

    /// A client's connection.
    public struct Connection: Sendable, Hashable {
        /// How a connection ended.
        public enum Ending: Sendable, Hashable {
            /// The client closed or reset it, or a socket or TLS error ended it.
            case byClient
            /// The server closed it, because the messages required it, because a fault did it, or because the server
            /// was stopped.
            case byServer
        }

        /// The connection's number, starting at 1.
        public let number: Int
        /// The connection's encryption, or nil without TLS and until the handshake is complete.
        public internal(set) var security: Security?
        /// How many requests began on the connection.
        public internal(set) var requests = 0
        /// How many responses were sent completely.
        public internal(set) var responses = 0
        /// How many bytes the socket has received.
        public internal(set) var bytesReceived = 0
        /// How many bytes the socket has sent.
        public internal(set) var bytesSent = 0
        /// How the connection ended. It's nil while the connection is open.
        public internal(set) var ending: Ending?

        /// Whether the connection is open.
        public var isOpen: Bool { ending == nil }
    }

    /// A failure in the server. A test should check that all failures are expected.
    ///
    /// ```swift
    /// #expect(server.failures.isEmpty)
    /// ```
    public struct Failure: Error, Sendable, CustomStringConvertible {
        /// The connection's number.
        public let connection: Int
        /// The request, or nil if none had arrived.
        public let request: Request?
        /// The error that was thrown.
        public let underlying: any Error

        /// The request and the error.
        public var description: String {
            "\(request.map { "\($0)" } ?? "connection \(connection)"): \(underlying)"
        }
    }
}
