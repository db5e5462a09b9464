// SPDX-License-Identifier: MIT
public import LetterheadFoundation
import Synchronization

/// The body of a response: in memory, or streamed from the connection as the reader requests it.
///
/// ```swift
/// let data = try await response.body.data()              // all of it
/// for try await chunk in response.body { … }             // piece by piece
/// ```
///
/// Read a buffered body any number of times. A streamed body has these rules:
/// - Iterate it once. A second iteration throws ``HTTPBodyError/alreadyRead``.
/// - Dropping it before its end ends the transfer and, over HTTP/1.1, closes the connection.
/// - If the reading task is cancelled, the read throws `CancellationError`.
/// - After a client reset, the read throws ``HTTPError/Code/cancelled``.
public struct HTTPResponseBody: AsyncSequence, Sendable {
    private enum Source: Sendable {
        case data(Data)
        case stream(OneTimeStream)
        case withheld(OneTimeStream)
    }

    private let source: Source
    /// The response that the body belongs to, to be included in errors. Default: nil (not known).
    var origin: Origin?

    private init(_ source: Source) { self.source = source }

    /// Creates a body in memory. Default: empty.
    public init(_ data: Data = Data()) { source = .data(data) }

    /// Creates a streamed body from a closure. The closure runs in a task for each piece. Cancelling the body cancels
    /// that task.
    ///
    /// - Parameters:
    ///   - length: the number of bytes, if it is known.
    ///   - pull: returns the next piece, or nil at the end. It isn't called again after nil or an error.
    ///   - cancel: called once if the body is dropped before its end, or if `pull` throws an error.
    public init(
        length: Int?, pull: @escaping @Sendable () async throws -> Data?, cancel: @escaping @Sendable () -> Void = {}
    ) {
        let pulls = PullsInTasks(pull)
        let ending = { @Sendable in
            pulls.cancel()
            cancel()
        }
        source = .stream(OneTimeStream(length: length, pull: { try await pulls.next() }, cancel: ending))
    }

    /// Returns a streamed body that calls `pull` in the reading task. `cancel` also ends a pull in progress.
    static func received(
        length: Int?, pull: @escaping @Sendable () async throws -> Data?, cancel: @escaping @Sendable () -> Void
    ) -> HTTPResponseBody {
        HTTPResponseBody(.stream(OneTimeStream(length: length, pull: pull, cancel: cancel)))
    }

    /// All bytes if they are in memory, or nil for a streamed body.
    public var buffered: Data? {
        if case .data(let data) = source { data } else { nil }
    }

    /// The number of bytes, or nil if it isn't known.
    public var length: Int? {
        switch source {
        case .data(let data): data.count
        case .stream(let stream), .withheld(let stream): stream.length
        }
    }

    /// Returns all bytes. For a streamed body, it waits until all of them have arrived.
    ///
    /// - Parameter limit: the largest number of bytes in a streamed body. A body in memory is returned completely,
    ///   regardless of its size. Default: 64 MiB.
    /// - Throws: ``HTTPBodyError/tooLarge(limit:)`` if a streamed body exceeds the limit,
    ///   ``HTTPBodyError/outOfMemory(after:)`` if there isn't enough memory for it, ``HTTPBodyError/alreadyRead`` if a
    ///   streamed body was iterated before, `CancellationError` if the calling task was cancelled, and connection
    ///   errors.
    public func data(upTo limit: Int = 64 << 20) async throws -> Data {
        if let buffered { return buffered }
        var bytes = GrowingBytes()
        for try await chunk in self {
            guard bytes.count + chunk.count <= limit else { throw HTTPBodyError.tooLarge(limit: limit) }
            guard bytes.append(chunk) else { throw HTTPBodyError.outOfMemory(after: bytes.count) }
        }
        return bytes.take()
    }

    /// How a body has ended, for ``onEnd(_:)``.
    public enum End: Sendable {
        /// All pieces were read.
        case complete
        /// Reading it failed, or a reset ended it.
        case failed(any Error)
        /// It was dropped before its end.
        case dropped
    }

    /// Calls a closure when the body has ended: exactly once, and never during a read. A body in memory has ended
    /// already.
    ///
    /// Use it in a link that holds something until a response has been read, such as a slot.
    public func onEnd(_ closure: @escaping @Sendable (End) -> Void) {
        switch source {
        case .data: closure(.complete)
        case .stream(let stream), .withheld(let stream): stream.onEnd(closure)
        }
    }

    /// Ends a body that nothing will read, and releases what links hold until its end, such as a slot.
    ///
    /// Call it in a link before it awaits its next loader again. If the rest is small and arrives within a second, it
    /// is read, so that the connection can be reused. Any other body is cancelled.
    public func discard() async {
        guard case .stream(let stream) = released().source else { return }
        guard let length, length <= 64 << 10 else { return stream.cancel() }
        await withTaskGroup { group in
            group.addTask {
                let pieces = stream.walk()
                while (try? await pieces.next()) != nil {}
            }
            group.addTask { try? await Task.sleep(for: .seconds(1)) }
            await group.next()
            stream.cancel()
            group.cancelAll()
        }
    }

