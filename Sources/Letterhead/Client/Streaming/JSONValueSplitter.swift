// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// Finds a response's encoded JSON values.
struct JSONTextParser: ElementParser {
    static let name = "sequence of values"

    let format: HTTPResponseBody.JSONFormat
    let limit: Int
    /// The number of returned values.
    private(set) var count = 0
    private var splitter: JSONValueSplitter

    var lastID: String { "" }
    var reconnectionTime: Duration? { nil }

    func forgetID() {}

    init(format: HTTPResponseBody.JSONFormat, limit: Int) {
        (self.format, self.limit) = (format, limit)
        splitter = JSONValueSplitter(.lines, limit: limit)
    }

    mutating func begin(_ response: HTTPResponse) {
        splitter = JSONValueSplitter(
            JSONValueSplitter.Format(format, for: response.headers.mediaType), limit: limit)
    }

    mutating func append(_ piece: Data) { splitter.append(piece) }

    mutating func next() throws -> Data? { try counting { try $0.next() } }

    mutating func end() throws -> Data? { try counting { try $0.end() } }

    @inline(__always)
    private mutating func counting(_ step: (inout JSONValueSplitter) throws -> Data?) throws -> Data? {
        do {
            guard let text = try step(&splitter) else { return nil }
            count += 1
            return text
        } catch let fault as StreamFault {
            throw StreamFault(code: fault.code, message: "value \(count + 1): \(fault.message)")
        }
    }
}

/// Splits bytes that arrive in chunks into encoded JSON values, in linear time.
///
/// It finds each value's start and end. The value's decoder checks whether it is valid JSON.
struct JSONValueSplitter: Sendable {
    /// The format, as far as the content type determines it.
    enum Format {
        case lines, textSequence, array
        /// An array if the first character is `[`, otherwise lines.
        case arrayOrLines

        init(_ format: HTTPResponseBody.JSONFormat, for type: MediaType?) {
            switch format {
            case .lines: self = .lines
            case .textSequence: self = .textSequence
            case .array: self = .array
            case .automatic where type?.essence == "application/json-seq": self = .textSequence
            case .automatic: self = type?.isJSON == true ? .arrayOrLines : .lines
            }
        }
    }

    private enum Rule {
        case undecided
        case lines(LineSplitter)
        case records(JSONRecordSplitter)
        case elements(JSONElementSplitter)
    }

    private let limit: Int
    private var rule: Rule

    init(_ format: Format, limit: Int) {
        self.limit = limit
        rule =
            switch format {
            case .lines: .lines(LineSplitter(.lineFeed, limit: limit))
            case .textSequence: .records(JSONRecordSplitter(limit: limit))
            case .array: .elements(JSONElementSplitter(limit: limit))
            case .arrayOrLines: .undecided
            }
    }

    /// Adds the next chunk. Read all of the previous chunk's values first.
    mutating func append(_ piece: Data) {
        guard case .undecided = rule else { return take(piece) }
        guard let first = piece.first(where: { !JSONElementSplitter.isSpace($0) }) else { return }
        // A byte order mark is allowed only before lines. An array after it is decoded as a line.
        rule =
            first == UInt8(ascii: "[")
            ? .elements(JSONElementSplitter(limit: limit)) : .lines(LineSplitter(.lineFeed, limit: limit))
        take(piece)
    }

    private mutating func take(_ piece: Data) {
        switch rule {
        case .undecided: break
        case .lines(var splitter):
            rule = .undecided
            splitter.append(piece)
            rule = .lines(splitter)
        case .records(var splitter):
            rule = .undecided
            splitter.append(piece)
            rule = .records(splitter)
        case .elements(var splitter):
            rule = .undecided
            splitter.append(piece)
            rule = .elements(splitter)
        }
    }

    /// Returns the next complete value. Nil if it needs another chunk.
    mutating func next() throws -> Data? {
        switch rule {
        case .undecided: return nil
        case .lines(var splitter):
            rule = .undecided
            defer { rule = .lines(splitter) }
            return try Self.line(of: &splitter)
        case .records(var splitter):
            rule = .undecided
            defer { rule = .records(splitter) }
            return try splitter.next()
        case .elements(var splitter):
            rule = .undecided
            defer { rule = .elements(splitter) }
            return try splitter.next()
        }
    }

    /// Returns the value that the body's end completes, if any.
    mutating func end() throws -> Data? {
        switch rule {
        case .undecided: return nil
        case .lines(var splitter):
            rule = .undecided
            defer { rule = .lines(splitter) }
            do {
                return try splitter.rest { unsafe Self.content($0) } ?? nil
            } catch let error as LineSplitter.LineTooLong { throw StreamFault(error) }
        case .records(var splitter):
            rule = .undecided
            defer { rule = .records(splitter) }
            return try splitter.end()
        case .elements(let splitter):
            try splitter.end()
            return nil
        }
    }

    private static func line(of splitter: inout LineSplitter) throws -> Data? {
        do {
            return try splitter.next { unsafe content($0) }
        } catch let error as LineSplitter.LineTooLong { throw StreamFault(error) }
    }

    /// Returns a copy of a line's bytes without surrounding whitespace. Nil for a blank line.
    private static func content(_ line: UnsafeRawBufferPointer) -> Data? {
        guard let first = unsafe line.firstIndex(where: { !JSONElementSplitter.isSpace($0) }),
            let last = unsafe line.lastIndex(where: { !JSONElementSplitter.isSpace($0) })
        else { return nil }
        return unsafe Data(line[first...last])
    }
}

extension StreamFault {
    init(_ error: LineSplitter.LineTooLong) { self.init(tooLargeFor: error.limit) }

    init(tooLargeFor limit: Int) {
        self.init(code: .responseTooLarge, message: "it is larger than the \(limit) bytes allowed")
    }

    init(_ message: String) { self.init(code: .invalidResponse, message: message) }
}

extension JSONValueSplitter {
    /// Splits a body in memory in chunks of one size, and returns its encoded values up to the first error.
    static func texts(
        in bytes: [UInt8], format: HTTPResponseBody.JSONFormat, piecesOf size: Int, limit: Int
    ) -> (texts: [Data], isWhole: Bool) {
        var splitter = JSONValueSplitter(Format(format, for: .json), limit: limit)
        var texts: [Data] = []
        do {
            for start in stride(from: 0, to: bytes.count, by: max(size, 1)) {
                splitter.append(Data(bytes[start..<min(start + max(size, 1), bytes.count)]))
                while let text = try splitter.next() { texts.append(text) }
            }
            if let last = try splitter.end() { texts.append(last) }
            return (texts, true)
        } catch {
            return (texts, false)
        }
    }
}
