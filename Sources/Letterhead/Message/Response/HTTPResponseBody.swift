public import Foundation

/// The body of a response: in memory, or streamed from the connection as the reader requests it.
///
/// ```swift
/// let data = try await response.body.data()              // all of it
/// for try await chunk in response.body { … }             // piece by piece
/// ```
///
/// A buffered body can be read any number of times. A streamed body can be iterated once; a second iteration throws
/// ``HTTPBodyError/alreadyRead``. Dropping a streamed body before its end ends the transfer; over HTTP/1.1, this closes
/// the connection.
public struct HTTPResponseBody: AsyncSequence, Sendable {
    private enum Source: Sendable {
        case data(Data)
        case stream(OneTimeStream)
        case withheld(OneTimeStream)
    }

    private let source: Source
    /// The response that the body belongs to, for the errors of reading it. Default: nil (not known).
    var origin: Origin?

    private init(_ source: Source) { self.source = source }

    /// Creates a body in memory. Default: empty.
    public init(_ data: Data = Data()) { source = .data(data) }

    /// Creates a streamed body from a closure. The closure runs in a task for each piece, which is cancelled when the body
    /// is cancelled.
    ///
    /// - Parameters:
    ///   - length: the number of bytes, if it is known.
    ///   - pull: returns the next piece, or nil at the end. It is not called again after nil or an error.
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

    /// Returns a streamed body whose pieces are pulled in the task of the reader. Its closure `cancel` also ends a pull
    /// that is in progress.
    static func received(
        length: Int?, pull: @escaping @Sendable () async throws -> Data?, cancel: @escaping @Sendable () -> Void
    ) -> HTTPResponseBody {
        HTTPResponseBody(.stream(OneTimeStream(length: length, pull: pull, cancel: cancel)))
    }

    /// All bytes if they are in memory; nil for a streamed body.
    public var buffered: Data? {
        if case .data(let data) = source { data } else { nil }
    }

    /// The number of bytes; nil if it is not known.
    public var length: Int? {
        switch source {
        case .data(let data): data.count
        case .stream(let stream), .withheld(let stream): stream.length
        }
    }

    /// Returns all bytes.
    ///
    /// - Parameter limit: the largest number of bytes of a streamed body. A body in memory is returned completely,
    ///   regardless of its size. Default: 64 MiB.
    /// - Throws: ``HTTPBodyError/tooLarge(limit:)`` if a streamed body exceeds the limit,
    ///   ``HTTPBodyError/outOfMemory(after:)`` if there is not enough memory for it, ``HTTPBodyError/alreadyRead`` on
    ///   a second iteration of a streamed body, and the errors of the connection.
    public func data(upTo limit: Int = 64 << 20) async throws -> Data {
        if let buffered { return buffered }
        var bytes = GrowingBytes()
        for try await chunk in self {
            guard bytes.count + chunk.count <= limit else { throw HTTPBodyError.tooLarge(limit: limit) }
            guard bytes.append(chunk) else { throw HTTPBodyError.outOfMemory(after: bytes.count) }
        }
        return bytes.take()
    }

    /// How a body has ended.
    public enum End: Sendable {
        /// All pieces were read.
        case complete
        /// Reading it failed, or a reset ended it.
        case failed(any Error)
        /// It was dropped before its end.
        case dropped
    }

    /// Calls a closure when the body has ended: exactly once, and never while a piece is being read. A body in memory has
    /// ended already.
    ///
    /// Use it in a link that holds something until a response has been read, such as a slot.
    public func onEnd(_ closure: @escaping @Sendable (End) -> Void) {
        switch source {
        case .data: closure(.complete)
        case .stream(let stream), .withheld(let stream): stream.onEnd(closure)
        }
    }

    /// Returns a body whose pieces a closure has changed. The bytes of a body in memory are one piece.
    ///
    /// Use it in a link that changes, observes or limits what is read. Afterwards, the original body can no longer be
    /// read.
    ///
    /// - Parameters:
    ///   - length: the number of bytes of the new body; ``length`` if the closure does not change it. Default: nil (not
    ///     known).
    ///   - transform: returns the changed piece. Reading the body throws an error that the closure throws.
    public func map(length: Int? = nil, _ transform: @escaping @Sendable (Data) throws -> Data) -> HTTPResponseBody {
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
                length: length, pull: { try await pieces.next().map { try transform($0) } },
                cancel: { pieces.cancel() })
        }
    }

    /// Returns what ends a streamed body with an error, together with a read in progress. It does not retain the body.
    func canceller(throwing error: @autoclosure @escaping @Sendable () -> any Error) -> @Sendable () -> Void {
        guard case .stream(let stream) = source else { return {} }
        return { [weak stream] in stream?.cancel(throwing: error()) }
    }

    /// Whether the body is streamed.
    var isStreamed: Bool { if case .data = source { false } else { true } }

    /// Returns the same body for code that inspects only the head. If the body is streamed, reading the returned body
    /// throws ``HTTPBodyError/withheld`` and consumes no bytes. A body in memory is returned unchanged.
    ///
    /// Use it in a link that passes a response to code of its caller before the response is returned.
    public func withheld() -> HTTPResponseBody {
        if case .stream(let stream) = source { Self(.withheld(stream)) } else { self }
    }

    /// Returns the readable body from which ``withheld()`` created this one. Any other body is returned unchanged.
    ///
    /// Use it in a link if the code that received a withheld body returns a response that contains this body.
    public func released() -> HTTPResponseBody {
        if case .withheld(let stream) = source { Self(.stream(stream)) } else { self }
    }

    /// Creates the iterator.
    public func makeAsyncIterator() -> Iterator {
        switch source {
        case .data(let data): Iterator(data: data.isEmpty ? nil : data)
        case .stream(let stream): Iterator(walk: stream.walk(), origin: origin)
        case .withheld: Iterator(isWithheld: true)
        }
    }

    /// The iterator of ``HTTPResponseBody``.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        private var data: Data?
        private let walk: OneTimeStream.Walk?
        private let origin: Origin?
        private let isWithheld: Bool
        /// The number of bytes that were returned since the reader's actor was last released.
        private var unyielded = 0

        fileprivate init(
            data: Data? = nil, walk: OneTimeStream.Walk? = nil, origin: Origin? = nil, isWithheld: Bool = false
        ) {
            (self.data, self.walk, self.origin, self.isWithheld) = (data, walk, origin, isWithheld)
        }

        /// Returns the next piece, or nil at the end.
        ///
        /// If the pieces arrive faster than they are read, most calls return without suspending. After each 2 MiB, the
        /// call therefore yields, so that other code can run on the caller's actor.
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

        /// Returns the next piece, or nil at the end, and does not yield.
        mutating func nextPiece() async throws -> Data? {
            if let walk { return try await next(of: walk) }
            if isWithheld { throw HTTPBodyError.withheld }
            defer { data = nil }
            return data
        }

        /// Returns the next piece, unless the client was reset since the response arrived.
        private func next(of walk: OneTimeStream.Walk) async throws -> Data? {
            if let origin, origin.wasReset { walk.cancel(throwing: origin.resetError) }
            let piece = try await walk.next()
            guard piece != nil, let origin, origin.wasReset else { return piece }
            walk.cancel(throwing: origin.resetError)
            return try await walk.next()
        }

        /// Returns the next piece, as ``next()`` does. A `for` loop calls it.
        public mutating func next(isolation actor: (any Actor)?) async throws -> Data? { try await next() }
    }
}
