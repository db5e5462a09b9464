import Synchronization

/// The messages for the loop; posting one ends its wait.
final class ServerInbox: Sendable {
    // A class, because every task and thread posts to the same one.
    private struct State {
        var messages: [ServerMessage] = []
        var loopWaits = false
        var isClosed = false
    }

    private let pipe: WakePipe
    private let state = Mutex(State())

    init() throws(SocketFailure) { pipe = try WakePipe() }

    /// The descriptor that is readable when there are messages.
    var descriptor: Int32 { pipe.output }

    /// Hands a message to the loop; when the loop has ended, lets go of who waits for it.
    func post(_ message: ServerMessage) {
        let isClosed = state.withLock { state in
            guard !state.isClosed else { return true }
            state.messages.append(message)
            if state.loopWaits {
                // Under the lock, so that the pipe is not closed, and its number not given away, in between.
                state.loopWaits = false
                pipe.wake()
            }
            return false
        }
        if isClosed { message.giveUp() }
    }

    /// All messages; when there are none, the next one will end a wait.
    func take() -> [ServerMessage] {
        state.withLock { state in
            state.loopWaits = state.messages.isEmpty
            defer { state.messages = [] }
            return state.messages
        }
    }

    func drain() { pipe.drain() }

    /// Takes no more messages, unless there is one still to be handled.
    func closeIfEmpty() -> Bool {
        state.withLock { state in
            guard state.messages.isEmpty else { return false }
            state.isClosed = true
            pipe.release()
            return true
        }
    }
}
