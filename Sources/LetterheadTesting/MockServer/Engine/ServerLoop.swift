// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Letterhead
import Synchronization

/// A thread that serves all connections of a server with `poll`.
///
/// One thread for all connections has several advantages over one thread for each:
///
/// - Hundreds of connections need no stacks, and the state needs no locks.
/// - While a closure runs, the loop notices that a client disconnects. A thread that waits for the closure would not.
/// - Stopping the server means ending one loop.
///
/// `poll` is the same on all platforms, and polling several hundred descriptors costs less than responding to one
/// request. Closures run as tasks in the concurrency pool, and the loop doesn't, so a closure that blocks doesn't delay
/// other connections.
final class ServerLoop {
    // This type is a class because all connections share one thread and its state.
    let configuration: MockServer.Configuration
    let inbox: ServerInbox
    let journal: Watched<MockServer.Record>
    let queue: AnswerQueue
    let closure: MockServer.Closure
    /// The buffer for reading. All connections share it, because only one reads at any time.
    var scratch = [UInt8](repeating: 0, count: 131_072)
    /// How many tasks have not yet sent their last message.
    var runningTasks = 0

    private let listener: ListeningSocket
    private let makeStream: StreamMaker
    private var connections: [ServerConnection] = []
    private var accepted = 0
    /// Whether the process had no free descriptor for a new connection. The loop tries again when one may be free.
    private var isExhausted = false
    private var isStopping = false
    private var waitingForStop: [CheckedContinuation<Void, Never>] = []
    private var polls: [pollfd] = []

    /// Creates the stream for an accepted socket.
    typealias StreamMaker = @Sendable (SystemSocket) throws -> any ServerStream

    init(
        listener: ListeningSocket, makeStream: @escaping StreamMaker, configuration: MockServer.Configuration,
        inbox: ServerInbox, journal: Watched<MockServer.Record>, queue: AnswerQueue,
        closure: @escaping MockServer.Closure
    ) {
        (self.listener, self.makeStream, self.configuration) = (listener, makeStream, configuration)
        (self.inbox, self.journal, self.queue, self.closure) = (inbox, journal, queue, closure)
    }

    /// Runs until the server is stopped and everything has ended.
    func run() {
        while true {
            let messages = inbox.take()
            for message in messages { message(self) }
            forgetClosed()
            guard messages.isEmpty else { continue }
            if isStopping, runningTasks == 0, inbox.closeIfEmpty() { break }
            wait()
        }
        journal.change { $0.isFinal = true }
        for waiting in waitingForStop { waiting.resume() }
    }

    private func wait() {
        preparePolls()
        // If there is no free descriptor, the loop accepts again when a connection closes. It also tries after a delay,
        // because other code may have freed a descriptor.
        let triesAgain = isExhausted && !isStopping
        // The system changes only the entries that it receives.
        let ready = unsafe poll(&polls, nfds_t(polls.count), triesAgain ? 50 : -1)
        if ready == 0, triesAgain { return accept() }
        guard ready > 0 else { return }
        if polls[0].revents != 0 { inbox.drain() }
        for index in connections.indices where polls[index + 2].revents != 0 {
            connections[index].ready(polls[index + 2].revents)
        }
        if polls[1].revents != 0 { accept() }
        forgetClosed()
    }

    private func preparePolls() {
        polls.removeAll(keepingCapacity: true)
        polls.append(pollfd(fd: inbox.descriptor, events: Int16(POLLIN), revents: 0))
        let listens = !isStopping && !isExhausted
        polls.append(pollfd(fd: listens ? listener.socket.descriptor : -1, events: Int16(POLLIN), revents: 0))
        for connection in connections {
            let events = connection.pollEvents
            let descriptor = events == nil ? -1 : connection.stream.socket.descriptor
            polls.append(pollfd(fd: descriptor, events: events ?? 0, revents: 0))
        }
    }

    private func accept() {
        do {
            while let socket = try listener.socket.accepted() { try serve(socket) }
        } catch {
            let wasExhausted = isExhausted
            isExhausted = (error as? SocketFailure)?.isExhaustion == true
            if wasExhausted, isExhausted { return }
            journal.change {
                $0.failures.append(MockServer.Failure(connection: accepted + 1, request: nil, underlying: error))
            }
        }
    }

    private func serve(_ socket: SystemSocket) throws {
        do {
            let stream = try makeStream(socket)
            accepted += 1
            let connection = ServerConnection(number: accepted, stream: stream, loop: self)
            connections.append(connection)
            connection.advance()
        } catch {
            socket.release()
            throw error
        }
    }

    private func forgetClosed() {
        let count = connections.count
        connections.removeAll { $0.state == .closed }
        if connections.count < count { isExhausted = false }
    }

    /// Returns a connection by its number, or nil if it has closed.
    func connection(_ number: Int) -> ServerConnection? { connections.first { $0.number == number } }

