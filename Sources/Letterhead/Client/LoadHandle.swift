// SPDX-License-Identifier: MIT
import Synchronization

extension HTTPLoader {
    /// Starts a request from code that is not async, and returns immediately.
    ///
    /// ```swift
    /// let handle = chain.start(request) { result in … }
    /// handle.cancel()
    /// ```
    ///
    /// The completion is called exactly once, on an arbitrary thread, with the response or the error. After a
    /// cancellation, the error is `.cancelled`.
    ///
    /// - Returns: a handle that can cancel the request. The request continues if you drop the handle.
    @discardableResult
    public func start(
        _ request: HTTPRequest, completion: @escaping @Sendable (Result<HTTPResponse, HTTPError>) -> Void
    ) -> LoadHandle {
        LoadHandle {
            var load = Load(over: self, for: nil)
            let result: Result<HTTPResponse, HTTPError>
            do throws(HTTPError) {
                let begun = load.begin(request)
                result = .success(try load.end(try await load.uncheckedResponse(to: begun)))
            } catch {
                _ = load.fail(error)
                result = .failure(error)
            }
            return { completion(result) }
        }
    }
}

/// Cancels a request that you have started from code that isn't async, and calls cancellation handlers.
public final class LoadHandle: Sendable {
    private enum State {
        case running([@Sendable () -> Void])
        case cancelled
        case finished
    }

    private let state = Mutex(State.running([]))
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// Starts an operation that returns a closure to call when it has ended.
    ///
    /// The task retains the handle until then, and the handle can cancel the task.
    package init(_ operation: @escaping @Sendable () async -> @Sendable () -> Void) {
        task.withLock { task in
            task = Task {
                let complete = await operation()
                finish()
                complete()
            }
        }
    }

    /// Whether ``cancel()`` was called before the request ended.
    public var isCancelled: Bool {
        state.withLock { if case .cancelled = $0 { true } else { false } }
    }

    /// Cancels the request, which then ends with `.cancelled`, and calls the handlers in reverse order. It has no
    /// effect after the request has ended or was cancelled.
    public func cancel() {
        let handlers = state.withLock { state -> [@Sendable () -> Void]? in
            guard case .running(let handlers) = state else { return nil }
            state = .cancelled
            return handlers
        }
        guard let handlers else { return }
        task.withLock { $0 }?.cancel()
        for handler in handlers.reversed() { handler() }
    }

    /// Adds a handler for cancellation. It is called immediately if the request was already cancelled, and never if the
    /// request has ended.
    public func onCancel(_ handler: @escaping @Sendable () -> Void) {
        let isLate = state.withLock { state in
            switch state {
            case .running(let handlers): state = .running(handlers + [handler])
            case .cancelled: return true
            case .finished: break
            }
            return false
        }
        if isLate { handler() }
    }

    private func finish() {
        // Handlers are released outside the lock, because releasing their captures may cancel this handle.
        _ = state.withLock { state in
            defer { if case .running = state { state = .finished } }
            return state
        }
        _ = task.withLock { $0.take() }
    }
}
