// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// Reads the responses of an HTTP/1.1 connection (RFC 9112), one after the other, from bytes that arrive in pieces of
/// any size.
///
/// ``ResponseRules`` judge each line. The reader finds the lines, decodes chunks, and knows where the body ends. It
/// neither allocates nor copies memory, except for the lines that it appends to an array of the caller.
struct ResponseReader {
    @safe enum Step {
        /// All bytes have been read, and the response continues.
        case needsMore
        /// The lines of a head are complete. Take them and empty the array before the next call.
        case interim, head
        /// The next bytes of the body. They are part of the bytes that the caller has passed.
        case body(UnsafeRawBufferPointer)
        /// The response is complete, and the array has its trailers. Any bytes left belong to no request.
        case end
    }

    private enum Phase {
        case head, body
        // In this order: the size of a chunk, its extensions, LF, its data, and the CRLF after the data.
        case size, extensions, sizeEnd, chunk, chunkEnd, chunkEndLF
        case trailers, end
    }

    private(set) var rules: ResponseRules
    /// Whether a byte of the response has arrived.
    private(set) var hasBegun = false
    private var isHead = false
    private(set) var endsWithConnection = false
    private var phase = Phase.end
    /// Where the unfinished line begins in the array of the caller.
    private var lineStart = 0
    /// How many bytes of the body or of the chunk follow.
    private var left = 0
    /// The numbers of digits and of other bytes that precede the data of a chunk, for their limits.
    private var (digits, extra) = (0, 0)
    private let fresh: ResponseRules

    /// Creates a reader. Call ``begin(isHead:)`` before each response.
    ///
    /// - Parameters:
    ///   - limit: the largest number of bytes of all heads and of the trailers.
    ///   - isSecure: whether the connection uses TLS, for advice in error messages.
    init(limit: Int, isSecure: Bool) {
        fresh = ResponseRules(limit: limit, isSecure: isSecure)
        rules = fresh
    }

    /// Expects the response to the next request.
    mutating func begin(isHead: Bool) {
        (rules, hasBegun, phase, lineStart, endsWithConnection) = (fresh, false, .head, 0, false)
        self.isHead = isHead
    }

    var isComplete: Bool { phase == .end && hasBegun }

    /// Whether the connection can carry a further request, if no bytes are left.
    var mayReuse: Bool { isComplete && rules.keepsConnection && !endsWithConnection }

    /// Reads the next part of the response, and advances `bytes` past it.
    ///
    /// - Parameter lines: collects the lines of a head or of the trailers. It must be empty when they begin.
    mutating func next(
        _ bytes: inout UnsafeRawBufferPointer, lines: inout [UInt8]
    ) throws(TransportFailure) -> Step {
        while true {
            switch phase {
            case .head:
                guard let section = try unsafe readLines(&bytes, &lines) else { return .needsMore }
                guard section == .head else { return .interim }
                beginBody()
                return .head
            case .body where left == 0: phase = .end
            case .chunk where left == 0: phase = .chunkEnd
            case .body, .chunk:
                guard unsafe !bytes.isEmpty else { return .needsMore }
                return unsafe .body(take(&bytes, atMost: left))
            case .trailers:
                guard try unsafe readLines(&bytes, &lines) != nil else { return .needsMore }
                phase = .end
            case .end: return .end
            case .size, .extensions, .sizeEnd, .chunkEnd, .chunkEndLF:
                guard let byte = unsafe bytes.first else { return .needsMore }
                unsafe bytes = bytes.dropped(1)
                try read(byte)
            }
        }
    }

    /// Takes back the last `count` bytes of the body, which the caller will pass again.
    mutating func unread(_ count: Int) { left += count }

    /// Ends the response with the end of the connection. Over TLS, the end of the connection ends a body only after
    /// close_notify.
    mutating func finish() throws(TransportFailure) {
        switch phase {
        case .end: break
        case .body where endsWithConnection || left == 0: phase = .end
        case .head: throw rules.isInHead ? .incompleteHead : .noResponse
        default: throw .truncated
        }
    }

    private mutating func beginBody() {
        endsWithConnection = false
        if isHead || HTTPStatus(rules.status).hasNoBody {
            phase = .end
        } else if rules.framing.hasTransferCoding {
            beginChunk()
        } else {
            endsWithConnection = rules.framing.endsWithConnection
            (phase, left) = (.body, rules.framing.bodyLength ?? .max)
        }
    }

