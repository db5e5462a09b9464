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
        HTTPResponseBody(length: length) { [self] in
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { reader in
                    let answer = state.withLock { $0.inbox.ask(reader) }
                    if let answer { reader.resume(with: answer) }
                    letGo()
                }
            } onCancel: {
                cancel()
            }
        } cancel: { [self] in
            cancel()
        }
    }

    /// Suspends the task while the reader is behind. On Linux a task that is resumed starts over, so it runs on there, up
    /// to the request's limit.
    func holdBack() {
        #if !canImport(FoundationNetworking)
            guard request.responseDelivery != .buffered else { return }
            state.withLock { state in
                if state.inbox.heldBytes > heldBytes { state.task?.suspend() }
            }
        #endif
    }

    private func letGo() {
        #if !canImport(FoundationNetworking)
            state.withLock { state in
                if state.inbox.heldBytes <= heldBytes, state.task?.state == .suspended { state.task?.resume() }
            }
        #endif
    }
}