    func closeConnections() {
        for connection in connections { connection.close(.byServer) }
        forgetClosed()
    }

    /// Closes the listening socket and all connections.
    ///
    /// - Parameter continuation: resumed when all connections and tasks have ended.
    func stop(_ continuation: CheckedContinuation<Void, Never>?) {
        if !isStopping { listener.socket.release() }
        isStopping = true
        closeConnections()
        if let continuation { waitingForStop.append(continuation) }
    }
}

// The loop ends only after its tasks. It knows when they end from their last messages. A cancelled task sends one, too.
extension ServerLoop {
    /// Calls the closure in a task that the connection can cancel.
    func askClosure(_ request: MockServer.Request) -> Task<Void, Never> {
        runningTasks += 1
        return Task { [closure, inbox] in
            let result: Result<MockServer.Response, any Error>
            do { result = .success(try await closure(request)) } catch { result = .failure(error) }
            inbox.post { $0?.taskEnded(of: request.connection) { $0.answered(result) } }
        }
    }

    /// Iterates over body chunks. The next chunk is requested after the previous one has been sent.
    func pull(_ chunks: @escaping MockServer.Response.Chunks, connection: Int) -> Task<Void, Never> {
        runningTasks += 1
        return Task { [inbox] in
            var failure: (any Error)?
            do {
                try await chunks { chunk in
                    try await withCheckedThrowingContinuation { continuation in
                        inbox.post { $0.send(chunk, to: connection, continuation) }
                    }
                }
            } catch {
                failure = error
            }
            inbox.post { [failure] in $0?.taskEnded(of: connection) { $0.streamEnded(failure) } }
        }
    }

    /// Calls `tick` of a connection after a duration.
    func tick(after duration: Duration, connection: Int, wait: Int) -> Task<Void, Never> {
        runningTasks += 1
        return Task { [configuration, inbox] in
            try? await configuration.clock.pause(for: duration)
            inbox.post { $0?.taskEnded(of: connection) { $0.tick(wait: wait) } }
        }
    }

    /// Notes that a task has ended, and lets its connection continue.
    private func taskEnded(of number: Int, _ change: (ServerConnection) -> Void) {
        runningTasks -= 1
        guard let connection = connection(number) else { return }
        change(connection)
        connection.advance()
    }
}

extension ServerLoop? {
    /// Sends one body chunk. The continuation resumes when the chunk has been sent, and throws an error if sending
    /// fails.
    fileprivate func send(_ chunk: Data, to number: Int, _ continuation: CheckedContinuation<Void, any Error>) {
        guard let connection = self?.connection(number) else {
            return continuation.resume(throwing: CancellationError())
        }
        connection.chunk(chunk, continuation)
        connection.advance()
    }
}

/// The messages for the loop. A new message ends the current wait.
final class ServerInbox: Sendable {
    // This type is a class because all tasks and threads post to the same inbox.

    /// A function that runs on the loop thread. If the loop has ended, it receives nil, and must resume what waits for
    /// it.
    typealias Message = @Sendable (ServerLoop?) -> Void

    private struct State {
        var messages: [Message] = []
        var loopWaits = false
        var isClosed = false
    }

    /// The end of a pipe that becomes readable if a message arrives while the loop waits.
    let descriptor: Int32
    private let start: Int32
    private let state = Mutex(State())

    init() throws(SocketFailure) {
        // The system stores two descriptors.
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { throw SocketFailure("pipe") }
        ends.forEach(SystemSocket.makeNonblocking)
        (descriptor, start) = (ends[0], ends[1])
    }

    func post(_ message: @escaping Message) {
        let isClosed = state.withLock { state in
            guard !state.isClosed else { return true }
            state.messages.append(message)
            if state.loopWaits {
                // The lock keeps the pipe open. Its descriptor therefore can't be reused before this write of one byte.
                state.loopWaits = false
                _ = unsafe write(start, "x", 1)
            }
            return false
        }
        if isClosed { message(nil) }
    }

    /// Removes and returns all messages. If there are none, the next message ends a wait.
    func take() -> [Message] {
        state.withLock { state in
            state.loopWaits = state.messages.isEmpty
            defer { state.messages = [] }
            return state.messages
        }
    }

    /// Reads the bytes in the pipe, so that the next wait blocks again.
    func drain() {
        // The system writes at most as many bytes as the variable has.
        var bytes: (UInt64, UInt64) = (0, 0)
        while unsafe read(descriptor, &bytes, MemoryLayout.size(ofValue: bytes)) == MemoryLayout.size(ofValue: bytes) {}
    }

    /// Closes the inbox if it's empty. Returns whether it's closed now.
    func closeIfEmpty() -> Bool {
        state.withLock { state in
            guard state.messages.isEmpty else { return false }
            state.isClosed = true
            _ = close(start)
            _ = close(descriptor)
            return true
        }
    }
}