    private mutating func take(_ bytes: inout UnsafeRawBufferPointer, atMost count: Int) -> UnsafeRawBufferPointer {
        let count = min(count, bytes.count)
        defer { unsafe bytes = bytes.dropped(count) }
        left -= count
        return unsafe UnsafeRawBufferPointer(rebasing: bytes[..<count])
    }
}

// MARK: Lines

extension ResponseReader {
    /// Reads lines up to the end of their section. Lines that are whole in `bytes` are judged there, and appended
    /// together.
    private mutating func readLines(
        _ bytes: inout UnsafeRawBufferPointer, _ lines: inout [UInt8]
    ) throws(TransportFailure) -> ResponseRules.Section? {
        let buffer = unsafe bytes.bindMemory(to: UInt8.self)
        if !buffer.isEmpty { hasBegun = true }
        // Where the next line begins, and the first byte that isn't in the array.
        var (start, pending) = (0, 0)
        while let end = unsafe buffer.first("\n", from: start, to: buffer.count) {
            let isContinued = lines.count > lineStart
            if isContinued { unsafe append(buffer, &pending, upTo: end + 1, to: &lines) }
            let section =
                isContinued
                ? try judgeLast(lines) : try unsafe rules.read(buffer.extracting(start...end), isMultiplexed: false)
            if let section {
                // The empty line isn't kept.
                if isContinued { lines.removeSubrange(lineStart...) }
                unsafe append(buffer, &pending, upTo: start, to: &lines)
                lineStart = 0
                unsafe bytes = bytes.dropped(end + 1)
                return section
            }
            if isContinued { lineStart = lines.count }
            start = end + 1
        }
        lineStart += start - pending
        unsafe append(buffer, &pending, upTo: buffer.count, to: &lines)
        unsafe bytes = bytes.dropped(bytes.count)
        try unsafe lines.withUnsafeBufferPointer { lines throws(TransportFailure) in
            try unsafe rules.check(beginning: lines.extracting(lineStart...))
        }
        try rules.check(unfinished: lines.count - lineStart)
        return nil
    }

    private mutating func judgeLast(_ lines: [UInt8]) throws(TransportFailure) -> ResponseRules.Section? {
        let start = lineStart
        return try unsafe lines.withUnsafeBufferPointer { lines throws(TransportFailure) in
            try unsafe rules.read(lines.extracting(start...), isMultiplexed: false)
        }
    }

    private func append(
        _ buffer: UnsafeBufferPointer<UInt8>, _ pending: inout Int, upTo end: Int, to lines: inout [UInt8]
    ) {
        guard end > pending else { return }
        unsafe lines.append(contentsOf: buffer.extracting(pending..<end))
        pending = end
    }
}

// MARK: Chunks

extension ResponseReader {
    private mutating func beginChunk() { (phase, left, digits, extra) = (.size, 0, 0, 0) }

    /// Reads a byte between the data of chunks (RFC 9112, 7.1). Lines end with CRLF only, and a size has at most 16
    /// digits. Extensions are ignored. Those that are longer than the data of the chunk count toward the limit of the
    /// head, because the limit of the body doesn't include them.
    private mutating func read(_ byte: UInt8) throws(TransportFailure) {
        switch (phase, byte) {
        case (.size, _) where extra == 0 && Self.digit(byte) != nil:
            digits += 1
            guard digits <= 16, left <= Int.max >> 4 else { throw .brokenChunks }
            left = left << 4 | (Self.digit(byte) ?? 0)
        case (.size, 0x0D) where digits > 0, (.extensions, 0x0D): phase = .sizeEnd
        // Some servers pad the size with spaces.
        case (.size, 0x20) where digits > 0, (.size, 0x09) where digits > 0: try readExtra()
        case (.size, UInt8(ascii: ";")) where digits > 0:
            phase = .extensions
            try readExtra()
        case (.extensions, 0x20...), (.extensions, 0x09): try readExtra()
        case (.sizeEnd, 0x0A): (phase, lineStart) = (left == 0 ? .trailers : .chunk, 0)
        case (.chunkEnd, 0x0D): phase = .chunkEndLF
        case (.chunkEndLF, 0x0A): beginChunk()
        default: throw .brokenChunks
        }
    }

    private mutating func readExtra() throws(TransportFailure) {
        extra += 1
        if extra > min(left, 256) { try rules.count(1) }
    }

    private static func digit(_ byte: UInt8) -> Int? {
        switch byte {
        case 48...57: Int(byte) - 48
        case 65...70, 97...102: Int(byte | 0x20) - 87
        default: nil
        }
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func dropped(_ count: Int) -> Self { unsafe Self(rebasing: self[count...]) }
}
