// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Letterhead

// The loop doesn't end before its tasks have ended. It counts their last messages. A cancelled task sends one, too.
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

    /// Iterates over a body's chunks. It requests the next chunk after the previous one has been sent.
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

    /// Calls a connection's `tick` after a duration.
    func tick(after duration: Duration, connection: Int, wait: Int) -> Task<Void, Never> {
        runningTasks += 1
        return Task { [configuration, inbox] in
            try? await configuration.clock.pause(for: duration)
            inbox.post { $0?.taskEnded(of: connection) { $0.tick(wait: wait) } }
        }
    }

    /// Lets a connection continue after a task.
    private func taskEnded(of number: Int, _ change: (ServerConnection) -> Void) {
        runningTasks -= 1
        guard let connection = connection(number) else { return }
        change(connection)
        connection.advance()
    }
}

extension ServerLoop? {
    /// Sends one body chunk. The continuation resumes when the chunk has been sent, and throws if sending fails.
    fileprivate func send(_ chunk: Data, to number: Int, _ continuation: CheckedContinuation<Void, any Error>) {
        guard let connection = self?.connection(number) else {
            return continuation.resume(throwing: CancellationError())
        }
        connection.chunk(chunk, continuation)
        connection.advance()
    }
}
