import Foundation
import Synchronization

/// A streamed body, which can be iterated once. It is a class, because the copies of an ``HTTPResponseBody`` share the
/// single iteration, and because the connection is released when the last reference is dropped.
final class OneTimeStream: Sendable {
    private enum State {
        case untouched, walking, finished
    }

    let length: Int?
    /// Whether `cancel` ends a pull that is in progress. Otherwise, only cancelling the task of the pull ends it.
    let endsPulls: Bool
    private let pull: @Sendable () async throws -> Data?
    private let cancel: @Sendable () -> Void
    private let state = Mutex(State.untouched)

    init(
        length: Int?, pull: @escaping @Sendable () async throws -> Data?, cancel: @escaping @Sendable () -> Void,
        endsPulls: Bool = false
    ) {
        self.endsPulls = endsPulls
        self.length = length
        self.pull = pull
        self.cancel = cancel
    }

    deinit {
        if state.withLock({ $0 != .finished }) { cancel() }
    }

    /// Returns the only iteration. Later ones throw an error at their first step.
    func walk() -> Walk {
        let first = state.withLock { state in
            defer { if state == .untouched { state = .walking } }
            return state == .untouched
        }
        return Walk(stream: self, isFirst: first)
    }

    /// An iteration. Dropping it before its end ends the stream, because no other iteration can continue it.
    final class Walk: Sendable {
        private let stream: OneTimeStream
        private let isFirst: Bool

        init(stream: OneTimeStream, isFirst: Bool) {
            self.stream = stream
            self.isFirst = isFirst
        }

        deinit {
            if isFirst { stream.end(cancelling: true) }
        }

        var endsPulls: Bool { stream.endsPulls }

        func cancel() {
            if isFirst { stream.end(cancelling: true) }
        }

        func next() async throws -> Data? {
            guard isFirst else { throw HTTPBodyError.alreadyRead }
            guard stream.state.withLock({ $0 == .walking }) else { return nil }
            do {
                while let chunk = try await stream.pull() {
                    if !chunk.isEmpty { return chunk }
                }
                stream.end(cancelling: false)
                return nil
            } catch {
                stream.end(cancelling: true)
                throw error
            }
        }
    }

    /// Ends the stream. Later calls have no effect.
    func end(cancelling: Bool) {
        let isNew = state.withLock { state in
            defer { state = .finished }
            return state != .finished
        }
        if isNew, cancelling { cancel() }
    }
}
