// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Synchronization

/// The messages for the loop. Posting a message ends the loop's wait.
final class ServerInbox: Sendable {
    // This type is a class because all tasks and threads post to the same inbox.

    /// What to do on the loop's thread. The loop is nil if it has ended. The message then resumes what waits for it.
    typealias Message = @Sendable (ServerLoop?) -> Void

    private struct State {
        var messages: [Message] = []
        var loopWaits = false
        var isClosed = false
    }

    /// A pipe end that becomes readable when a message arrives while the loop waits.
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
                // The lock keeps the pipe open, so its descriptor can't be reused before this write of one byte.
                state.loopWaits = false
                _ = unsafe write(start, "x", 1)
            }
            return false
        }
        if isClosed { message(nil) }
    }

    /// Returns all messages. If the inbox is empty, the next message ends a wait.
    func take() -> [Message] {
        state.withLock { state in
            state.loopWaits = state.messages.isEmpty
            defer { state.messages = [] }
            return state.messages
        }
    }

    /// Reads what was written, so that the next wait blocks again.
    func drain() {
        // The system writes at most the size of the bytes.
        var bytes: (UInt64, UInt64) = (0, 0)
        while unsafe read(descriptor, &bytes, MemoryLayout.size(ofValue: bytes)) == MemoryLayout.size(ofValue: bytes) {}
    }

    /// Closes the inbox if it is empty. Returns whether it is closed.
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
