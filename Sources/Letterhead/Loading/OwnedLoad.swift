import Synchronization

/// Whoever keeps loads of their own, and hears how each ends.
protocol LoadOwner: Sendable {
    /// Called once in the task of the load, before it is over; gives the result that the load is to keep, if any.
    func end(_ load: OwnedLoad, with result: Result<HTTPResponse, HTTPError>) -> Result<HTTPResponse, HTTPError>?
}

/// A load in a task of its own, which its owner can cancel and await, even before the task is there.
///
/// A class, because whoever starts it and whoever keeps it share its state. It begins on its starter's thread where the
/// system can do that, so that one which is answered at once never leaves it.
final class OwnedLoad: Sendable {
    private typealias Work = Task<Void, Never>

    private enum State {
        case starting(isCancelled: Bool, waiting: [CheckedContinuation<Work, Never>])
        case started(Work)
    }

    private let request: HTTPRequest
    private let next: any HTTPLoader
    private let owner: any LoadOwner
    private let state = Mutex(State.starting(isCancelled: false, waiting: []))
    private let kept = Mutex<Result<HTTPResponse, HTTPError>?>(nil)

    init(_ request: HTTPRequest, next: any HTTPLoader, owner: any LoadOwner) {
        self.request = request
        self.next = next
        self.owner = owner
    }

    /// Starts it; once.
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
        guard case .starting(let isCancelled, let waiting) = before else { return }
        if isCancelled { work.cancel() }
        for waiter in waiting { waiter.resume(returning: work) }
    }

    /// Cancels it, now or as soon as it has started.
    func cancel() {
        let work = state.withLock { state -> Work? in
            switch state {
            case .started(let work): return work
            case .starting(_, let waiting):
                state = .starting(isCancelled: true, waiting: waiting)
                return nil
            }
        }
        work?.cancel()
    }

    /// Returns when it is over, once it was started. Cancelling the task that waits changes nothing.
    func ended() async {
        if case .started(let work) = state.withLock({ $0 }) { return await work.value }
        await startedWork.value
    }

    /// The result that its owner had it keep, once; nil before it is over.
    func takeResult() -> Result<HTTPResponse, HTTPError>? { kept.withLock { $0.take() } }

    private func run() async {
        let result: Result<HTTPResponse, HTTPError>
        do throws(HTTPError) {
            result = .success(try await next.load(request))
        } catch {
            result = .failure(error)
        }
        if let end = owner.end(self, with: result) { kept.withLock { $0 = end } }
    }

    private var startedWork: Work {
        get async {
            await withCheckedContinuation { continuation in
                let work = state.withLock { state -> Work? in
                    switch state {
                    case .started(let work): return work
                    case .starting(let isCancelled, let waiting):
                        state = .starting(isCancelled: isCancelled, waiting: waiting + [continuation])
                        return nil
                    }
                }
                if let work { continuation.resume(returning: work) }
            }
        }
    }
}
