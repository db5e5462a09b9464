// SPDX-License-Identifier: MIT
public import LetterheadFoundation
import Letterhead
import Synchronization

/// An HTTP/1.1 server on a loopback socket. Use it for tests that send real bytes over a connection.
///
/// ```swift
/// let server = try await MockServer.start { request in
///     switch (request.method, request.path) {
///     case (.get, "/users/ada"): return try .json(User(id: 1, login: "ada"))
///     default: return MockServer.Response(status: 404)
///     }
/// }
/// let client = HTTPClient(environment: ServerEnvironment(baseURL: server.url))
/// let ada = try await client.send(GetUser(login: "ada"))
///
/// #expect(server.requests.map(\.path) == ["/users/ada"])
/// #expect(server.failures.isEmpty)
/// await server.stop()
/// ```
///
/// Each test can start its own server: starting takes less than a millisecond, and each server has a separate port. The
/// server keeps connections alive, and supports chunked bodies and `Expect: 100-continue`. It responds to the requests
/// on one connection in order, and serves several connections at the same time.
///
/// ## Respond
///
/// The closure is an async function that may throw.
///
/// - If it throws an error, the response is a 500 that names the error, and ``failures`` contains it.
/// - If the client closes the connection, the closure task is cancelled.
///
/// To respond to the next request in a different way, queue an ``Answer`` with ``enqueue(_:times:)``. An answer is a
/// response or raw bytes, and can have faults. The server uses it for the next request that it matches, and doesn't
/// call the closure.
///
/// ## Cause faults
///
/// Combine any ``Moment`` with any ``Effect``. For example, test how a client handles a reset in the middle of a body:
///
/// ```swift
/// server.enqueue(.response(.text("half of this arrives")).fault(.reset, at: .responseBody))
/// ```
///
/// ## Use TLS
///
/// With a ``Configuration/tls``, the server uses https. You choose the certificate: a valid one, an expired one, or one
/// for a different host.
///
/// ## Observe the server
///
/// The server records its ``requests``, ``connections`` and ``failures``. ``record(when:)`` waits for an event, so that
/// tests needn't sleep.
///
/// The server listens on 127.0.0.1 only. It keeps all requests in memory, so use it only for tests and demonstrations.
public final class MockServer: Sendable {
    // This type is a class because it owns a socket, a thread and a record.

    /// A function that responds to a request.
    ///
    /// It runs in a separate task, which is cancelled if the client closes the connection or the server stops.
    public typealias Closure = @Sendable (Request) async throws -> Response

    /// The error that a waiting task receives if the server has stopped.
    public struct HasStopped: Error, Sendable {}

    /// The failure that is recorded if a request matches no queued answer and the server has no closure.
    public struct HasNoAnswer: Error, Sendable, CustomStringConvertible {
        /// The reason for the failure.
        public let description = "no answer is queued that fits this request, and the server has no closure"
    }

    /// The server URL without a path: `http://127.0.0.1:PORT`, or `https` with TLS.
    public let url: URL
    /// The port on 127.0.0.1 that the server listens on.
    public let port: Int
    private let inbox: ServerInbox
    private let journal = Watched(Record())
    private let queue = AnswerQueue()

    private init(url: URL, port: Int, inbox: ServerInbox) { (self.url, self.port, self.inbox) = (url, port, inbox) }

    deinit { inbox.post { $0?.stop(nil) } }

    /// Starts a server. It is listening when this method returns.
    ///
    /// - Parameters:
    ///   - configuration: the settings. Default: a free port, and no limits except for the head size.
    ///   - closure: responds to requests that match no queued answer. Default: nil. Such a request then receives a 500
    ///     and becomes a failure, which is useful for tests that queue all answers.
    /// - Throws: an error with the reason from the system if the server can't open a socket. With TLS, also an error
    ///   that describes the problem with the certificate, the key or the system OpenSSL.
    public static func start(
        _ configuration: Configuration = Configuration(),
        closure: Closure? = nil
    ) async throws -> MockServer {
        let makeStream = try streamMaker(configuration.tls)
        let listener = try ListeningSocket(port: configuration.port)
        let inbox: ServerInbox
        do { inbox = try ServerInbox() } catch {
            listener.socket.release()
            throw error
        }
        guard let url = URL(string: "\(configuration.tls == nil ? "http" : "https")://127.0.0.1:\(listener.port)")
        else { throw HasStopped() }
        let server = MockServer(url: url, port: listener.port, inbox: inbox)
        let isStarted = SystemThread.start("MockServer") { [journal = server.journal, queue = server.queue] in
            pthread_detach(pthread_self())
            ServerLoop(
                listener: listener, makeStream: makeStream, configuration: configuration, inbox: inbox,
                journal: journal, queue: queue, closure: closure ?? { _ in throw HasNoAnswer() }
            ).run()
        }
        guard isStarted else {
            listener.socket.release()
            throw SocketFailure("pthread_create")
        }
        return server
    }

