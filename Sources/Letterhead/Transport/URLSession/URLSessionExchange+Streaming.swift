import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The number of bytes of a streamed body that may be buffered before the task is suspended, where that is possible.
private let heldBytes = 1 << 20

extension URLSessionExchange {
    /// Creates a streamed body.
    func streamedBody(length: Int?) -> HTTPResponseBody {
        // The first closure has no capture list, because with one it would not run on the reader's actor.
        .received(length: length) {
            try await self.read()
        } cancel: { [self] in
            cancel()
        }
    }

    /// Returns the next piece of a streamed body; nil at the end.
    ///
    /// - Parameter isolation: the reader's actor. A closure runs on an actor only if it captures the actor.
    private func read(isolation: isolated (any Actor)? = #isolation) async throws -> Data? {
        try await withTaskCancellationHandler {
            _ = isolation
            return try await withCheckedThrowingContinuation { reader in
                let answer = state.withLock { $0.inbox.ask(reader) }
                if let answer { reader.resume(with: answer) }
                letGo()
            }
        } onCancel: {
            cancel()
        }
    }

    /// The number of bytes of a body that may be buffered. The number is unlimited for a streamed body where the task can be
    /// suspended.
    var heldLimit: Int {
        #if canImport(FoundationNetworking)
            request.bufferLimit
        #else
            request.responseDelivery == .buffered ? request.responseLimit : .max
        #endif
    }

    /// Suspends the task while too many bytes are buffered. On Linux, a suspended task would start over when it is
    /// resumed. The task is therefore not suspended there, and ``heldLimit`` applies.
    func holdBack() {
        #if !canImport(FoundationNetworking)
            guard request.responseDelivery != .buffered else { return }
            // Called under the lock, because suspensions are counted and must not overtake the calls that end them.
            state.withLock { state in
                if state.inbox.beginsRest(above: heldBytes) { state.task?.suspend() }
            }
        #endif
    }

    private func letGo() {
        #if !canImport(FoundationNetworking)
            state.withLock { state in
                if state.inbox.endsRest(upTo: heldBytes) { state.task?.resume() }
            }
        #endif
    }
}
