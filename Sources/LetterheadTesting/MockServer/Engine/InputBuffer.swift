import Foundation

/// Bytes that came and have not been understood yet.
struct InputBuffer {
    private var bytes: [UInt8] = []
    private var start = 0
    /// How far the search for the end of a line has come, so that no byte is looked at twice.
    private var searched = 0

    var count: Int { bytes.count - start }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ new: UnsafeRawBufferPointer) { bytes.append(contentsOf: new) }

    /// Takes one line that ends with CR LF, without them; nil when it is not whole yet.
    ///
    /// - Parameter limit: the most bytes that a line may have; an overlong one throws `tooLong`.
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
            throw .malformed("a line holds CR or NUL")
        }
        // Any byte above ASCII is legal in a value (RFC 9110, 5.5); what is not UTF-8 is read as Latin-1.
        let text =
            String(validating: line, as: UTF8.self) ?? String(String.UnicodeScalarView(line.map { Unicode.Scalar($0) }))
        drop(to: end + 1)
        return text
    }

    /// Takes at most so many bytes, moving them behind `data`; says how many they were.
    mutating func take(atMost limit: Int, into data: inout Data, keeping kept: Int) -> Int {
        let taken = min(limit, count)
        let wanted = min(taken, max(0, kept))
        if wanted > 0 { data.append(contentsOf: bytes[start..<(start + wanted)]) }
        drop(to: start + taken)
        return taken
    }

    private mutating func indexOfLineFeed() -> Int? {
        let from = max(start, searched)
        let found = bytes.withUnsafeBufferPointer { buffer -> Int? in
            var index = from
            while index < buffer.count {
                if buffer[index] == UInt8(ascii: "\n") { return index }
                index += 1
            }
            return nil
        }
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
