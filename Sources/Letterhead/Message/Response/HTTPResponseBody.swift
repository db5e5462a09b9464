public import Foundation

/// The body of a response: buffered, or pulled from the connection as it is asked for.
///
/// ```swift
/// let data = try await response.body.data()              // all of it
/// for try await chunk in response.body { … }             // piece by piece
/// ```
///
/// A buffered body can be read any number of times. A streamed one can be walked once; a second walk throws
/// ``HTTPBodyError/alreadyRead``, and dropping it unread ends its connection.
public struct HTTPResponseBody: AsyncSequence, Sendable {
    private enum Source: Sendable {
        case data(Data)
        case stream(OneTimeStream)
        case withheld(OneTimeStream)
    }

    private let source: Source
    /// The response that the body is a part of, for the errors of reading it. Default: nil, not known.
    var origin: Origin?

    private init(_ source: Source) { self.source = source }

    /// A body in memory. Default: empty.
    public init(_ data: Data = Data()) { source = .data(data) }

    /// A body that is pulled.
    ///
    /// - Parameters:
    ///   - length: how many bytes will come, when that is known.
    ///   - pull: gives the next piece; nil at the end. Never called again after nil or an error.
    ///   - cancel: called once when the body is dropped before its end.
    public init(
        length: Int?, pull: @escaping @Sendable () async throws -> Data?, cancel: @escaping @Sendable () -> Void = {}
    ) {
        source = .stream(OneTimeStream(length: length, pull: pull, cancel: cancel))
    }

    /// The bytes, when they are in memory; nil for a body that is still arriving.
    public var buffered: Data? {
        if case .data(let data) = source { data } else { nil }
    }

    /// How many bytes there are, or will be; nil when nobody knows.
    public var length: Int? {
        switch source {
        case .data(let data): data.count
        case .stream(let stream), .withheld(let stream): stream.length
        }
    }

    /// All bytes.
    ///
    /// - Parameter limit: how many are allowed. Default: 64 MiB; a body that is in memory already has passed its limit.
    /// - Throws: ``HTTPBodyError/tooLarge(limit:)`` past the limit, ``HTTPBodyError/outOfMemory(after:)`` when there is no
    ///   memory for the body, ``HTTPBodyError/alreadyRead`` on a second iteration of a streamed body, and what the
    ///   connection throws.
    public func data(upTo limit: Int = 64 << 20) async throws -> Data {
        if let buffered { return buffered }
        var bytes = GrowingBytes()
        for try await chunk in self {
            guard bytes.count + chunk.count <= limit else { throw HTTPBodyError.tooLarge(limit: limit) }
            guard bytes.append(chunk) else { throw HTTPBodyError.outOfMemory(after: bytes.count) }
        }
        return bytes.take()
    }

    /// The same body, whose pieces go through a closure on their way out; a body in memory stays as it is.
    ///
    /// For links that watch or limit what is read. This body can be read no longer.
    ///
    /// - Parameters:
    ///   - closure: calls `next` for the piece, nil at the end, and gives it on, or throws.
    ///   - end: called once when a streamed body has ended, failed or been dropped. Default: does nothing.
    public func passing(
        through closure: @escaping @Sendable (_ next: @Sendable () async throws -> Data?) async throws -> Data?,
        end: @escaping @Sendable () -> Void = {}
    ) -> HTTPResponseBody {
        guard case .stream(let stream) = source else { return self }
        let walk = stream.walk()
        return HTTPResponseBody(length: stream.length) {
            let chunk = try await closure { try await walk.next() }
            if chunk == nil { end() }
            return chunk
        } cancel: {
            stream.end(cancelling: true)
            end()
        }
    }

    /// Whether it is still arriving.
    var isStreamed: Bool { if case .data = source { false } else { true } }

    /// The same body, that cannot be read if it is still arriving: for those who judge the head.
    func withheld() -> HTTPResponseBody {
        if case .stream(let stream) = source { Self(.withheld(stream)) } else { self }
    }

    /// The body that was withheld.
    func released() -> HTTPResponseBody {
        if case .withheld(let stream) = source { Self(.stream(stream)) } else { self }
    }

    /// Starts the walk.
    public func makeAsyncIterator() -> Iterator {
        switch source {
        case .data(let data): Iterator(data: data.isEmpty ? nil : data, walk: nil)
        case .stream(let stream): Iterator(data: nil, walk: stream.walk())
        case .withheld: Iterator(data: nil, walk: nil, isWithheld: true)
        }
    }

    /// Gives the pieces in order.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        fileprivate var data: Data?
        fileprivate let walk: OneTimeStream.Walk?
        fileprivate var isWithheld = false

        /// The next piece, nil at the end.
        public mutating func next() async throws -> Data? {
            if let walk { return try await walk.next() }
            if isWithheld { throw HTTPBodyError.withheld }
            defer { data = nil }
            return data
        }

        /// The next piece, nil at the end, without leaving the caller's actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Data? { try await next() }
    }
}
