public import Foundation

/// The bytes of a request's body as an asynchronous sequence of pieces. Each piece is produced when the reader requests
/// it.
///
/// The sequence can be iterated once; ``HTTPBody/chunks()`` returns a new one. If ``length`` is known, the iteration
/// enforces it: more or fewer bytes are ``HTTPBodyError/invalid(_:file:)``, so that the announced length is the length
/// that is sent.
public struct BodyChunks: AsyncSequence, Sendable {
    /// The whole body if it is in memory; otherwise nil.
    public let data: Data?
    /// The number of bytes; nil if it is not known.
    public let length: Int?
    private let pull: @Sendable () async throws -> Data?

    /// Creates a sequence that has all bytes in one piece.
    public init(_ data: Data) {
        self.data = data
        length = data.count
        pull = { nil }
    }

    /// Creates a sequence whose pieces a closure returns.
    ///
    /// - Parameters:
    ///   - length: the number of bytes of all pieces. Default: nil (not known).
    ///   - pull: returns the next piece, or nil at the end of the body. It is not called again after nil or an error.
    public init(length: Int? = nil, pull: @escaping @Sendable () async throws -> Data?) {
        data = nil
        self.length = length
        self.pull = pull
    }

    /// Returns the same bytes with a required length. A length of nil changes nothing.
    ///
    /// - Throws: ``HTTPBodyError/invalid(_:file:)`` if the length is negative or differs from the known one.
    public func held(to length: Int?) throws(HTTPBodyError) -> BodyChunks {
        guard let length else { return self }
        guard length >= 0 else { throw HTTPBodyError.invalid("the contentLength of the body is negative") }
        guard let known = self.length else { return BodyChunks(length: length, pull: pull) }
        guard known == length else {
            throw HTTPBodyError.invalid("the body has \(known) bytes, but its contentLength is \(length)")
        }
        return self
    }

    /// Creates the iterator.
    public func makeAsyncIterator() -> Iterator { Iterator(first: data, length: length, pull: pull) }

    /// The iterator of ``BodyChunks``.
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

        /// Returns the next piece, or nil at the end. Empty pieces are skipped.
        ///
        /// If the length is known, the last piece is returned only after the body has ended. A caller that stops at the
        /// length can therefore not send the beginning of a longer body.
        ///
        /// - Throws: ``HTTPBodyError/invalid(_:file:)`` if there are more or fewer bytes than the length,
        ///   `CancellationError`, and the errors of the body.
        public mutating func next() async throws -> Data? {
            if let first, !first.isEmpty {
                self.first = nil
                return first
            }
            guard !isAtEnd else { return nil }
            isAtEnd = true
            guard let chunk = try await pulled() else {
                // A stream may end early because its task was cancelled. The body is not complete in that case.
                try Task.checkCancellation()
                if let missing, missing > 0 { throw wrongLength("ended \(missing) bytes short of") }
                return nil
            }
            if let missing {
                self.missing = missing - chunk.count
                let goesOn = missing == chunk.count ? try await pulled() != nil : false
                guard missing >= chunk.count, !goesOn else { throw wrongLength("exceeds") }
            }
            isAtEnd = missing == 0
            return chunk
        }

        /// Returns the next piece, as ``next()`` does. A `for` loop calls it.
        public mutating func next(isolation actor: (any Actor)?) async throws -> Data? { try await next() }

        private func pulled() async throws -> Data? {
            while let chunk = try await pull() {
                if !chunk.isEmpty { return chunk }
            }
            return nil
        }

        private func wrongLength(_ what: String) -> HTTPBodyError {
            HTTPBodyError.invalid("the body \(what) its contentLength of \(length ?? 0) bytes")
        }
    }
}
