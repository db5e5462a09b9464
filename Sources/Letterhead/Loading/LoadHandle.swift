import Synchronization

extension HTTPLoader {
    /// Starts a load from code that is not async, and returns at once.
    ///
    /// ```swift
    /// let handle = chain.start(request) { result in … }
    /// handle.cancel()
    /// ```
    ///
    /// - Parameters:
    ///   - request: what to load.
    ///   - completion: called exactly once, on no thread in particular, with how the load ended; `.cancelled` when it was.
    /// - Returns: what cancels it. The load goes on without it.
    @discardableResult
    public func start(
        _ request: HTTPRequest, completion: @escaping @Sendable (Result<HTTPResponse, HTTPError>) -> Void
    ) -> LoadHandle {
        var request = request
        let progress = request.ownProgressReport()
        return LoadHandle { [request] in
            let result: Result<HTTPResponse, HTTPError>
            do throws(HTTPError) {
                result = .success(try await load(request).ending(progress))
            } catch {
                progress?.finish()
                result = .failure(error)
            }
            return { completion(result) }
        }
    }
}

/// Cancels a load that was started by code that is not async, and tells others that it was cancelled.
public final class LoadHandle: Sendable {
    // A class, because whoever holds it and the load itself share its state.

    private enum State {
        case running([@Sendable () -> Void])
        case cancelled
        case finished
    }

    private let state = Mutex(State.running([]))
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// Starts an operation that gives what is to be called when it has ended.
    ///
    /// Its task belongs to the handle, keeps it until it has ended, and is cancelled by it.
    package init(_ operation: @escaping @Sendable () async -> @Sendable () -> Void) {
        task.withLock { task in
            task = Task {
                let complete = await operation()
                finish()
                complete()
            }
        }
    }

    /// Whether it was cancelled before it had ended.
    public var isCancelled: Bool {
        state.withLock { if case .cancelled = $0 { true } else { false } }
    }

    /// Cancels the load, which then ends with `.cancelled`, and calls the handlers, the last added first.
    ///
    /// A second time, or when the load has ended, it does nothing.
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

    /// Adds what is called when the load is cancelled: at once if it was already, never if it has ended.
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
        // Handlers are released after the lock: what they hold may cancel this handle when it is freed.
        _ = state.withLock { state in
            defer { if case .running = state { state = .finished } }
            return state
        }
        _ = task.withLock { $0.take() }
    }
}