    /// Returns a body with pieces that a closure changes. A body in memory is one piece.
    ///
    /// Use it in a link that changes, observes or limits what is read. Afterwards, the original body can no longer be
    /// read.
    ///
    /// - Parameters:
    ///   - length: the number of bytes in the new body. Pass ``length`` if the closure doesn't change it. Default: nil
    ///     (not known).
    ///   - transform: returns the changed piece. If it throws an error, reading the body throws that error.
    public func map(length: Int? = nil, _ transform: @escaping @Sendable (Data) throws -> Data) -> HTTPResponseBody {
        map(length: length, before: {}, transform)
    }

    /// Returns a body that calls `check` before it pulls a piece, and changes each piece with `transform`.
    func map(
        length: Int?, before check: @escaping @Sendable () throws -> Void,
        _ transform: @escaping @Sendable (Data) throws -> Data
    ) -> HTTPResponseBody {
        switch source {
        case .data(let data):
            guard !data.isEmpty else { return self }
            do { return HTTPResponseBody(try transform(data)) } catch {
                return .received(length: nil, pull: { throw error }, cancel: {})
            }
        case .withheld: return self
        case .stream(let stream):
            let pieces = stream.walk()
            return .received(
                length: length,
                pull: {
                    try check()
                    return try await pieces.next().map { try transform($0) }
                }, cancel: { pieces.cancel() })
        }
    }

    /// Reads a body until a closure has seen enough of it, and returns a body that still has all pieces. An error while
    /// reading is thrown to the reader of the returned body, after the pieces before it.
    ///
    /// Use it in a validator that judges the beginning of a streamed response:
    ///
    /// ```swift
    /// var start = Data()
    /// response.body = await response.body.seen {
    ///     start += $0
    ///     return start.count >= 1_024
    /// }
    /// ```
    ///
    /// The pieces that the closure has seen stay in memory until they are read, so limit their number. For a body in
    /// memory, the closure is called once, with all of it.
    public func seen(until isEnough: (Data) -> Bool) async -> HTTPResponseBody {
        guard case .stream(let stream) = released().source else {
            if let buffered { _ = isEnough(buffered) }
            return self
        }
        let pieces = stream.walk()
        var seen: [Result<Data, any Error>] = []
        do {
            while let piece = try await pieces.next() {
                seen.append(.success(piece))
                if isEnough(piece) { break }
            }
        } catch {
            seen.append(.failure(error))
        }
        // Each piece is released when it has been read.
        let beginning = Mutex([_](seen.reversed()))
        return .received(
            length: length,
            pull: {
                if let piece = beginning.withLock({ $0.popLast() }) { return try piece.get() }
                return try await pieces.next()
            }, cancel: { pieces.cancel() })
    }

    /// Returns a closure that ends a streamed body and a read in progress with an error. It doesn't retain the body.
    func canceller(throwing error: @autoclosure @escaping @Sendable () -> any Error) -> @Sendable () -> Void {
        switch source {
        case .data: return {}
        case .stream(let stream), .withheld(let stream):
            return { [weak stream] in stream?.cancel(throwing: error()) }
        }
    }

    var isStreamed: Bool { if case .data = source { false } else { true } }

    /// Returns the same body for code that may inspect only the response head. Reading the returned body, if it's
    /// streamed, throws ``HTTPBodyError/withheld`` and consumes nothing. A body in memory is returned unchanged.
    ///
    /// Use it in a link that passes a response to caller code before it returns the response.
    public func withheld() -> HTTPResponseBody {
        if case .stream(let stream) = source { Self(.withheld(stream)) } else { self }
    }

    /// Returns the readable body for one that ``withheld()`` returned. Any other body is returned unchanged.
    ///
    /// Use it in a link if the code that received a withheld body returns a response that contains it.
    public func released() -> HTTPResponseBody {
        if case .withheld(let stream) = source { Self(.stream(stream)) } else { self }
    }

    public func makeAsyncIterator() -> Iterator {
        switch source {
        case .data(let data): Iterator(data: data.isEmpty ? nil : data)
        case .stream(let stream): Iterator(walk: stream.walk())
        case .withheld: Iterator(isWithheld: true)
        }
    }

    /// An iterator over the pieces of a body, in the order in which they arrive.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        private var data: Data?
        private let walk: OneTimeStream.Walk?
        private let isWithheld: Bool
        /// The number of bytes returned since the calling actor was last released.
        private var unyielded = 0

        fileprivate init(data: Data? = nil, walk: OneTimeStream.Walk? = nil, isWithheld: Bool = false) {
            (self.data, self.walk, self.isWithheld) = (data, walk, isWithheld)
        }

