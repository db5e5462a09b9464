import Synchronization

/// Work that its owner can cancel and await: a request or one read of a body.
///
/// It is a class, because the owner and the work share its state. Code inside the work may await its end without a
/// deadlock: the work is a task-local value, and ``ended()`` returns at once for a caller that belongs to the work.
package final class OwnedWork: Sendable {
    private struct State {
        var isCancelled = false
        var isEnded = false
        var onCancel: (@Sendable () -> Void)?
        /// The work that contained the creator of this work; nil after the end, so that ended work forms no growing
        /// chain.
        var enclosing: OwnedWork?
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    @TaskLocal private static var innermost: OwnedWork?

    /// Whether the work runs in the task of its caller, so that each part that suspends has to observe the cancellation.
    private let isDirect: Bool
    private let state: Mutex<State>

    /// - Parameter isDirect: true for work that ``run(_:)`` runs in the task of its caller. Default: false.
    package init(isDirect: Bool = false) {
        self.isDirect = isDirect
        state = Mutex(State(enclosing: Self.innermost))
    }

    package var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Runs the work in the calling task. Cancelling the work calls the handler of ``onCancel(_:)`` and does not cancel
    /// the task.
    ///
    /// - Parameter isolation: the caller's actor, on which the work runs.
    package func run<Value>(
        isolation: isolated (any Actor)? = #isolation, _ operation: () async -> Value
    ) async -> Value {
        defer { end() }
        return await Self.$innermost.withValue(self) {
            // A closure runs on an actor only if it captures the actor. `withValue` has to call it there.
            _ = isolation
            return await operation()
        }
    }

    /// Runs the work in a separate task, which is cancelled with the work and with the calling task.
    package func runInTask<Value: Sendable>(_ operation: @escaping @Sendable () async -> Value) async -> Value {
        let task = Self.task { await self.run(operation) }
        onCancel { task.cancel() }
        return await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Sets the handler of a cancellation, in place of an earlier one. It is called at once if the work was cancelled,
    /// and never after the end of the work.
    package func onCancel(_ handler: @escaping @Sendable () -> Void) {
        let isCancelled = state.withLock { state in
            if !state.isCancelled, !state.isEnded { state.onCancel = handler }
            return state.isCancelled && !state.isEnded
        }
        if isCancelled { handler() }
    }

    /// Sets the handler for the direct work that contains the caller, if there is any.
    package static func onDirectCancel(_ handler: @escaping @Sendable () -> Void) {
        if let innermost, innermost.isDirect { innermost.onCancel(handler) }
    }

    /// Cancels the work, now or as soon as it starts.
    package func cancel() {
        let handler = state.withLock { state in
            defer { state.onCancel = nil }
            state.isCancelled = true
            return state.onCancel
        }
        handler?()
    }

    /// Waits until the work has ended. It returns at once if the caller belongs to the work and would wait for itself.
    package func ended() async {
        if containsCaller { return }
        await withCheckedContinuation { continuation in
            let isEnded = state.withLock { state in
                if !state.isEnded { state.waiting.append(continuation) }
                return state.isEnded
            }
            if isEnded { continuation.resume() }
        }
    }

    /// Whether the caller belongs to the work.
    package var containsCaller: Bool {
        var work = Self.innermost
        while let inner = work {
            if inner === self { return true }
            work = inner.state.withLock { $0.enclosing }
        }
        return false
    }

    private func end() {
        // The replaced values are released after the lock, because releasing them may call the owner.
        let last = state.withLock { state in
            let last = state
            state = State(isCancelled: last.isCancelled, isEnded: true)
            return last
        }
        for continuation in last.waiting { continuation.resume() }
    }

    /// Creates a task that begins on the thread of its creator if the system supports that.
    private static func task<Value: Sendable>(
        _ operation: @escaping @Sendable () async -> Value
    ) -> Task<Value, Never> {
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            Task.immediate { await operation() }
        } else {
            Task { await operation() }
        }
    }
}
