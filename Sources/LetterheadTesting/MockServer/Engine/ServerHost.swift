import Foundation
import Letterhead

/// What all connections of one server share.
final class ServerHost {
    // A class, because the number of running tasks is one for all; only the loop's thread touches it.
    let configuration: MockServer.Configuration
    let inbox: ServerInbox
    let journal: ServerJournal
    let queue: AnswerQueue
    let clock: any Clock<Duration>
    let closure: MockServer.Closure
    /// Where every connection reads to, since only one reads at a time.
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 131_072, alignment: 16)
    /// How many tasks have not sent their last message.
    var runningTasks = 0

    init(
        configuration: MockServer.Configuration, inbox: ServerInbox, journal: ServerJournal, queue: AnswerQueue,
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

    /// Asks the closure, in a task that the connection cancels and the loop waits for.
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

    /// Pulls the chunks of a body, each when the one before is on its way.
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

    /// Lets a connection know when time has passed.
    func tick(after duration: Duration, connection: Int, wait: Int) -> Task<Void, Never> {
        runningTasks += 1
        return Task { [clock, inbox] in
            // A cancelled wait is told too: the loop counts its tasks by their last message.
            try? await clock.pause(for: duration)
            inbox.post(.tick(connection: connection, wait: wait))
        }
    }
}
