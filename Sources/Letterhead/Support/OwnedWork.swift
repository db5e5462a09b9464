import Synchronization

/// Work that its owner can cancel and await: a request, one read of a body, or an operation that several requests share.
///
/// It is a class, because the owner and the work share its state. Code inside the work may await its end without a
/// deadlock: the work is a task-local value, and ``ended()`` returns at once for a caller that belongs to the work.
package final class OwnedWork: Sendable {
    private struct State {
        var isCancelled = false
        var isEnded = false
        var priority: TaskPriority?
        var onCancel: (@Sendable () -> Void)?
        var task: Task<Void, Never>?
        /// The work that contained the creator of this work; nil after the end, so that ended work forms no growing
        /// chain.
        var enclosing: OwnedWork?
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    @TaskLocal private static var innermost: OwnedWork?

    private let state: Mutex<State>

    package init() { state = Mutex(State(enclosing: Self.innermost)) }

    package var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Starts the work in a separate task, which is cancelled with the work. Call it once.
    package func start(_ operation: @escaping @Sendable () async -> Void) {
        let task = Self.task {
            await Self.$innermost.withValue(self) { await operation() }
            self.end()
        }
        onCancel { task.cancel() }
        let priority = state.withLock { state in
            if !state.isEnded { state.task = task }
            return state.priority
        }
        if let priority { Self.escalate(task, to: priority) }
    }

    /// Raises the priority of the started work to the priority of a waiting task.
    package func escalate(to priority: TaskPriority) {
        let task = state.withLock { state in
            state.priority = max(state.priority ?? priority, priority)
            return state.task
        }
        if let task { Self.escalate(task, to: priority) }
    }

    /// Sets the handler of a cancellation, in place of an earlier one. It is called at once if the work was cancelled,
    /// and never after the end of the work.
    private func onCancel(_ handler: @escaping @Sendable () -> Void) {
        let isCancelled = state.withLock { state in
            if !state.isCancelled, !state.isEnded { state.onCancel = handler }
            return state.isCancelled && !state.isEnded
        }
        if isCancelled { handler() }
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

    private static func escalate(_ task: Task<Void, Never>, to priority: TaskPriority) {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        task.escalatePriority(to: priority)
    }
}