        /// Returns the next piece, or nil at the end.
        ///
        /// If pieces arrive faster than they are read, most calls return without suspending. After each 2 MiB, the call
        /// therefore yields, so that other code can run on the calling actor.
        public mutating func next() async throws -> Data? {
            let actor: (any Actor)? = #isolation
            if actor != nil, walk != nil, unyielded >= Self.yieldSize {
                unyielded = 0
                await Task.yield()
            }
            let piece = try await nextPiece()
            unyielded += piece?.count ?? 0
            return piece
        }

        private static let yieldSize = 2 << 20

        /// Returns the next piece, or nil at the end, without yielding.
        mutating func nextPiece() async throws -> Data? {
            if let walk {
                do { return try await walk.next() } catch let error as HTTPError { throw error.orCancellation }
            }
            if isWithheld { throw HTTPBodyError.withheld }
            defer { data = nil }
            return data
        }

        /// Calls ``next()``, for a `for` loop.
        public mutating func next(isolation actor: (any Actor)?) async throws -> Data? { try await next() }
    }
}

/// A streamed body, which can be iterated once. Copies of an ``HTTPResponseBody`` share it. Dropping the last reference
/// releases the connection.
final class OneTimeStream: Sendable {
    typealias End = HTTPResponseBody.End

    private struct State {
        var isTaken = false
        var pulls = 0
        var end: End?
        /// The error that the next read throws after a cancellation, because nil would mean a complete body.
        var refusal: (any Error)?
        var isReported = false
        var observers: [@Sendable (End) -> Void] = []

        /// Returns a closure that reports the end: once, and when no pull is in progress.
        mutating func takeReport() -> (() -> Void)? {
            guard let end, pulls == 0, !isReported else { return nil }
            isReported = true
            let observers = exchange(&self.observers, with: [])
            return observers.isEmpty ? nil : { for observer in observers { observer(end) } }
        }
    }

    let length: Int?
    private let pull: @Sendable () async throws -> Data?
    /// Ends a pull in progress, and releases what the body holds.
    private let release: @Sendable () -> Void
    private let state = Mutex(State())

    init(
        length: Int?, pull: @escaping @Sendable () async throws -> Data?, cancel release: @escaping @Sendable () -> Void
    ) {
        (self.length, self.pull, self.release) = (length, pull, release)
    }

    deinit { cancel() }

    /// Calls a closure when the body has ended, or at once if it already has.
    func onEnd(_ observer: @escaping @Sendable (End) -> Void) {
        let end = state.withLock { state -> End? in
            if !state.isReported { state.observers.append(observer) }
            return state.isReported ? state.end : nil
        }
        if let end { observer(end) }
    }

    /// Ends the body early, together with a pull in progress.
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

    /// Returns an iteration. Only the first one reads the stream, and the others throw at their first step.
    func walk() -> Walk {
        let isFirst = state.withLock { state in
            defer { state.isTaken = true }
            return !state.isTaken
        }
        return Walk(stream: self, isFirst: isFirst)
    }

    /// One iteration over the stream. Dropping it early ends the stream, because no other iteration can continue it.
    final class Walk: Sendable {
        private let stream: OneTimeStream
        private let isFirst: Bool

        init(stream: OneTimeStream, isFirst: Bool) { (self.stream, self.isFirst) = (stream, isFirst) }

        deinit { cancel() }

        func cancel() {
            if isFirst { stream.cancel() }
        }

        func next() async throws -> Data? {
            guard isFirst else { throw HTTPBodyError.alreadyRead }
            guard try stream.beginPull() else { return nil }
            let result: Result<Data?, any Error>
            do {
                var piece = try await stream.pull()
                // A cancelled reader doesn't wait for a producer of empty pieces.
                while piece?.isEmpty == true, !stream.hasEnded {
                    try Task.checkCancellation()
                    piece = try await stream.pull()
                }
                result = .success(piece)
            } catch {
                result = .failure(error)
            }
            return try stream.endPull(result)
        }
    }

    private var hasEnded: Bool { state.withLock { $0.end != nil } }

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

/// Runs the closure of a body in a task for each piece, because cancelling a task is the only way to end a call in
/// progress.
final class PullsInTasks: Sendable {
    private typealias Pull = Task<Data?, any Error>

    private let pull: @Sendable () async throws -> Data?
    /// The pulls in progress, or nil after the body was cancelled.
    private let pulls = Mutex<Set<Pull>?>([])

    init(_ pull: @escaping @Sendable () async throws -> Data?) { self.pull = pull }

    /// - Parameter isolation: the reading actor. The closure runs on it.
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

extension HTTPResponseBody {
    /// The response that a body belongs to, without the body. As a class it keeps a body small and avoids a reference
    /// cycle.
    final class Origin: Sendable {
        let response: HTTPResponse
        var request: HTTPRequest { response.request }

        init(_ response: HTTPResponse) { self.response = response.withoutBody }

        static func error(
            _ origin: Origin?, _ code: HTTPError.Code, _ message: String, underlying: (any Error)? = nil
        ) -> HTTPError {
            HTTPError(
                code, request: origin?.request ?? HTTPRequest(), response: origin?.response, underlying: underlying,
                message: message)
        }
    }
}
