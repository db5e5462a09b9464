import Foundation
import Synchronization

/// A body that arrives once. A class, because its copies share the one walk and its end must be known: whoever drops the
/// last reference before the end lets the connection go.
final class OneTimeStream: Sendable {
    private enum State {
        case untouched, walking, finished
    }

    let length: Int?
    private let pull: @Sendable () async throws -> Data?
    private let cancel: @Sendable () -> Void
    private let state = Mutex(State.untouched)

    init(length: Int?, pull: @escaping @Sendable () async throws -> Data?, cancel: @escaping @Sendable () -> Void) {
        self.length = length
        self.pull = pull
        self.cancel = cancel
    }

    deinit {
        if state.withLock({ $0 != .finished }) { cancel() }
    }

    /// The only walk there is; any later one throws at its first step.
    func walk() -> Walk {
        let first = state.withLock { state in
            defer { if state == .untouched { state = .walking } }
            return state == .untouched
        }
        return Walk(stream: self, isFirst: first)
    }

    /// One walk: breaking off in the middle ends the stream, since nobody else may go on with it.
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

    /// Ends the stream, whoever walks it; later ends change nothing.
    func end(cancelling: Bool) {
        let isNew = state.withLock { state in
            defer { state = .finished }
            return state != .finished
        }
        if isNew, cancelling { cancel() }
    }
}
