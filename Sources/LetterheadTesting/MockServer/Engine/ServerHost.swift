// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Letterhead

/// The shared state of all connections of one server.
final class ServerHost {
    // This type is a class because all connections share the number of running tasks. Only the loop's thread uses it.
    let configuration: MockServer.Configuration
    let inbox: ServerInbox
    let journal: Watched<MockServer.Record>
    let queue: AnswerQueue
    let clock: any Clock<Duration>
    let closure: MockServer.Closure
    /// The buffer for reading. It is shared, because only one connection reads at a time.
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 131_072, alignment: 16)
    /// The number of tasks that have not sent their last message.
    var runningTasks = 0

    init(
        configuration: MockServer.Configuration, inbox: ServerInbox, journal: Watched<MockServer.Record>,
        queue: AnswerQueue,
        closure: @escaping MockServer.Closure
    ) {
        self.configuration = configuration
        self.inbox = inbox
        self.journal = journal
        self.queue = queue
        self.closure = closure
        clock = configuration.clock
    }

    deinit { scratch.deallocate() }

    /// Calls the closure in a task that the connection can cancel. The loop does not end before the task has ended.
    func askClosure(_ request: MockServer.Request) -> Task<Void, Never> {
        runningTasks += 1
        return Task { [closure, inbox] in
            do {
                let response = try await closure(request)
                inbox.post(.answered(connection: request.connection, .success(response)))
            } catch {
                inbox.post(.answered(connection: request.connection, .failure(error)))
            }
        }
    }

    /// Iterates over the chunks of a body. The next chunk is requested after the previous one has been sent.
    func pull(_ chunks: @escaping MockServer.Response.Chunks, connection: Int) -> Task<Void, Never> {
        runningTasks += 1
        return Task { [inbox] in
            do {
                try await chunks { chunk in
                    try await withCheckedThrowingContinuation { continuation in
                        inbox.post(.chunk(connection: connection, chunk, continuation))
                    }
                }
                inbox.post(.streamEnded(connection: connection, nil))
            } catch {
                inbox.post(.streamEnded(connection: connection, error))
            }
        }
    }

    /// Sends a tick to a connection after a duration.
    func tick(after duration: Duration, connection: Int, wait: Int) -> Task<Void, Never> {
        runningTasks += 1
        return Task { [clock, inbox] in
            // A cancelled wait sends its message, too, because the loop counts its tasks by their last messages.
            try? await clock.pause(for: duration)
            inbox.post(.tick(connection: connection, wait: wait))
        }
    }
}
