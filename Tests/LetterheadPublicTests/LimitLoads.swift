// SPDX-License-Identifier: MIT
import Letterhead
import Synchronization

/// A link that limits the number of loads that run at the same time, as `Throttle` does. Further requests wait in a
/// queue, ordered by priority and arrival.
///
/// It is a class because the requests share its slots.
final class LimitLoads: LoaderLink {
    private enum Outcome: Sendable {
        case turn, cancelled, reset, late
    }

    private struct Waiter: Sendable {
        let number: Int
        let priority: Int
        let continuation: CheckedContinuation<Outcome, Never>
        /// Ends the wait at the deadline of the request.
        let alarm: Task<Void, any Error>?

        func resume(_ outcome: Outcome) {
            alarm?.cancel()
            continuation.resume(returning: outcome)
        }
    }

    private struct State {
        var running = 0
        var last = 0
        var waiting: [Waiter] = []
    }

    private let limit: Int
    private let clock: any Clock<Duration>
    private let state = Mutex(State())

    init(limit: Int, clock: any Clock<Duration> = ContinuousClock()) { (self.limit, self.clock) = (limit, clock) }

    var running: Int { state.withLock { $0.running } }
    var waiting: Int { state.withLock { $0.waiting.count } }

    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        guard let priority = request.throttling.priority else { return try await next.load(request) }
        try await enter(request, priority)
        do throws(HTTPError) {
            let response = try await next.load(request)
            response.body.onEnd { [self] _ in leave() }
            return response
        } catch {
            leave()
            throw error
        }
    }

    func reset(next: any HTTPLoader) async {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
        for waiter in waiting { waiter.resume(.reset) }
        await next.reset()
    }

    private func enter(_ request: HTTPRequest, _ priority: Int) async throws(HTTPError) {
        let number = state.withLock { state -> Int? in
            if state.running < limit {
                state.running += 1
                return nil
            }
            state.last += 1
            return state.last
        }
        guard let number else { return }
        request.record("queue.entered") { $0[.queue] = "slots" }
        switch await turn(number, priority, within: request.timeLeft) {
        case .turn: break
        case .cancelled: throw HTTPError(.cancelled, request: request, mayHaveBeenSent: false)
        case .reset: throw HTTPError(.cancelled, request: request, message: "a reset ended the wait")
        case .late: throw request.deadlinePassed(while: "waiting for a slot", mayHaveBeenSent: false)
        }
    }

    private func turn(_ number: Int, _ priority: Int, within left: Duration?) async -> Outcome {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let outcome = state.withLock { state -> Outcome? in
                    if Task.isCancelled { return .cancelled }
                    if state.running < limit {
                        state.running += 1
                        return .turn
                    }
                    let place = state.waiting.firstIndex { $0.priority < priority } ?? state.waiting.endIndex
                    let waiter = Waiter(
                        number: number, priority: priority, continuation: continuation,
                        alarm: left.map { alarm(for: number, in: $0) })
                    state.waiting.insert(waiter, at: place)
                    return nil
                }
                if let outcome { continuation.resume(returning: outcome) }
            }
        } onCancel: {
            settle(number, .cancelled)
        }
    }

    private func alarm(for number: Int, in left: Duration) -> Task<Void, any Error> {
        Task { [self, clock] in
            try await clock.sleep(for: left)
            settle(number, .late)
        }
    }

    /// Removes a request from the queue.
    private func settle(_ number: Int, _ outcome: Outcome) {
        let waiter = state.withLock { state in
            state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0) }
        }
        waiter?.resume(outcome)
    }

    /// Releases a slot. The next request in the queue receives it.
    private func leave() {
        let next = state.withLock { state -> Waiter? in
            if !state.waiting.isEmpty { return state.waiting.removeFirst() }
            state.running -= 1
            return nil
        }
        next?.resume(.turn)
    }
}
