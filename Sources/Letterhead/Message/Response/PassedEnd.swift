import Foundation
import Synchronization

/// The end of a body that a link passes on. The link learns of it exactly once, and never while a piece is being pulled.
///
/// A reset can cancel the body while its reader pulls a piece. The pull then still passes the piece or the error to the
/// link, and reports the end afterwards. This type is a class because the closures of the body share it.
final class PassedEnd: Sendable {
    private struct State {
        var pulls = 0
        var isCancelled = false
        var isOver = false
        var isReported = false
    }

    private let state = Mutex(State())
    private let report: @Sendable () -> Void

    /// - Parameter report: called once, when the body has ended, failed or been cancelled.
    init(_ report: @escaping @Sendable () -> Void) { self.report = report }

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Pulls a piece. A piece of nil and an error end the body. After the end, nothing is pulled.
    ///
    /// - Throws: the error of the operation; `CancellationError` if the body was cancelled before.
    func pull(_ operation: () async throws -> Data?) async throws -> Data? {
        guard try beginPull() else { return nil }
        do {
            let piece = try await operation()
            endPull(isOver: piece == nil)
            return piece
        } catch {
            endPull(isOver: true)
            throw error
        }
    }

    private func beginPull() throws -> Bool {
        try state.withLock { state in
            guard !state.isReported else {
                if state.isCancelled { throw CancellationError() }
                return false
            }
            state.pulls += 1
            return true
        }
    }

    /// Cancels the original body with a closure, and reports the end afterwards, or after the pull in progress.
    func cancel(_ original: () -> Void) {
        let isDue = isReportDue { state in
            state.isCancelled = true
            state.isOver = true
        }
        original()
        if isDue { report() }
    }

    private func endPull(isOver: Bool) {
        let isDue = isReportDue { state in
            state.pulls -= 1
            if isOver { state.isOver = true }
        }
        if isDue { report() }
    }

    /// Returns whether the end must be reported after a change, which is the case once.
    private func isReportDue(after change: (inout State) -> Void) -> Bool {
        state.withLock { state in
            change(&state)
            guard state.isOver, state.pulls == 0, !state.isReported else { return false }
            state.isReported = true
            return true
        }
    }
}