    /// Stops listening, closes all connections, cancels all closures, and waits until they have ended.
    ///
    /// It waits even for closures that ignore their cancellation. Stopping a server twice has no further effect.
    public func stop() async {
        await withCheckedContinuation { continuation in
            inbox.post { $0?.stop(continuation) ?? continuation.resume() }
        }
    }

    /// Closes all open connections, including idle ones. The server continues to listen.
    ///
    /// Use it to test how a client handles a reused connection that the server has closed.
    public func closeConnections() async {
        await withCheckedContinuation { continuation in
            inbox.post { loop in
                loop?.closeConnections()
                continuation.resume()
            }
        }
    }

    /// Queues answers, each for the next request that matches it.
    ///
    /// - Parameters:
    ///   - answers: the answers, with or without faults.
    ///   - times: how many requests receive each answer, or `.max` for all requests. Default: 1.
    public func enqueue(_ answers: Answer..., times: Int = 1) {
        for answer in answers { queue.append(answer, times: times) }
    }

    /// How many answers in the queue are unused. At the end of a test, it is usually zero.
    public var unused: Int { queue.count }

    /// The requests, in the order in which they were complete.
    public var requests: [Request] { journal.value.requests }
    /// The connections, in the order in which they were accepted.
    public var connections: [Connection] { journal.value.connections }
    /// The failures in the server, such as errors from the closure. A test should check that all of them are expected.
    public var failures: [Failure] { journal.value.failures }

    /// Waits until the record fulfills a condition, and returns the record.
    ///
    /// ```swift
    /// let record = try await server.record { $0.requests.count == 3 }
    /// task.cancel()
    /// try await server.record { $0.connections.first?.isOpen == false }
    /// ```
    ///
    /// - Parameter fits: the condition. It is evaluated immediately and after each change.
    /// - Throws: `CancellationError` if the calling task is cancelled, ``HasStopped`` if the server has stopped.
    @discardableResult
    public func record(when fits: @Sendable (Record) -> Bool) async throws -> Record {
        let record = try await journal.value { record in
            if fits(record) { return true }
            try Task.checkCancellation()
            if record.isFinal { throw HasStopped() }
            return false
        }
        guard let record else { throw CancellationError() }
        return record
    }

    private static func streamMaker(_ tls: TLS?) throws -> ServerLoop.StreamMaker {
        guard let tls else { return { PlainStream($0) } }
        let context = try TLSContext(tls)
        return { try TLSStream($0, context: context) }
    }
}

extension MockServer {
    /// The settings for a server.
    public struct Configuration: Sendable {
        /// The port on 127.0.0.1. Default: 0 (a free port that the system chooses, so that tests can run in parallel).
        public var port = 0
        /// The certificate for TLS. Default: nil (plain HTTP).
        public var tls: TLS?
        /// The maximum size of a request line and its header fields, in bytes. If a head is larger, the server responds
        /// with 431. Default: 65,536.
        public var headLimit = 65_536
        /// How many body bytes ``Request/body`` keeps. The server reads, counts and discards further bytes. Default: no
        /// limit.
        public var keptBodySize = Int.max
        /// Whether the server responds to `Expect: 100-continue` with `100 Continue`. Set it to false to imitate a
        /// server that ignores the expectation. Default: true.
        public var sendsContinue = true
        /// The clock for delays in faults: ``Effect/stall(for:)`` and ``Effect/slow(bytes:every:)``. Default: the
        /// continuous clock.
        public var clock: any Clock<Duration> = ContinuousClock()

