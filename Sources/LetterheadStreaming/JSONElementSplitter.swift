// SPDX-License-Identifier: MIT
public import Letterhead
import LetterheadFoundation

/// Splits a JSON array (RFC 8259, 5) into its elements, as encoded JSON, before the array has ended.
///
/// It tracks strings and the depth of brackets, and reads each byte once. It doesn't check whether an element is valid
/// JSON: the decoder does.
struct JSONElementSplitter: JSONSplitter {
    static let maximumDepth = 512

    private enum Position {
        /// Before the opening `[`.
        case start
        /// After `[`, where `]` or an element may follow.
        case first
        /// After a comma, where an element must follow.
        case element
        /// Inside a string, an object or an array, which ends with its closing character.
        case delimited
        /// Inside a number or a keyword, which ends before the next delimiter.
        case scalar
        case after
        /// After the closing `]`.
        case end
    }

    private let limit: Int
    private var piece = Data()
    private var offset = 0
    private var position = Position.start
    private var element = Data()
    private var depth = 0
    private var isInString = false
    private var isEscaped = false

    init(limit: Int) { self.limit = limit }

    mutating func append(_ next: Data) { (piece, offset) = (next, 0) }

    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

    /// Returns the next complete element, or nil if it needs more bytes.
    mutating func next() throws -> Data? {
        let piece = piece
        // The offset is never larger than the chunk length.
        return try unsafe piece.withUnsafeBytes { bytes -> Data? in
            try unsafe skipToElement(in: bytes)
            let start = offset
            while offset < bytes.count, try unsafe isInElement(bytes[offset]) { offset += 1 }
            try unsafe keep(bytes[start..<offset])
            guard position == .after, !element.isEmpty else { return nil }
            defer { element = Data() }
            return element
        }
    }

    /// Processes a byte, and returns whether it belongs to the element.
    private mutating func isInElement(_ byte: UInt8) throws -> Bool {
        switch position {
        case .delimited:
            try follow(byte)
            if depth == 0, !isInString { position = .after }
            return true
        case .scalar:
            guard Self.isSpace(byte) || byte == UInt8(ascii: ",") || byte == UInt8(ascii: "]") else { return true }
            position = .after
            return false
        default: return false
        }
    }

    /// Checks that the array has ended.
    func end() throws -> Data? {
        guard position != .end else { return nil }
        throw StreamFault("the array ended before its closing bracket")
    }

    private mutating func skipToElement(in bytes: UnsafeRawBufferPointer) throws {
        while offset < bytes.count, position != .delimited, position != .scalar {
            let byte = unsafe bytes[offset]
            guard !Self.isSpace(byte) else {
                offset += 1
                continue
            }
            switch (position, byte) {
            case (.start, UInt8(ascii: "[")): position = .first
            case (.first, UInt8(ascii: "]")), (.after, UInt8(ascii: "]")): position = .end
            case (.after, UInt8(ascii: ",")): position = .element
            case (.start, _): throw StreamFault("the response is not a JSON array")
            case (.end, _): throw StreamFault("the array is followed by other data")
            case (.after, _): throw StreamFault("no comma separates it from the value before it")
            case (_, UInt8(ascii: ",")), (_, UInt8(ascii: "]")):
                throw StreamFault("the array lacks an element before a comma or its closing bracket")
            case (_, UInt8(ascii: "{")), (_, UInt8(ascii: "[")), (_, UInt8(ascii: "\"")):
                position = .delimited
                return
            default:
                position = .scalar
                return
            }
            offset += 1
        }
    }

    private mutating func follow(_ byte: UInt8) throws {
        guard !isInString else {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else {
                isInString = byte != UInt8(ascii: "\"")
            }
            return
        }
        switch byte {
        case UInt8(ascii: "\""): isInString = true
        case UInt8(ascii: "["), UInt8(ascii: "{"):
            depth += 1
            guard depth <= Self.maximumDepth else {
                throw StreamFault("it is nested more than \(Self.maximumDepth) levels deep")
            }
        case UInt8(ascii: "]"), UInt8(ascii: "}"): depth = max(depth - 1, 0)
        default: break
        }
    }

    private mutating func keep(_ bytes: Slice<UnsafeRawBufferPointer>) throws {
        guard unsafe element.count + bytes.count <= limit else { throw StreamFault(tooLargeFor: limit) }
        unsafe element.append(contentsOf: bytes)
    }
}

/// Splits a JSON text sequence (RFC 7464) into its texts: each begins with a record separator and ends with LF.
struct JSONRecordSplitter: JSONSplitter {
    private static let separator: UInt8 = 0x1E

    private let limit: Int
    private var piece = Data()[...]
    private var record = Data()
    private var hasBegun = false

    init(limit: Int) { self.limit = limit }

    mutating func append(_ next: Data) { piece = next }

    /// Returns the next text that a record separator follows, or nil if it needs more bytes.
    mutating func next() throws -> Data? {
        while !piece.isEmpty {
            let end = piece.firstIndex(of: Self.separator)
            let text = piece[..<(end ?? piece.endIndex)]
            guard hasBegun || text.allSatisfy(JSONElementSplitter.isSpace) else {
                throw StreamFault("a JSON text sequence must begin with a record separator")
            }
            guard record.count + text.count <= limit else { throw StreamFault(tooLargeFor: limit) }
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

    mutating func end() throws -> Data? { try taken() }

    /// Returns the current record, or nil if it is blank. Throws if the record is a number or a keyword without
    /// whitespace after it, because it may be truncated (RFC 7464, 2.4).
    private mutating func taken() throws -> Data? {
        defer { record = Data() }
        guard let first = record.first(where: { !JSONElementSplitter.isSpace($0) }), let last = record.last else {
            return nil
        }
        let isDelimited = first == UInt8(ascii: "{") || first == UInt8(ascii: "[") || first == UInt8(ascii: "\"")
        guard isDelimited || JSONElementSplitter.isSpace(last) else {
            throw StreamFault("it may be truncated: no line feed follows it")
        }
        return record
    }
}

extension HTTPResponseBody {
    /// The format in which a response contains several JSON values.
    public enum JSONFormat: Sendable, Hashable {
        /// The content type determines the format:
        ///
        /// - With `application/json-seq`, the body is a text sequence.
        /// - With `application/json`, `text/json`, or a type that ends in `+json`, a body that begins with `[` is an
        ///   array.
        /// - Any other body has one value per line.
        case automatic
        /// One value per line, as in NDJSON and JSON Lines. Blank lines are ignored.
        case lines
        /// Values that each follow a record separator: `application/json-seq` (RFC 7464).
        case textSequence
        /// The elements of one array. Each element is delivered as soon as it is complete, before the array has ended.
        case array
    }
}
