// SPDX-License-Identifier: MIT
import Letterhead
import Synchronization

/// One request and its hedges. The first good response wins. All of them have ended when ``response(after:on:)`` returns.
///
/// The link and the tasks of the requests share it.
final class HedgeRace: Sendable {
    private struct State {
        var first: Task<Result<HTTPResponse, HTTPError>, Never>?
        var hedges: [Task<Void, Never>] = []
        var winner: Result<HTTPResponse, HTTPError>?
        /// Whether no further hedge is sent.
        var isClosed = false
    }

    private let state = Mutex(State())
    private let request: HTTPRequest
    private let next: any HTTPLoader
    private let condition: Retry.Condition?
    private let executor: (any TaskExecutor)?
    /// Takes a hedge from the share of the link; false if none is left.
    private let takeHedge: @Sendable () -> Bool

    init(
        _ request: HTTPRequest, _ next: any HTTPLoader, counting condition: Retry.Condition?,
        executor: (any TaskExecutor)?, takeHedge: @escaping @Sendable () -> Bool
    ) {
        (self.request, self.next, self.condition) = (request, next, condition)
        (self.executor, self.takeHedge) = (executor, takeHedge)
    }

    /// Sends the request, and hedges after each delay.
    func result(after delay: Duration, atMost count: Int, on timer: HedgeTimer) async -> Result<HTTPResponse, HTTPError>
    {
        let task = start()
        state.withLock { $0.first = task }
        let entry = timer.add(after: delay, times: count) { [self] in hedge(after: delay) }
        return await withTaskCancellationHandler {
            let first = await task.value
            timer.remove(entry)
            return await result(of: first)
        } onCancel: {
            cancel()
        }
    }

    /// Starts the first request, on the current thread where the system can do so.
    private func start() -> Task<Result<HTTPResponse, HTTPError>, Never> {
        let operation = { @Sendable [next, request] in await next.result(of: request) }
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            return Task.immediate(executorPreference: executor, operation: operation)
        }
        return Task(executorPreference: executor, operation: operation)
    }

    /// Waits for the hedges, unless the first request was good or was cancelled. Those that are not needed are cancelled.
    private func result(of first: Result<HTTPResponse, HTTPError>) async -> Result<HTTPResponse, HTTPError> {
        // A stream that nobody reads would hold its connection, for which a hedge may wait.
        let isEnd = isGood(first) || Task.isCancelled || first.isCancelled || request.responseDelivery == .streamed
        let (hedges, isDecided) = state.withLock { state in
            state.isClosed = true
            return (state.hedges, isEnd || state.winner != nil)
        }
        if isDecided { for hedge in hedges { hedge.cancel() } }
        for hedge in hedges { await hedge.value }
        return state.withLock { $0.winner } ?? first
    }

    private func hedge(after delay: Duration) {
        state.withLock { state in
            guard !state.isClosed, takeHedge() else { return }
            let number = state.hedges.count + 1
            state.hedges.append(Task(executorPreference: executor) { await self.send(number, after: delay) })
        }
    }

    private func send(_ number: Int, after delay: Duration) async {
        guard !Task.isCancelled else { return }
        request.record(.hedgeSent) { event in
            event[.count] = number
            event[.wait] = delay * number
        }
        let result = await next.result(of: request)
        guard isGood(result), (try? result.get())?.status.code ?? 0 < 400 else { return }
        let losers = state.withLock { state -> [Task<Void, Never>]? in
            guard state.winner == nil, !Task.isCancelled else { return nil }
            state.winner = result
            state.isClosed = true
            state.first?.cancel()
            return state.hedges
        }
        guard let losers else { return }
        request.record(.hedgeWon) { $0[.count] = number }
        for (index, loser) in losers.enumerated() where index != number - 1 { loser.cancel() }
    }

    private func cancel() {
        let (first, hedges) = state.withLock { state in
            state.isClosed = true
            return (state.first, state.hedges)
        }
        first?.cancel()
        for hedge in hedges { hedge.cancel() }
    }

    private func isGood(_ result: Result<HTTPResponse, HTTPError>) -> Bool {
        guard case .success = result else { return false }
        return result.health(of: request, counting: condition) == .good
    }
}

extension Result where Success == HTTPResponse, Failure == HTTPError {
    fileprivate var isCancelled: Bool {
        if case .failure(let error) = self { error.code == .cancelled } else { false }
    }
}
