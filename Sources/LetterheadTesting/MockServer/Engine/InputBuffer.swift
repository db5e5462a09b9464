// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// Received bytes that have not been parsed yet.
struct InputBuffer {
    private var bytes: [UInt8] = []
    private var start = 0
    /// Where the search for a line end continues, so that it looks at each byte once.
    private var searched = 0

    var count: Int { bytes.count - start }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ new: ArraySlice<UInt8>) { bytes.append(contentsOf: new) }

    /// Removes and returns one line without its CR LF, or nil if the line is incomplete.
    ///
    /// - Parameter limit: the most bytes in a line. A longer line throws `tooLong`.
    mutating func takeLine(limit: Int, tooLong: RequestFault) throws(RequestFault) -> String? {
        guard let end = indexOfLineFeed() else {
            guard count <= limit else { throw tooLong }
            return nil
        }
        guard end - start <= limit else { throw tooLong }
        guard end > start, bytes[end - 1] == UInt8(ascii: "\r") else {
            throw .malformed("a line does not end with CR LF")
        }
        let line = bytes[start..<(end - 1)]
        guard !line.contains(where: { $0 == UInt8(ascii: "\r") || $0 == 0 }) else {
            throw .malformed("a line contains CR or NUL")
        }
        // All bytes above ASCII are allowed in a value (RFC 9110, 5.5). Text that isn't UTF-8 is decoded as Latin-1.
        let text =
            String(validating: line, as: UTF8.self) ?? String(String.UnicodeScalarView(line.map { Unicode.Scalar($0) }))
        drop(to: end + 1)
        return text
    }

    /// Removes at most `limit` bytes, and appends the first ones, at most `kept`, to `data`. Discards the others.
    /// Returns how many bytes it has removed.
    mutating func take(atMost limit: Int, into data: inout Data, keeping kept: Int) -> Int {
        let taken = min(limit, count)
        let wanted = min(taken, max(0, kept))
        if wanted > 0 { data.append(contentsOf: bytes[start..<(start + wanted)]) }
        drop(to: start + taken)
        return taken
    }

    private mutating func indexOfLineFeed() -> Int? {
        let found = bytes[max(start, searched)...].firstIndex(of: UInt8(ascii: "\n"))
        searched = found ?? bytes.count
        return found
    }

    private mutating func drop(to index: Int) {
        start = index
        guard start == bytes.count || start >= 65_536 else { return }
        bytes.removeSubrange(..<start)
        searched = 0
        start = 0
    }
}