        /// Creates the default settings.
        public init() {}
    }
}

extension MockServer {
    /// TLS settings for a server: the certificate, the key, the protocol versions, and whether clients need a
    /// certificate.
    ///
    /// ```swift
    /// var configuration = MockServer.Configuration()
    /// configuration.tls = MockServer.TLS(certificate: pem, key: keyPEM)
    /// let server = try await MockServer.start(configuration) { _ in .text("private") }
    /// server.url    // https://127.0.0.1:PORT
    /// ```
    ///
    /// A server with TLS loads the system OpenSSL when it starts: `libssl.so.3`, or else `libssl.so.1.1`. On Apple
    /// platforms, it loads an installed `libssl.3.dylib`. If it finds none, ``MockServer/start(_:closure:)`` throws an
    /// error that lists the names that it tried. A failed handshake appears in ``Record/failures``.
    public struct TLS: Sendable {
        /// A TLS protocol version.
        public enum Version: Int, Sendable, Comparable {
            /// TLS 1.0, which clients should refuse.
            case v1_0 = 0x0301
            /// TLS 1.1, which clients should refuse.
            case v1_1 = 0x0302
            /// TLS 1.2.
            case v1_2 = 0x0303
            /// TLS 1.3.
            case v1_3 = 0x0304

            /// Returns whether the left version is older than the right one.
            public static func < (left: Version, right: Version) -> Bool { left.rawValue < right.rawValue }
        }

        /// The server certificate in PEM format, optionally followed by the other certificates of its chain. The server
        /// sends all of them.
        public var certificate: String
        /// The private key for the certificate in PEM format, without a passphrase.
        public var key: String
        /// The authority that must have signed the client certificate, in PEM format. Default: nil (the server requests
        /// no client certificate).
        public var clientAuthority: String?
        /// The versions that the server accepts. Default: 1.2 and 1.3.
        public var versions: ClosedRange<Version> = .v1_2 ... .v1_3

        /// Creates settings from a certificate and its key, both in PEM format.
        public init(certificate: String, key: String) {
            self.certificate = certificate
            self.key = key
        }
    }

    /// How a connection is encrypted.
    public struct Security: Sendable, Hashable {
        /// The version in the notation of OpenSSL, such as `TLSv1.3`.
        public let version: String
        /// The name that the client requested (SNI, RFC 6066, 3), or nil without one, as for an IP address.
        public let serverName: String?
    }
}

extension MockServer {
    /// Everything that a server has recorded: requests, connections and failures.
    ///
    /// - The record contains a request before the response is sent.
    /// - It contains the end of a connection before the client can notice it.
    /// - It counts sent bytes after the system has accepted them, so a client may have read them before.
    ///
    /// ``MockServer/record(when:)`` waits until the record fulfills a condition.
    public struct Record: Sendable {
        /// The requests, including truncated ones, in the order in which they were complete.
        public internal(set) var requests: [Request] = []
        /// The connections, in the order in which they were accepted. The connection with number `n` has index `n - 1`.
        public internal(set) var connections: [Connection] = []
        /// Failures in the server, such as errors from the closure, and malformed requests.
        public internal(set) var failures: [Failure] = []
        /// Whether the server has stopped, so that the record is final.
        var isFinal = false
    }

    /// A connection from a client.
    public struct Connection: Sendable, Hashable {
        /// How a connection ended.
        public enum Ending: Sendable, Hashable {
            /// The client closed or reset it, or it ended with a socket error or a TLS error.
            case byClient
            /// The server closed it. The messages required this, a fault caused it, or the server was stopped.
            case byServer
        }

        /// The connection number, starting at 1.
        public let number: Int
        /// How the connection is encrypted. Nil without TLS, and until the handshake is complete.
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
        /// The connection number, starting at 1.
        public let connection: Int
        /// The request, or nil if none has arrived.
        public let request: Request?
        /// The error that was thrown.
        public let underlying: any Error

        /// The request and the error on one line.
        public var description: String {
            "\(request.map { "\($0)" } ?? "connection \(connection)"): \(underlying)"
        }
    }
}
