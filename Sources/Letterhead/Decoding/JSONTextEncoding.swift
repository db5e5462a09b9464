import Foundation

/// Detects the encoding of a JSON text: UTF-8, UTF-16 or UTF-32 (RFC 4627, 3).
enum JSONTextEncoding {
    /// Returns the text in UTF-8, without a byte order mark.
    ///
    /// - Returns: the unchanged data if it is already UTF-8 or is malformed, which the parser detects.
    static func utf8(_ data: Data) -> Data {
        let start = Array(data.prefix(4))
        for (mark, encoding) in marks where start.starts(with: mark) {
            return converted(data.dropFirst(mark.count), from: encoding) ?? data
        }
        return encodingWithoutMark(start).flatMap { converted(data, from: $0) } ?? data
    }

    /// Longer marks come first, because the mark of UTF-32 begins with that of UTF-16.
    private static let marks: [([UInt8], String.Encoding)] = [
        ([0xEF, 0xBB, 0xBF], .utf8), ([0, 0, 0xFE, 0xFF], .utf32BigEndian), ([0xFF, 0xFE, 0, 0], .utf32LittleEndian),
        ([0xFE, 0xFF], .utf16BigEndian), ([0xFF, 0xFE], .utf16LittleEndian),
    ]

    /// A JSON text begins with ASCII characters, so the zero bytes at its start determine the encoding.
    private static func encodingWithoutMark(_ start: [UInt8]) -> String.Encoding? {
        guard start.count >= 2 else { return nil }
        switch (start[0] == 0, start[1] == 0) {
        case (true, true): return .utf32BigEndian
        case (true, false): return .utf16BigEndian
        case (false, true):
            return start.count == 4 && start[2] == 0 && start[3] == 0 ? .utf32LittleEndian : .utf16LittleEndian
        case (false, false): return nil
        }
    }

    private static func converted(_ data: Data, from encoding: String.Encoding) -> Data? {
        if encoding == .utf8 { return Data(data) }
        let unit = encoding == .utf16BigEndian || encoding == .utf16LittleEndian ? 2 : 4
        guard data.count.isMultiple(of: unit) else { return nil }
        return String(data: Data(data), encoding: encoding).map { Data($0.utf8) }
    }
}
