import Foundation

/// Splits a JSON text sequence (RFC 7464) into its texts: each begins with a record separator and ends with LF.
struct JSONRecordSplitter: Sendable {
    private static let separator: UInt8 = 0x1E

    private let limit: Int
    private var piece = Data()[...]
    private var record = Data()
    private var hasBegun = false

    init(limit: Int) { self.limit = limit }

    mutating func append(_ next: Data) { piece = next }

    /// Returns the next text that is followed by a record separator; nil if more bytes are needed.
    mutating func next() throws -> Data? {
        while !piece.isEmpty {
            let end = piece.firstIndex(of: Self.separator)
            let text = piece[..<(end ?? piece.endIndex)]
            guard hasBegun || text.allSatisfy(JSONElementSplitter.isSpace) else {
                throw JSONValueSplitter.Fault("a JSON text sequence must begin with a record separator")
            }
            guard record.count + text.count <= limit else { throw JSONValueSplitter.Fault(tooLargeFor: limit) }
            if hasBegun { record.append(text) }
            guard let end else {
                piece = Data()
                return nil
            }
            piece = piece[(end + 1)...]
            hasBegun = true
            if let text = try taken() { return text }
        }
        return nil
    }

    /// Returns the last text.
    mutating func end() throws -> Data? { try taken() }

    /// The current record; nil if it is blank. A number or a keyword without a delimiter after it may be truncated (RFC
    /// 7464, 2.4).
    private mutating func taken() throws -> Data? {
        defer { record = Data() }
        guard let first = record.first(where: { !JSONElementSplitter.isSpace($0) }), let last = record.last else {
            return nil
        }
        let isDelimited = first == UInt8(ascii: "{") || first == UInt8(ascii: "[") || first == UInt8(ascii: "\"")
        guard isDelimited || JSONElementSplitter.isSpace(last) else {
            throw JSONValueSplitter.Fault("it may be truncated: no line feed follows it")
        }
        return record
    }
}
