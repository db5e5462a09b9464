import Foundation

/// What other threads and tasks tell the loop. A task that the loop started ends with exactly one of the first three.
enum ServerMessage: Sendable {
    /// The closure answered a request of this connection, or threw.
    case answered(connection: Int, Result<MockServer.Response, any Error>)
    /// The body of an answer is at its end, or failed.
    case streamEnded(connection: Int, (any Error)?)
    /// Time has passed for a connection that waits with this number.
    case tick(connection: Int, wait: Int)
    /// A piece of an answer's body; the continuation goes on when it is on its way, and throws when it never will be.
    case chunk(connection: Int, Data, CheckedContinuation<Void, any Error>)
    /// All connections are to be closed.
    case closeConnections(CheckedContinuation<Void, Never>)
    /// Everything is to end; the continuation, if any, goes on when it has.
    case stop(CheckedContinuation<Void, Never>?)

    var endsTask: Bool {
        switch self {
        case .answered, .streamEnded, .tick: true
        case .chunk, .closeConnections, .stop: false
        }
    }

    /// Lets go of who waits for a message that nobody will handle.
    func giveUp() {
        switch self {
        case .chunk(_, _, let continuation): continuation.resume(throwing: CancellationError())
        case .closeConnections(let continuation): continuation.resume()
        case .stop(let continuation): continuation?.resume()
        case .answered, .streamEnded, .tick: break
        }
    }
}
