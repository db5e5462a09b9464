// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// One thread that serves all connections of a server with `poll`.
///
/// A single thread has several advantages over one thread for each connection. Hundreds of connections need no stacks.
/// All state belongs to one thread and needs no locks. The loop detects that a client disconnects while a closure
/// runs; a thread that waits for the closure could not detect it. Stopping the server means ending one loop. `poll` is
/// the same on all platforms, and polling several hundred descriptors costs less than responding to one request.
/// Closures run as tasks in the concurrency pool, so a closure that blocks does not delay other connections. The
/// loop's thread is not part of that pool.
final class ServerLoop {
    // This type is a class because it is the state of one thread.
    private let listener: ListeningSocket
    private let host: ServerHost
    private let makeStream: StreamMaker
    private var connections: [ServerConnection] = []
    private var byNumber: [Int: ServerConnection] = [:]
    private var accepted = 0
    /// Whether a connection could not be accepted because the process has no free descriptors. Accepting is retried
    /// when one is free.
    private var isExhausted = false
    private var isStopping = false
    private var waitingForStop: [CheckedContinuation<Void, Never>] = []
    private var polls: [pollfd] = []

    /// Creates the stream of an accepted socket.
    typealias StreamMaker = @Sendable (SystemSocket) throws -> any ServerStream

    init(listener: ListeningSocket, host: ServerHost, makeStream: @escaping StreamMaker) {
        self.listener = listener
        self.host = host
        self.makeStream = makeStream
    }

    /// Runs until the server is stopped and everything has ended.
    func run() {
        while true {
            let messages = host.inbox.take()
            for message in messages { handle(message) }
            forgetClosed()
            guard messages.isEmpty else { continue }
            if isStopping, host.runningTasks == 0, host.inbox.closeIfEmpty() { break }
            wait()
        }
        host.journal.change { $0.isFinal = true }
        for waiting in waitingForStop { waiting.resume() }
    }

    private func wait() {
        preparePolls()
        // Without free descriptors, accepting is retried when a connection closes, and after a delay, because other
        // code may have freed one.
        let triesAgain = isExhausted && !isStopping
        let ready = poll(&polls, nfds_t(polls.count), triesAgain ? 50 : -1)
        if ready == 0, triesAgain { return accept() }
        guard ready > 0 else { return }
        if polls[0].revents != 0 { host.inbox.drain() }
        for index in connections.indices where polls[index + 2].revents != 0 {
            connections[index].ready(polls[index + 2].revents)
        }
        if polls[1].revents != 0 { accept() }
        forgetClosed()
    }

    private func preparePolls() {
        polls.removeAll(keepingCapacity: true)
        polls.append(pollfd(fd: host.inbox.descriptor, events: Int16(POLLIN), revents: 0))
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
            host.journal.change {
                $0.failures.append(MockServer.Failure(connection: accepted + 1, request: nil, underlying: error))
            }
        }
    }

    private func serve(_ socket: SystemSocket) throws {
        do {
            let stream = try makeStream(socket)
            accepted += 1
            let connection = ServerConnection(number: accepted, stream: stream, host: host)
            connections.append(connection)
            byNumber[accepted] = connection
            connection.advance()
        } catch {
            socket.release()
            throw error
        }
    }

    private func forgetClosed() {
        guard connections.contains(where: { $0.state == .closed }) else { return }
        for connection in connections where connection.state == .closed { byNumber[connection.number] = nil }
        connections.removeAll { $0.state == .closed }
        isExhausted = false
    }

    private func handle(_ message: ServerMessage) {
        if message.endsTask { host.runningTasks -= 1 }
        switch message {
        case .answered(let number, let result):
            byNumber[number]?.answered(result)
            byNumber[number]?.advance()
        case .streamEnded(let number, let error):
            byNumber[number]?.streamEnded(error)
            byNumber[number]?.advance()
        case .tick(let number, let wait):
            byNumber[number]?.tick(wait: wait)
        case .chunk(let number, let bytes, let continuation):
            guard let connection = byNumber[number] else { return message.giveUp() }
            connection.chunk(bytes, continuation)
            connection.advance()
        case .closeConnections(let continuation):
            closeConnections()
            continuation.resume()
        case .stop(let continuation):
            stop(continuation)
        }
    }

    private func closeConnections() {
        for connection in connections { connection.close(.byServer) }
        forgetClosed()
    }

    private func stop(_ continuation: CheckedContinuation<Void, Never>?) {
        if !isStopping { listener.socket.release() }
        isStopping = true
        closeConnections()
        if let continuation { waitingForStop.append(continuation) }
    }
}
