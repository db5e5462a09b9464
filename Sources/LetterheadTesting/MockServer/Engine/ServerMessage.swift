// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// A message from another thread or task to the loop. A task that the loop started sends exactly one of the first three
/// as its last message.
enum ServerMessage: Sendable {
    /// The closure has returned a response or thrown an error.
    case answered(connection: Int, Result<MockServer.Response, any Error>)
    /// The body of a response has ended or failed.
    case streamEnded(connection: Int, (any Error)?)
    /// The timer with this number has fired for a connection.
    case tick(connection: Int, wait: Int)
    /// A chunk of a response body. The continuation resumes when the chunk has been sent, and throws if it cannot be
    /// sent.
    case chunk(connection: Int, Data, CheckedContinuation<Void, any Error>)
    /// Close all connections.
    case closeConnections(CheckedContinuation<Void, Never>)
    /// Stop the server. The continuation resumes when everything has ended.
    case stop(CheckedContinuation<Void, Never>?)

    var endsTask: Bool {
        switch self {
        case .answered, .streamEnded, .tick: true
        case .chunk, .closeConnections, .stop: false
        }
    }

    /// Resumes the tasks that wait for a message that will not be handled.
    func giveUp() {
        switch self {
        case .chunk(_, _, let continuation): continuation.resume(throwing: CancellationError())
        case .closeConnections(let continuation): continuation.resume()
        case .stop(let continuation): continuation?.resume()
        case .answered, .streamEnded, .tick: break
        }
    }
}
