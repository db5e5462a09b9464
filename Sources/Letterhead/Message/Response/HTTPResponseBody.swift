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

    /// Creates a streamed body.
    ///
    /// - Parameters:
    ///   - length: the number of bytes, if it is known.
    ///   - pull: returns the next piece, or nil at the end. It is not called again after nil or an error.
    ///   - cancel: called once if the body is dropped before its end, or if `pull` throws an error.
    public init(
        length: Int?, pull: @escaping @Sendable () async throws -> Data?, cancel: @escaping @Sendable () -> Void = {}
    ) {
        source = .stream(OneTimeStream(length: length, pull: pull, cancel: cancel))
    }

    /// Returns a streamed body. Its closure `cancel` also ends a pull that is in progress.
    static func received(
        length: Int?, pull: @escaping @Sendable () async throws -> Data?, cancel: @escaping @Sendable () -> Void
    ) -> HTTPResponseBody {
        HTTPResponseBody(.stream(OneTimeStream(length: length, pull: pull, cancel: cancel, endsPulls: true)))
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

    /// Returns the same body with a closure that processes the pieces of a stream. A body in memory is returned
    /// unchanged.
    ///
    /// Use it in links that observe or limit what is read. Afterwards, the original body can no longer be read.
    ///
    /// - Parameters:
    ///   - closure: calls `next` for the next piece, which is nil at the end, and returns it or throws.
    ///   - end: called once if a streamed body has ended, failed or been dropped. Default: does nothing.
    public func passing(
        through closure: @escaping @Sendable (_ next: @Sendable () async throws -> Data?) async throws -> Data?,
        end: @escaping @Sendable () -> Void = {}
    ) -> HTTPResponseBody {
        passing(through: closure, end: end, awaitsOnlyNext: false)
    }

    /// Returns the same body with a closure of a link of the library. The closure must await nothing but `next`. If
    /// cancelling this body ends a pull that is in progress, cancelling the returned body also ends it.
    func observing(
        _ closure: @escaping @Sendable (_ next: @Sendable () async throws -> Data?) async throws -> Data?,
        end: @escaping @Sendable () -> Void = {}
    ) -> HTTPResponseBody {
        passing(through: closure, end: end, awaitsOnlyNext: true)
    }

    private func passing(
        through closure: @escaping @Sendable (_ next: @Sendable () async throws -> Data?) async throws -> Data?,
        end: @escaping @Sendable () -> Void, awaitsOnlyNext: Bool
    ) -> HTTPResponseBody {
        guard case .stream(let stream) = source else { return self }
        let (chunks, ending) = (stream.walk(), PassedEnd(end))
        let pull: @Sendable () async throws -> Data? = {
            try await ending.pull {
                try await closure {
                    let chunk = try await chunks.next()
                    // After a cancellation, nil does not mean that the body is complete.
                    if chunk == nil, ending.isCancelled { throw CancellationError() }
                    return chunk
                }
            }
        }
        let cancel: @Sendable () -> Void = {
            ending.cancel { stream.end(cancelling: true) }
        }
        return Self(
            .stream(
                OneTimeStream(
                    length: stream.length, pull: pull, cancel: cancel, endsPulls: awaitsOnlyNext && stream.endsPulls)))
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
        case .data(let data): Iterator(data: data.isEmpty ? nil : data, walk: nil)
        case .stream(let stream): Iterator(data: nil, walk: stream.walk())
        case .withheld: Iterator(data: nil, walk: nil, isWithheld: true)
        }
    }

    /// The iterator of ``HTTPResponseBody``.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        fileprivate var data: Data?
        fileprivate let walk: OneTimeStream.Walk?
        fileprivate var isWithheld = false
        /// The number of bytes that were returned since the reader's actor was last released.
        private var unyielded = 0

        fileprivate init(data: Data?, walk: OneTimeStream.Walk?, isWithheld: Bool = false) {
            (self.data, self.walk, self.isWithheld) = (data, walk, isWithheld)
        }

        /// Whether ``cancel()`` ends a pull that is in progress.
        var endsWhenCancelled: Bool { walk?.endsPulls ?? true }

        /// Ends the iteration, as dropping it does.
        func cancel() { walk?.cancel() }

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
            if let walk { return try await walk.next() }
            if isWithheld { throw HTTPBodyError.withheld }
            defer { data = nil }
            return data
        }

        /// Returns the next piece, as ``next()`` does. A `for` loop calls it.
        public mutating func next(isolation actor: (any Actor)?) async throws -> Data? { try await next() }
    }
}
