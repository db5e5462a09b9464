import Foundation
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// How much of a streamed body may wait for its reader before the task is suspended, where that is possible.
private let heldBytes = 1 << 20

extension URLSessionExchange {
    /// A body whose pieces are handed over as they are asked for.
    func streamedBody(length: Int?) -> HTTPResponseBody {
        // Without a list of what it captures: with one, it would not run where its reader does.
        HTTPResponseBody(length: length) {
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { reader in
                    let answer = self.state.withLock { $0.inbox.ask(reader) }
                    if let answer { reader.resume(with: answer) }
                    self.letGo()
                }
            } onCancel: {
                self.cancel()
            }
        } cancel: { [self] in
            cancel()
        }
    }

    /// How much of a body may be held; without limit for one that is handed over as it arrives, where the task can be
    /// suspended.
    var heldLimit: Int {
        #if canImport(FoundationNetworking)
            request.bufferLimit
        #else
            request.responseDelivery == .buffered ? request.responseLimit : .max
        #endif
    }

    /// Suspends the task while the reader is behind. On Linux a task that is resumed starts over, so it runs on there, up
    /// to the request's limit.
    func holdBack() {
        #if !canImport(FoundationNetworking)
            guard request.responseDelivery != .buffered else { return }
            // Under the lock, since suspensions are counted and must not overtake what ends them.
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
