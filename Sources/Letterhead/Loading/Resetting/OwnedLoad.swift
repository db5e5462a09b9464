import Synchronization

/// The owner of requests, which is informed when each of them ends.
protocol LoadOwner: Sendable {
    /// Called once in the task of the request, before it has ended. Returns the result that the request should store,
    /// if any.
    func end(_ load: OwnedLoad, with result: Result<HTTPResponse, HTTPError>) -> Result<HTTPResponse, HTTPError>?
}

/// A request in a separate task, which its owner can cancel and await, even before the task exists.
///
/// It is a class, because its starter and its owner share its state. It begins on the thread of its starter if the
/// system supports that, so that a request that completes immediately never leaves the thread.
final class OwnedLoad: Sendable {
    private typealias Work = Task<Void, Never>

    /// The operations that were requested before the task existed.
    private struct Wishes {
        var isCancelled = false
        var priority: TaskPriority?
        var waiting: [CheckedContinuation<Work, Never>] = []
    }

    private enum State {
        case starting(Wishes)
        case started(Work)
    }

    private let request: HTTPRequest
    private let next: any HTTPLoader
    private let owner: any LoadOwner
    private let state = Mutex(State.starting(Wishes()))
    /// The identity of the task. It is known before the task can be referenced.
    private let task = Atomic<Int>(0)
    private let kept = Mutex<Result<HTTPResponse, HTTPError>?>(nil)

    init(_ request: HTTPRequest, next: any HTTPLoader, owner: any LoadOwner) {
        self.request = request
        self.next = next
        self.owner = owner
    }

    /// Starts the request. It must be called once.
    func start() {
        let work: Work
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            work = Task.immediate { await self.run() }
        } else {
            work = Task { await self.run() }
        }
        let before = state.withLock { state in
            defer { state = .started(work) }
            return state
        }
        guard case .starting(let wishes) = before else { return }
        if wishes.isCancelled { work.cancel() }
        if let priority = wishes.priority { Self.escalate(work, to: priority) }
        for waiter in wishes.waiting { waiter.resume(returning: work) }
    }

    /// Cancels the request, now or as soon as it has started.
    func cancel() { work { $0.isCancelled = true }?.cancel() }

    /// Cancels the request. Returns true if the caller is a part of it, and would wait for itself.
    func cancelsCaller() -> Bool {
        let work = work { $0.isCancelled = true }
        return work?.cancelsCaller() ?? (task.load(ordering: .relaxed) == Self.currentTask)
    }

    /// Raises the priority of the request to that of a waiting task.
    func escalate(to priority: TaskPriority) {
        let work = work { $0.priority = max($0.priority ?? priority, priority) }
        if let work { Self.escalate(work, to: priority) }
    }

    /// Waits until the request has ended, after it was started. Cancelling the task that waits has no effect.
    func ended() async {
        if case .started(let work) = state.withLock({ $0 }) { return await work.value }
        await startedWork.value
    }

    /// Returns the stored result, once; nil before the end.
    func takeResult() -> Result<HTTPResponse, HTTPError>? { kept.withLock { $0.take() } }

    private func run() async {
        task.store(Self.currentTask, ordering: .relaxed)
        let result: Result<HTTPResponse, HTTPError>
        do throws(HTTPError) {
            result = .success(try await next.load(request))
        } catch {
            result = .failure(error)
        }
        if let end = owner.end(self, with: result) { kept.withLock { $0 = end } }
    }

    private static var currentTask: Int { withUnsafeCurrentTask { $0?.hashValue ?? 0 } }

    private static func escalate(_ work: Work, to priority: TaskPriority) {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else { return }
        work.escalatePriority(to: priority)
    }

    /// Returns the task, or nil if it does not exist yet and the operation was noted.
    private func work(orNote wish: (inout Wishes) -> Void) -> Work? {
        state.withLock { state in
            switch state {
            case .started(let work): return work
            case .starting(var wishes):
                wish(&wishes)
                state = .starting(wishes)
                return nil
            }
        }
    }

    private var startedWork: Work {
        get async {
            await withCheckedContinuation { continuation in
                if let work = work(orNote: { $0.waiting.append(continuation) }) {
                    continuation.resume(returning: work)
                }
            }
        }
    }
}
