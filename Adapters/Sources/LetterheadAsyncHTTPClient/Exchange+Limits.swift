// SPDX-License-Identifier: MIT
import Letterhead
import Synchronization

/// The time limits. AsyncHTTPClient has such limits only for a whole client, and not for one request.
extension Exchange {
    /// Ends the exchange when a limit has passed.
    func watch() async {
        while let time = nextLimit() {
            guard (try? await Task.sleep(until: time, clock: .continuous)) != nil else { return }
            if let error = overdue() { finish(error) }
        }
    }

    /// Returns when a limit may have passed, or nil if there is none or the exchange has ended.
    private func nextLimit() -> ContinuousClock.Instant? {
        let (state, now) = (snapshot, ContinuousClock.now)
        guard !state.hasEnded else { return nil }
        let idle = idleTimeout.map { (state.isWaiting ? state.lastActivity : now) + $0 }
        return [deadline, attemptEnd(isOpenEnded: state.isOpenEnded), idle].compactMap(\.self).min()
    }

    /// Returns the error of the limit that has passed, if any.
    private func overdue() -> HTTPError? {
        let (state, now) = (snapshot, ContinuousClock.now)
        if let deadline, deadline <= now {
            return request.deadlinePassed(while: state.hasHead ? "receiving the body" : "waiting for the response")
        }
        if let end = attemptEnd(isOpenEnded: state.isOpenEnded), end <= now, let timeout = request.timeout {
            return timedOut("the attempt took longer than its timeout of \(timeout)")
        }
        if let idleTimeout, state.isWaiting, state.lastActivity + idleTimeout <= now {
            return timedOut("no byte was sent or received within the idle timeout of \(idleTimeout)")
        }
        return nil
    }

    private func attemptEnd(isOpenEnded: Bool) -> ContinuousClock.Instant? {
        isOpenEnded ? nil : request.timeout.map { startedAt + min($0, .seconds(1_000_000_000)) }
    }

    private func timedOut(_ message: String) -> HTTPError { HTTPError(.timedOut, request: request, message: message) }

    private struct Snapshot {
        let hasEnded: Bool
        let hasHead: Bool
        /// Whether the timeout doesn't apply, because the reader of a streamed body determines its pace.
        let isOpenEnded: Bool
        /// Whether the caller waits for the head, or the reader for the next piece. If not, the idle timeout doesn't
        /// apply.
        let isWaiting: Bool
        let lastActivity: ContinuousClock.Instant
    }

    private var snapshot: Snapshot {
        state.withLock { state in
            let isAccepted = state.head.map { request.accepts($0.status) } ?? false
            return Snapshot(
                hasEnded: state.end != nil, hasHead: state.head != nil,
                isOpenEnded: isAccepted && request.responseDelivery == .streamed,
                isWaiting: state.head == nil || state.reader != nil, lastActivity: state.lastActivity)
        }
    }
}
