public import Foundation
import Synchronization

/// A real HTTP/1.1 server on a loopback socket, for tests that want to see the bytes go over a wire.
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
/// Every test may start one of its own: that takes less than a millisecond, and each has its own port. Requests on one
/// connection are answered in order, those on several at the same time. Connections are kept alive, bodies may be
/// chunked both ways, and `Expect: 100-continue` gets its answer.
///
/// **Answers.** The closure answers, as an async function that may throw: an error is a 500 whose body names it, and
/// one of the ``failures``. Its task is cancelled when the client leaves. ``enqueue(_:times:)`` puts an ``Answer``
/// before it: a response for the next request, raw bytes, or a fault.
///
/// **Faults.** Each ``Moment`` of an exchange can meet with each ``Effect``: what a client does when the server resets
/// the connection in the middle of a body is one line to try.
///
/// ```swift
/// server.enqueue(.response(.text("half of this arrives")).fault(.reset, at: .responseBody))
/// ```
///
/// **TLS.** With a ``Configuration/tls`` it speaks https, by any certificate that you give it: a good one, an expired
/// one, one for another host.
///
/// **Records.** ``requests``, ``connections`` and ``failures`` say what happened; ``record(when:)`` waits for it, so
/// that no test sleeps.
///
/// It listens on 127.0.0.1 only, and is for tests and demonstrations: what it receives it keeps in memory.
public final class MockServer: Sendable {
    // A class, because it is one server with a life: a socket, a thread, and what it has recorded.

    /// Answers a request. It runs in a task of its own, which is cancelled when the client leaves or the server stops.
    public typealias Closure = @Sendable (Request) async throws -> Response

    /// The error of who waits for something that a stopped server will never do.
    public struct HasStopped: Error, Sendable {}

    /// The error of a request that found no answer in the queue of a server without a closure.
    public struct HasNoAnswer: Error, Sendable, CustomStringConvertible {
        /// What to do about it.
        public let description = "no answer is queued that fits this request, and the server has no closure"
    }

    /// Where it listens: `http://127.0.0.1:PORT`, without a path; `https` with TLS.
    public let url: URL
    /// The port that it listens at.
    public let port: Int
    private let inbox: ServerInbox
    private let journal: ServerJournal
    private let queue = AnswerQueue()

    private init(url: URL, port: Int, inbox: ServerInbox, journal: ServerJournal) {
        self.url = url
        self.port = port
        self.inbox = inbox
        self.journal = journal
    }

    deinit { inbox.post(.stop(nil)) }

    /// Starts a server, which listens when this returns.
    ///
    /// - Parameters:
    ///   - configuration: Default: a free port, no limits but on the size of a head.
    ///   - closure: answers what the queue does not. Default: a 500 and a failure, for tests that queue all answers.
    /// - Throws: the system's reason, when no socket can be had; what is wrong with the certificate, the key or the
    ///   system's OpenSSL, when TLS was asked for.
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
        let server = MockServer(url: url, port: listener.port, inbox: inbox, journal: ServerJournal())
        server.run(listener, makeStream, configuration, closure ?? { _ in throw HasNoAnswer() })
        return server
    }

    /// Stops listening, closes every connection, cancels every closure and waits until all of that has ended.
    ///
    /// A closure that does not heed its cancellation is waited for. Stopping twice is no error.
    public func stop() async {
        await withCheckedContinuation { inbox.post(.stop($0)) }
    }

    /// Closes all connections that are open now, idle or not, and goes on listening.
    ///
    /// For tests of what a client does with a kept connection that the server has closed.
    public func closeConnections() async {
        await withCheckedContinuation { inbox.post(.closeConnections($0)) }
    }

    /// Puts an answer at the end of the queue, for the next request that it fits.
    ///
    /// - Parameters:
    ///   - answer: what is answered, and with which faults.
    ///   - times: for how many requests; `.max` for all that come. Default: one.
    public func enqueue(_ answer: Answer, times: Int = 1) {
        queue.append(answer, times: times)
    }

    /// Puts answers at the end of the queue, one for each request.
    public func enqueue(_ first: Answer, _ second: Answer, _ more: Answer...) {
        for answer in [first, second] + more { queue.append(answer) }
    }

    /// How many answers in the queue no request has taken.
    public var unused: Int { queue.count }

    /// The requests, in the order in which they were complete.
    public var requests: [Request] { journal.record.requests }
    /// The connections, in the order in which they came.
    public var connections: [Connection] { journal.record.connections }
    /// What went wrong at the server; a test that passes has none that it did not ask for.
    public var failures: [Failure] { journal.record.failures }

    /// Waits until the record fits a condition, and gives it.
    ///
    /// ```swift
    /// let record = try await server.record { $0.requests.count == 3 }
    /// task.cancel()
    /// try await server.record { $0.connections.first?.isOpen == false }
    /// ```
    ///
    /// - Parameter fits: asked at once, and whenever the record has changed.
    /// - Throws: `CancellationError` when the calling task is cancelled, ``HasStopped`` when the server has stopped.
    @discardableResult
    public func record(when fits: @Sendable (Record) -> Bool) async throws -> Record {
        try await journal.wait(until: fits)
    }

    private static func streamMaker(_ tls: TLS?) throws -> ServerLoop.StreamMaker {
        guard let tls else { return { PlainStream($0) } }
        let context = try TLSContext(tls)
        return { try TLSStream($0, context: context) }
    }

    private func run(
        _ listener: ListeningSocket, _ makeStream: @escaping ServerLoop.StreamMaker, _ configuration: Configuration,
        _ closure: @escaping Closure
    ) {
        let thread = Thread { [inbox, journal, queue] in
            let host = ServerHost(
                configuration: configuration, inbox: inbox, journal: journal, queue: queue, closure: closure)
            ServerLoop(listener: listener, host: host, makeStream: makeStream).run()
        }
        thread.name = "MockServer"
        thread.stackSize = 1 << 20
        thread.start()
    }
}
