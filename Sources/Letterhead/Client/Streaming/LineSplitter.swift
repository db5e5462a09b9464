// SPDX-License-Identifier: MIT
package import LetterheadFoundation

/// Splits bytes that arrive in chunks into lines, in linear time and without copying all bytes.
///
/// A line inside one chunk is read in place. Only a line that spans several chunks is copied, into ``partial``.
///
/// The bytes of a line live until the closure that receives them returns. Offsets are at most the length of the chunk.
package struct LineSplitter: Sendable {
    /// The error for a line that is longer than the limit, in bytes.
    package struct LineTooLong: Error {
        let limit: Int
    }

    private static let (lineFeed, carriageReturn) = (UInt8(ascii: "\n"), UInt8(ascii: "\r"))

    /// The maximum number of lines in a batch. With larger batches, allocating the strings takes more time, because
    /// allocators reuse only a few freed blocks of one size without a search.
    private static let batchSize = 7

    private let endsAtCarriageReturn: Bool
    private let limit: Int
    private var piece = Data()
    /// The index of the next line in the chunk.
    private var offset = 0
    /// The next LF and CR in the chunk, or else its end. They prevent searching a byte twice.
    private var nextOffsets = (lineFeed: -1, carriageReturn: -1)
    /// The beginning of an incomplete line, from previous chunks.
    private var partial: [UInt8] = []
    /// Whether the last chunk ended with CR, so that an LF at the beginning of the next chunk belongs to it.
    private var skipsLineFeed = false

    /// Creates a splitter.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of bytes in a line, without its ending.
    ///   - endsAtCarriageReturn: whether CR ends a line, as in event streams, and not only LF or CR and LF. Default:
    ///     false.
    package init(limit: Int, endsAtCarriageReturn: Bool = false) {
        self.endsAtCarriageReturn = endsAtCarriageReturn
        self.limit = min(max(limit, 0), .max - 1)
    }

    /// Adds the next chunk. Read all lines of the previous chunk first.
    package mutating func append(_ next: Data) {
        (piece, offset, nextOffsets) = (next, 0, (-1, -1))
        if skipsLineFeed, let first = next.first {
            skipsLineFeed = false
            if first == Self.lineFeed { offset = 1 }
        }
    }

    /// Calls a closure with each complete line, without its ending, until the closure returns true.
    ///
    /// - Throws: ``LineTooLong``, and the errors of the closure.
    @safe
    package mutating func next(_ body: (UnsafeRawBufferPointer) throws -> Bool) throws {
        let (piece, limit, dropsReturn) = (piece, limit, !endsAtCarriageReturn)
        // A call that takes all of `self` by value would copy it for each line.
        try unsafe piece.withUnsafeBytes { bytes in
            while offset < bytes.count {
                let start = offset
                guard let (end, after) = unsafe endOfLine(in: bytes, from: start) else {
                    try unsafe keep(bytes[start...])
                    offset = bytes.count
                    return
                }
                offset = after
                if !partial.isEmpty {
                    try unsafe keep(bytes[start..<end])
                    defer { partial.removeAll(keepingCapacity: partial.capacity <= 65_536) }
                    if try unsafe partial.withUnsafeBytes({ try unsafe body(Self.line($0, dropsReturn, limit)) }) {
                        return
                    }
                } else {
                    let line = unsafe UnsafeRawBufferPointer(rebasing: bytes[start..<end])
                    if try unsafe body(Self.line(line, dropsReturn, limit)) { return }
                }
            }
        }
    }

    /// Returns a line without the CR of its ending.
    private static func line(
        _ line: UnsafeRawBufferPointer, _ dropsReturn: Bool, _ limit: Int
    ) throws -> UnsafeRawBufferPointer {
        let hasReturn = unsafe dropsReturn && line.last == carriageReturn
        guard line.count - (hasReturn ? 1 : 0) <= limit else { throw LineTooLong(limit: limit) }
        return unsafe hasReturn ? UnsafeRawBufferPointer(rebasing: line.dropLast()) : line
    }

    /// Reads the complete lines of the chunk that end with LF, as UTF-8 and in reverse order, up to ``batchSize``.
    /// Reads no line if the next one began in a previous chunk or continues in the next chunk. Use ``next(_:)`` for
    /// such a line.
    ///
    /// - Throws: ``LineTooLong`` if the first line is longer than the limit.
    mutating func takeLines(into lines: inout [String]) throws {
        guard partial.isEmpty, !endsAtCarriageReturn else { return }
        let (piece, limit, first) = (piece, limit, offset)
        offset = try unsafe piece.withUnsafeBytes { bytes in
            var start = first
            while lines.count < Self.batchSize,
                let end = unsafe Self.offset(of: "\n", in: bytes, from: start)
            {
                let hasReturn = unsafe end > start && bytes[end - 1] == Self.carriageReturn
                let line = unsafe UnsafeRawBufferPointer(rebasing: bytes[start..<(hasReturn ? end - 1 : end)])
                guard line.count <= limit else {
                    guard lines.isEmpty else { break }
                    throw LineTooLong(limit: limit)
                }
                unsafe lines.append(String(decoding: line, as: UTF8.self))
                start = end + 1
            }
            return start
        }
        lines.reverse()
    }

    /// Calls a closure with the bytes after the last line ending, and returns its result. Returns nil if the body ends
    /// with a line ending.
    @safe mutating func rest<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result? {
        guard !partial.isEmpty else { return nil }
        defer { partial = [] }
        guard partial.count <= limit else { throw LineTooLong(limit: limit) }
        return try unsafe partial.withUnsafeBytes(body)
    }

    /// Stores the beginning of a line. One byte over the limit may still be the CR of the line ending.
    private mutating func keep(_ bytes: Slice<UnsafeRawBufferPointer>) throws {
        guard unsafe bytes.count <= limit + 1 - min(partial.count, limit + 1) else { throw LineTooLong(limit: limit) }
        unsafe partial.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes))
    }

    private mutating func endOfLine(in bytes: UnsafeRawBufferPointer, from start: Int) -> (end: Int, next: Int)? {
        if nextOffsets.lineFeed < start {
            nextOffsets.lineFeed = unsafe Self.offset(of: "\n", in: bytes, from: start) ?? bytes.count
        }
        if endsAtCarriageReturn, nextOffsets.carriageReturn < start {
            nextOffsets.carriageReturn = unsafe Self.offset(of: "\r", in: bytes, from: start) ?? bytes.count
        }
        let end =
            endsAtCarriageReturn ? min(nextOffsets.lineFeed, nextOffsets.carriageReturn) : nextOffsets.lineFeed
        guard end < bytes.count else { return nil }
        guard end != nextOffsets.lineFeed else { return (end, end + 1) }
        // The line ends here, even if an LF follows, so that an event isn't delayed until the next byte arrives.
        if end + 1 == bytes.count { skipsLineFeed = true }
        return unsafe (end, end + 1 < bytes.count && bytes[end + 1] == Self.lineFeed ? end + 2 : end + 1)
    }

    private static func offset(of mark: Unicode.Scalar, in bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
        unsafe bytes.assumingMemoryBound(to: UInt8.self).first(mark, from: start, to: bytes.count)
    }
}
