// SPDX-License-Identifier: MIT
import Letterhead
import Synchronization

/// One request and its hedges. The first good response wins. All requests have ended when ``result(atMost:on:since:)``
/// returns.
///
/// The link and the request tasks share it.
final class HedgeRace: Sendable {
    private struct State {
        var first: Task<Result<HTTPResponse, HTTPError>, Never>?
        var hedges: [Task<Void, Never>] = []
        var winner: Result<HTTPResponse, HTTPError>?
        /// Whether the race is decided, so that no further hedge is sent.
        var isClosed = false
    }

    /// The time before the first hedge, and between one hedge and the next.
    let delay: Duration
    private let state = Mutex(State())
    private let request: HTTPRequest
    private let next: any HTTPLoader
    private let link: Hedge

    init(_ request: HTTPRequest, _ next: any HTTPLoader, after delay: Duration, for link: Hedge) {
        (self.request, self.next, self.delay, self.link) = (request, next, delay, link)
    }

    /// Sends the request, and a hedge after each delay.
    ///
    /// - Returns: the result, and what it shows about the health of the server.
    func result(
        atMost count: Int, on timer: HedgeTimer, since start: Duration
    ) async -> (Result<HTTPResponse, HTTPError>, ServerHealth) {
        let task = sendFirst()
        state.withLock { $0.first = task }
        let entry = timer.add(self, at: start, times: count)
        return await withTaskCancellationHandler {
            let first = await task.value
            timer.remove(entry)
            return await result(of: first)
        } onCancel: {
            cancel()
        }
    }

    /// Starts the first request, on the current thread if the system supports it.
    private func sendFirst() -> Task<Result<HTTPResponse, HTTPError>, Never> {
        let operation = { @Sendable [self] in await next.result(of: request) }
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            return Task.immediate(executorPreference: link.executor, operation: operation)
        }
        return Task(executorPreference: link.executor, operation: operation)
    }

    /// Decides the race once the first request has ended. It cancels the hedges if they can't win any more, and waits
    /// until all have ended.
    private func result(
        of first: Result<HTTPResponse, HTTPError>
    ) async -> (Result<HTTPResponse, HTTPError>, ServerHealth) {
        let health = link.health(of: first, to: request)
        // For a stream, the hedges are cancelled in any case. A stream that is not read would hold its connection, and
        // a hedge may wait for that connection.
        let isEnd =
            health == .good && first.isResponse || Task.isCancelled || first.isCancelled
            || request.responseDelivery == .streamed
        let (hedges, winner) = state.withLock { state in
            state.isClosed = true
            return (state.hedges, state.winner)
        }
        guard !hedges.isEmpty else { return (first, health) }
        if isEnd || winner != nil { for hedge in hedges { hedge.cancel() } }
        for hedge in hedges { await hedge.value }
        return state.withLock { $0.winner }.map { ($0, .good) } ?? (first, health)
    }

    /// Sends a hedge if the link has saved up enough for one.
    func sendHedge() {
        state.withLock { state in
            guard !state.isClosed, link.takeHedge() else { return }
            let number = state.hedges.count + 1
            state.hedges.append(Task(executorPreference: link.executor) { await self.send(number) })
        }
    }

    private func send(_ number: Int) async {
        guard !Task.isCancelled else { return }
        request.record(.hedgeSent) { event in
            event[.count] = number
            event[.wait] = delay * number
        }
        let result = await next.result(of: request)
        guard case .success(let response) = result, response.status.code < 400,
            link.health(of: result, to: request) == .good
        else { return }
        let losers = state.withLock { state -> [Task<Void, Never>]? in
            guard state.winner == nil, !Task.isCancelled else { return nil }
            state.winner = result
            state.isClosed = true
            request.triedServers?.isOvertaken = true
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
}

extension Result where Success == HTTPResponse, Failure == HTTPError {
    fileprivate var isResponse: Bool { if case .success = self { true } else { false } }

    fileprivate var isCancelled: Bool {
        if case .failure(let error) = self { error.code == .cancelled } else { false }
    }
}
