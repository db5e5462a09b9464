// SPDX-License-Identifier: MIT
package import Letterhead
import Synchronization

/// A loader that answers when it is told to, and counts. A class, because the test and the chain share it.
package final class HeldLoader: HTTPLoader {
    private struct State {
        var running: [(id: Int, name: String, end: CheckedContinuation<Bool, Never>)] = []
        var started: [String] = []
        var peak = 0
        var last = 0
        var watchers: [(isThere: @Sendable (Int, Int) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []

        mutating func awakened() -> [CheckedContinuation<Void, Never>] {
            let (now, all) = (running.count, started.count)
            let ready = watchers.filter { $0.isThere(now, all) }
            watchers.removeAll { $0.isThere(now, all) }
            return ready.map(\.continuation)
        }
    }

    private let state = Mutex(State())

    package init() {}

    /// The paths of the requests that began, in order.
    package var started: [String] { state.withLock { $0.started } }
    package var peak: Int { state.withLock { $0.peak } }
    package var running: Int { state.withLock { $0.running.count } }

    package func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        let id = state.withLock { state in
            state.last += 1
            return state.last
        }
        let isAnswered = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let watchers = state.withLock { state -> [CheckedContinuation<Void, Never>]? in
                    state.started.append(request.path.string)
                    if Task.isCancelled { return nil }
                    state.running.append((id, request.path.string, continuation))
                    state.peak = max(state.peak, state.running.count)
                    return state.awakened()
                }
                watchers?.forEach { $0.resume() }
                if watchers == nil { continuation.resume(returning: false) }
            }
        } onCancel: {
            end(answering: false) { $0 == id }
        }
        guard isAnswered else { throw HTTPError(.cancelled, request: request) }
        return HTTPResponse(request: request, status: .ok)
    }

    /// Answers the request to a path, or all.
    package func open(_ path: String? = nil) {
        let ids = state.withLock { $0.running.filter { path == nil || $0.name == path }.map(\.id) }
        for id in ids { end(answering: true) { $0 == id } }
    }

    /// Returns when that many run.
    package func waitForRunning(_ count: Int) async { await wait { running, _ in running == count } }

    /// Returns when that many have begun.
    package func waitForStarted(_ count: Int) async { await wait { _, started in started >= count } }

    private func wait(_ isThere: @escaping @Sendable (Int, Int) -> Bool) async {
        await withCheckedContinuation { continuation in
            let isNow = state.withLock { state in
                if isThere(state.running.count, state.started.count) { return true }
                state.watchers.append((isThere, continuation))
                return false
            }
            if isNow { continuation.resume() }
        }
    }

    private func end(answering: Bool, _ fits: (Int) -> Bool) {
        let (ended, watchers) = state.withLock { state in
            let ended = state.running.filter { fits($0.id) }.map(\.end)
            state.running.removeAll { fits($0.id) }
            return (ended, state.awakened())
        }
        ended.forEach { $0.resume(returning: answering) }
        watchers.forEach { $0.resume() }
    }
}
