public import Foundation

/// The bytes of a request's body, pulled piece by piece: the next is made when it is asked for, and not before.
///
/// It is walked once; ``HTTPBody/chunks()`` gives a fresh one. When it knows its ``length``, the walk holds to it: a
/// piece that goes beyond it, or an end before it, is ``HTTPBodyError/invalid(_:file:)``, so that what was announced is what is sent.
public struct BodyChunks: AsyncSequence, Sendable {
    /// The whole body, when it is in memory.
    public let data: Data?
    /// How many bytes there are, when that is known.
    public let length: Int?
    private let pull: @Sendable () async throws -> Data?

    /// All bytes in one piece.
    public init(_ data: Data) {
        self.data = data
        length = data.count
        pull = { nil }
    }

    /// Pieces as a closure gives them; nil ends the body.
    ///
    /// - Parameters:
    ///   - length: how many bytes the pieces have in all. Default: not known.
    ///   - pull: gives the next piece; not called again after nil or an error.
    public init(length: Int? = nil, pull: @escaping @Sendable () async throws -> Data?) {
        data = nil
        self.length = length
        self.pull = pull
    }

    /// The same bytes, held to a length; nil changes nothing.
    ///
    /// - Throws: ``HTTPBodyError/invalid(_:file:)`` when it is negative, or another than the one that is known.
    public func held(to length: Int?) throws(HTTPBodyError) -> BodyChunks {
        guard let length else { return self }
        guard length >= 0 else { throw HTTPBodyError.invalid("the body says that its length is negative") }
        guard let known = self.length else { return BodyChunks(length: length, pull: pull) }
        guard known == length else {
            throw HTTPBodyError.invalid("the body has \(known) bytes, and says that its length is \(length)")
        }
        return self
    }

    /// Starts the walk.
    public func makeAsyncIterator() -> Iterator { Iterator(first: data, length: length, pull: pull) }

    /// Gives the pieces in order.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        private var first: Data?
        private var missing: Int?
        private let length: Int?
        private var isAtEnd = false
        private let pull: @Sendable () async throws -> Data?

        fileprivate init(first: Data?, length: Int?, pull: @escaping @Sendable () async throws -> Data?) {
            (self.first, self.length, self.pull) = (first, length, pull)
            missing = first == nil ? length : nil
        }

        /// The next piece, nil at the end; empty pieces are left out.
        ///
        /// The last piece of a known length is given only when the body has ended behind it, so that a caller who stops at
        /// the length has not sent a body that goes on.
        ///
        /// - Throws: ``HTTPBodyError/invalid(_:file:)`` when the bytes are more or fewer than the length, `CancellationError`, and what the
        ///   body itself throws.
        public mutating func next() async throws -> Data? {
            if let first, !first.isEmpty {
                self.first = nil
                return first
            }
            guard !isAtEnd else { return nil }
            isAtEnd = true
            guard let chunk = try await pulled() else {
                // A stream may end early because its task was cancelled; that is no end of the body.
                try Task.checkCancellation()
                if let missing, missing > 0 { throw wrongLength("ended \(missing) bytes before") }
                return nil
            }
            if let missing {
                self.missing = missing - chunk.count
                let goesOn = missing == chunk.count ? try await pulled() != nil : false
                guard missing >= chunk.count, !goesOn else { throw wrongLength("goes beyond") }
            }
            isAtEnd = missing == 0
            return chunk
        }

        /// The next piece, nil at the end, without leaving the caller's actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Data? { try await next() }

        private func pulled() async throws -> Data? {
            while let chunk = try await pull() {
                if !chunk.isEmpty { return chunk }
            }
            return nil
        }

        private func wrongLength(_ what: String) -> HTTPBodyError {
            HTTPBodyError.invalid("the body \(what) the \(length ?? 0) bytes that it said it has")
        }
    }
}
