import Foundation
import Synchronization

/// A streamed body, which can be iterated once. Copies of an ``HTTPResponseBody`` share it, and the connection is
/// released when the last reference is dropped.
final class OneTimeStream: Sendable {
    typealias End = HTTPResponseBody.End

    private struct State {
        var isTaken = false
        var pulls = 0
        var end: End?
        /// What the next read throws, because nil would mean that the body is complete.
        var refusal: (any Error)?
        var isReported = false
        var observers: [@Sendable (End) -> Void] = []

        /// Returns what reports the end, once, when no piece is being pulled.
        mutating func takeReport() -> (() -> Void)? {
            guard let end, pulls == 0, !isReported else { return nil }
            isReported = true
            let observers = exchange(&self.observers, with: [])
            return observers.isEmpty ? nil : { for observer in observers { observer(end) } }
        }
    }

    let length: Int?
    private let pull: @Sendable () async throws -> Data?
    /// Ends a pull that is in progress, and releases what the body holds.
    private let release: @Sendable () -> Void
    private let state = Mutex(State())

    init(
        length: Int?, pull: @escaping @Sendable () async throws -> Data?, cancel release: @escaping @Sendable () -> Void
    ) {
        (self.length, self.pull, self.release) = (length, pull, release)
    }

    deinit { cancel() }

    /// Calls a closure when the body has ended, or at once if it has ended before.
    func onEnd(_ observer: @escaping @Sendable (End) -> Void) {
        let end = state.withLock { state -> End? in
            if !state.isReported { state.observers.append(observer) }
            return state.isReported ? state.end : nil
        }
        if let end { observer(end) }
    }

    /// Ends the body before its end, together with a pull in progress.
    ///
    /// - Parameter error: what the reader receives. Default: nil (the body was dropped).
    func cancel(throwing error: (any Error)? = nil) {
        let (isNew, report) = state.withLock { state -> (Bool, (() -> Void)?) in
            guard state.end == nil else { return (false, nil) }
            state.end = error.map { .failed($0) } ?? .dropped
            state.refusal = error ?? CancellationError()
            return (true, state.takeReport())
        }
        if isNew { release() }
        report?()
    }

    /// Returns the only iteration. Later ones throw an error at their first step.
    func walk() -> Walk {
        let isFirst = state.withLock { state in
            defer { state.isTaken = true }
            return !state.isTaken
        }
        return Walk(stream: self, isFirst: isFirst)
    }

    /// An iteration. Dropping it before its end ends the stream, because no other iteration can continue it.
    final class Walk: Sendable {
        private let stream: OneTimeStream
        private let isFirst: Bool

        init(stream: OneTimeStream, isFirst: Bool) { (self.stream, self.isFirst) = (stream, isFirst) }

        deinit { cancel() }

        func cancel(throwing error: (any Error)? = nil) {
            if isFirst { stream.cancel(throwing: error) }
        }

        func next() async throws -> Data? {
            guard isFirst else { throw HTTPBodyError.alreadyRead }
            guard try stream.beginPull() else { return nil }
            let result: Result<Data?, any Error>
            do {
                var piece = try await stream.pull()
                while piece?.isEmpty == true { piece = try await stream.pull() }
                result = .success(piece)
            } catch {
                result = .failure(error)
            }
            return try stream.endPull(result)
        }
    }

    /// Returns false after the end.
    private func beginPull() throws -> Bool {
        try state.withLock { state in
            if let refusal = state.refusal.take() { throw refusal }
            guard state.end == nil else { return false }
            state.pulls += 1
            return true
        }
    }

    private func endPull(_ result: Result<Data?, any Error>) throws -> Data? {
        let end: End? =
            switch result {
            case .success(nil): .complete
            case .success: nil
            case .failure(let error): .failed(error)
            }
        let (refusal, isNew, report) = state.withLock { state in
            state.pulls -= 1
            let isNew = end != nil && state.end == nil
            if isNew { state.end = end }
            return (state.refusal.take(), isNew, state.takeReport())
        }
        if isNew, case .failure = result { release() }
        report?()
        if let refusal { throw refusal }
        return try result.get()
    }
}

/// Runs a closure of the caller in a task for each piece, because only a cancelled task ends a pull of the caller's.
final class PullsInTasks: Sendable {
    private typealias Pull = Task<Data?, any Error>

    private let pull: @Sendable () async throws -> Data?
    /// The pulls in progress; nil after the body was cancelled.
    private let pulls = Mutex<Set<Pull>?>([])

    init(_ pull: @escaping @Sendable () async throws -> Data?) { self.pull = pull }

    /// - Parameter isolation: the reader's actor, on which the closure runs.
    func next(isolation: isolated (any Actor)? = #isolation) async throws -> Data? {
        let task = Pull {
            _ = isolation
            return try await self.pull()
        }
        let isLate = pulls.withLock { $0?.insert(task) == nil }
        if isLate { task.cancel() }
        defer { _ = pulls.withLock { $0?.remove(task) } }
        return try await withTaskCancellationHandler {
            _ = isolation
            return try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    func cancel() {
        let running = pulls.withLock { $0.take() }
        for task in running ?? [] { task.cancel() }
    }
}
