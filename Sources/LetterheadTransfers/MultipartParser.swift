// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// Splits a multipart body into its parts (RFC 2046, 5.1.1), in linear time. It performs no input or output.
///
/// - A delimiter is a whole line: two hyphens, the boundary, two more hyphens after the last part, and blanks.
/// - A line that continues in any other way belongs to a part, because a nested body may have a longer boundary that
///   begins with this one.
/// - The line break before a delimiter is CRLF, so a part can contain any LF. If the first delimiter ends with a bare
///   LF, the server writes bare LFs everywhere. An LF is then enough.
struct MultipartParser: Sendable {
    enum Event: Sendable, Equatable {
        case head(HTTPHeaders)
        /// Some bytes of a part. Before the first head, they belong to the preamble.
        case bytes(Data)
        case endOfPart
        /// The last part has ended. All later bytes are ignored.
        case end
    }

    struct Fault: Error {
        let code: HTTPError.Code
        let message: String

        init(_ code: HTTPError.Code, _ message: String) { (self.code, self.message) = (code, message) }
    }

    private enum Place { case head, body, epilogue }

    /// The kind of a line. It is incomplete until the bytes that decide have arrived.
    private enum Line { case content, incomplete, lastDelimiter, delimiter(end: Int) }

    /// The maximum number of blanks at the end of a delimiter. A line with more counts as content, so that the same
    /// blanks aren't compared again for each chunk.
    private static let maximumPadding = 256
    private static let (lineFeed, carriageReturn, hyphen) = (UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "-"))

    private var dashedBoundary: [UInt8]
    /// A boundary that itself begins with two hyphens. Some servers, such as cameras, don't write two more hyphens
    /// before it. The first delimiter in the body shows whether the server does.
    private var bareBoundary: [UInt8]?
    private let (partLimit, headLimit): (Int, Int)
    /// What the next bytes belong to. The text before the first part, the preamble, is read as if it were the body of a
    /// part.
    private var place = Place.body
    private var buffer: [UInt8] = []
    /// The first index that no event has covered yet.
    private var start = 0
    /// The first index that wasn't searched for LF yet.
    private var searched = 0
    private var isAtEnd = false
    /// Before the first delimiter, any LF ends a line.
    private var usesBareLineFeeds = true
    /// Whether the parser is still in the first body line. That line may be a delimiter without a line break before it.
    private var isInFirstLine = true
    private var (preambleCount, partCount) = (0, 0)

    /// - Parameters:
    ///   - partLimit: the maximum number of parts.
    ///   - headLimit: the maximum number of bytes in a head, including its blank line, and in the preamble.
    init(boundary: String, partLimit: Int, headLimit: Int) {
        dashedBoundary = Array("--\(boundary)".utf8)
        bareBoundary = boundary.begins(with: "--") ? Array(boundary.utf8) : nil
        (self.partLimit, self.headLimit) = (partLimit, headLimit)
    }

    /// Adds the next chunk. Read all events from the previous chunk first.
    mutating func append(_ piece: Data) {
        buffer.removeFirst(start)
        (start, searched) = (0, searched - start)
        buffer.append(contentsOf: piece)
    }

    /// Records that the last chunk has arrived. From now on, ``next()`` doesn't return nil.
    mutating func finish() { isAtEnd = true }

    /// Returns the next event, or nil if it needs more bytes.
    mutating func next() throws(Fault) -> Event? {
        let event: Event? =
            switch place {
            case .head: try nextHead()
            case .body: nextOfBody()
            case .epilogue: .end
            }
        if partCount == 0, case .bytes(let piece) = event {
            preambleCount += piece.count
            guard preambleCount <= headLimit else {
                throw Fault(
                    .invalidResponse,
                    "the first \(headLimit) bytes contain no delimiter with the boundary (to allow more, raise "
                        + "headLimit)"
                )
            }
        }
        guard event == nil, isAtEnd else { return event }
        let part = place == .body ? partCount : partCount + 1
        throw Fault(
            .invalidResponse,
            part == 0 ? "the body has no delimiter with the boundary" : "the body is truncated in part \(part)")
    }

    private mutating func nextHead() throws(Fault) -> Event? {
        guard partCount < partLimit else {
            throw Fault(
                .responseTooLarge, "there are more than the \(partLimit) parts allowed (to allow more, raise partLimit)"
            )
        }
        let end = buffer.endOfHead(from: start, searched: &searched)
        guard (end ?? buffer.count) - start <= headLimit else {
            throw Fault(
                .responseTooLarge,
                "the head of part \(partCount + 1) is larger than the \(headLimit) bytes allowed (to allow more, "
                    + "raise headLimit)")
        }
        guard let end else { return nil }
        let lines = Array(buffer[start..<end])
        enter(.body, at: end)
        partCount += 1
        do { return .head(try HTTPHeaders(lines: lines)) } catch {
            throw Fault(.invalidResponse, "the head of part \(partCount) is malformed: \(error.description)")
        }
    }

    private mutating func nextOfBody() -> Event? {
        if isInFirstLine {
            let first = line(at: start)
            if case .incomplete = first { return nil }
            if let end = end(by: first) { return end }
            isInFirstLine = false
        }
        while let feed = buffer.lineFeed(from: searched) {
            let isLineBreak = usesBareLineFeeds || feed > start && buffer[feed - 1] == Self.carriageReturn
            let next = isLineBreak ? line(at: feed + 1) : .content
            if case .content = next {
                searched = feed + 1
                continue
            }
            // The line break belongs to the delimiter. After the bytes before it have been returned, the search finds
            // it again.
            searched = feed
            return bytes(upTo: usesBareLineFeeds ? feed : feed - 1) ?? end(by: next)
        }
        searched = buffer.count
        let mayBreak = !usesBareLineFeeds && start < buffer.count && buffer.last == Self.carriageReturn
        return bytes(upTo: mayBreak ? buffer.count - 1 : buffer.count)
    }

    private mutating func bytes(upTo end: Int) -> Event? {
        guard start < end else { return nil }
        defer { start = end }
        return .bytes(Data(buffer[start..<end]))
    }

    private mutating func end(by line: Line) -> Event? {
        switch line {
        case .content, .incomplete: return nil
        case .delimiter(let end):
            if partCount == 0 { usesBareLineFeeds = buffer[end - 2] != Self.carriageReturn }
            enter(.head, at: end)
        case .lastDelimiter: place = .epilogue
        }
        return .endOfPart
    }

    private mutating func enter(_ next: Place, at index: Int) {
        (place, start, searched, isInFirstLine) = (next, index, index, true)
    }

    private mutating func line(at index: Int) -> Line {
        let found = line(at: index, dashedBoundary)
        guard let bare = bareBoundary, partCount == 0, case .content = found else { return found }
        let other = line(at: index, bare)
        if case .delimiter = other { (dashedBoundary, bareBoundary) = (bare, nil) }
        return other
    }

    /// Compares the line at an index with a delimiter.
    private func line(at index: Int, _ dashedBoundary: [UInt8]) -> Line {
        guard buffer[index...].starts(with: dashedBoundary.prefix(buffer.count - index)) else { return .content }
        var end = index + dashedBoundary.count
        let isLast = byte(at: end) == Self.hyphen && byte(at: end + 1) ?? Self.hyphen == Self.hyphen
        if isLast { end += 2 }
        end += buffer.dropFirst(end).prefix(Self.maximumPadding).prefix { $0 == 0x20 || $0 == 0x09 }.count
        let hasReturn = byte(at: end) == Self.carriageReturn
        switch byte(at: hasReturn ? end + 1 : end) {
        case Self.lineFeed: return isLast ? .lastDelimiter : .delimiter(end: hasReturn ? end + 2 : end + 1)
        case nil: return isAtEnd && isLast && end <= buffer.count ? .lastDelimiter : .incomplete
        default: return .content
        }
    }

    private func byte(at index: Int) -> UInt8? { index < buffer.count ? buffer[index] : nil }
}

extension [UInt8] {
    /// Returns the index after the blank line that ends a head, or nil if the head is incomplete.
    ///
    /// - Parameter searched: the first byte that wasn't searched for LF. It moves to the result, or to the end.
    func endOfHead(from start: Int, searched: inout Int) -> Int? {
        while let feed = lineFeed(from: searched) {
            searched = feed + 1
            let end = feed > start && self[feed - 1] == UInt8(ascii: "\r") ? feed - 1 : feed
            if end == start || self[end - 1] == UInt8(ascii: "\n") { return searched }
        }
        searched = count
        return nil
    }

    fileprivate func lineFeed(from start: Int) -> Int? {
        // The search stays inside the bytes, and only an index leaves the closure.
        unsafe withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, start < bytes.count,
                let found = unsafe memchr(base + start, 0x0A, bytes.count - start)
            else { return nil }
            return unsafe base.distance(to: UnsafeRawPointer(found))
        }
    }
}
