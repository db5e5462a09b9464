// SPDX-License-Identifier: MIT
extension HTTPResponseBody {
    /// The lines of the body as they arrive, without their endings.
    ///
    /// ```swift
    /// for try await line in try await client.stream(Logs()).body.lines { print(line) }
    /// ```
    ///
    /// - A line ends with LF or CRLF. The sequence includes empty lines, and a last line without an ending.
    /// - The bytes are decoded as UTF-8, and a malformed sequence becomes U+FFFD.
    /// - A line of more than 1 MiB fails with `.responseTooLarge`. To change the limit, use ``lines(upTo:)``.
    /// - At most one chunk, one incomplete line and 7 complete lines are in memory.
    public var lines: Lines { lines(upTo: 1 << 20) }

    /// Returns the lines of the body as they arrive, with a custom limit for the length of a line. See ``lines``.
    ///
    /// - Parameter limit: the maximum number of bytes in a line, without its ending.
    public func lines(upTo limit: Int) -> Lines { Lines(body: self, limit: limit) }

    /// The lines of a body. See ``HTTPResponseBody/lines``.
    public struct Lines: AsyncSequence, Sendable {
        fileprivate let body: HTTPResponseBody
        fileprivate let limit: Int

        public func makeAsyncIterator() -> Iterator { Iterator(body: body, limit: limit) }

        /// Iterates over the lines, and reads chunks of the body when it needs them.
        public struct Iterator: AsyncIteratorProtocol, Sendable {
            /// The next lines in the chunk, in reverse order. They are split in batches, so that most calls of `next`
            /// need neither a further function call nor an access to the chunk.
            @usableFromInline var batch: [String] = []
            private var pieces: HTTPResponseBody.Iterator?
            private var splitter: LineSplitter
            private let origin: HTTPResponseBody.Origin?

            fileprivate init(body: HTTPResponseBody, limit: Int) {
                pieces = body.makeAsyncIterator()
                splitter = LineSplitter(limit: limit)
                origin = body.origin
            }

            /// Returns the next line, or nil at the end of the body.
            ///
            /// - Throws: `.responseTooLarge` for a line over the limit, and the errors of reading the body.
            @inlinable
            public mutating func next() async throws -> String? {
                if let line = batch.popLast() { return line }
                return try await nextOfBatch()
            }

            @inlinable
            public mutating func next(isolation actor: (any Actor)?) async throws -> String? { try await next() }

            @usableFromInline
            mutating func nextOfBatch() async throws -> String? {
                while true {
                    do {
                        try splitter.takeLines(into: &batch)
                        if let line = batch.popLast() { return line }
                        var line: String?
                        try splitter.next { bytes in
                            line = unsafe String(decoding: bytes, as: UTF8.self)
                            return true
                        }
                        if let line { return line }
                        guard let piece = try await pieces?.next() else {
                            pieces = nil
                            return try splitter.rest { unsafe String(decoding: $0, as: UTF8.self) }
                        }
                        splitter.append(piece)
                    } catch {
                        (pieces, splitter) = (nil, LineSplitter(limit: 0))
                        guard let error = error as? LineSplitter.LineTooLong else { throw error }
                        throw HTTPResponseBody.Origin.error(
                            origin, .responseTooLarge, "a line is longer than the \(error.limit) bytes allowed")
                    }
                }
            }
        }
    }
}
