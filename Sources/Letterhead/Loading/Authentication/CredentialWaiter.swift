import Synchronization

/// A box that is filled once, and one task that waits for it or goes away.
///
/// A class, because who fills it and who waits must see one box.
final class CredentialWaiter<Value: Sendable>: Sendable {
    private enum State {
        case empty
        case waiting(CheckedContinuation<Value, Never>)
        case filled(Value)
    }

    private let state = Mutex(State.empty)

    /// Fills the box; what comes second is dropped.
    func fill(_ value: Value) {
        let continuation = state.withLock { state -> CheckedContinuation<Value, Never>? in
            switch state {
            case .filled: return nil
            case .empty:
                state = .filled(value)
                return nil
            case .waiting(let continuation):
                state = .filled(value)
                return continuation
            }
        }
        continuation?.resume(returning: value)
    }

    /// Waits until it is filled.
    ///
    /// - Parameter departure: what the box is filled with when the waiting task is cancelled first.
    func value(orWhenCancelled departure: Value) async -> Value {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let value = state.withLock { state -> Value? in
                    if case .filled(let value) = state { return value }
                    state = .waiting(continuation)
                    return nil
                }
                if let value { continuation.resume(returning: value) }
            }
        } onCancel: {
            fill(departure)
        }
    }
}
