// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// Finds the encoded JSON values in a response.
struct JSONTextParser: ElementParser {
    static let name = "sequence of values"

    let format: HTTPResponseBody.JSONFormat
    let limit: Int
    /// The number of values that were returned. Error messages contain it.
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
            JSONValueSplitter.Format(format, for: response.mediaType), limit: limit)
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
/// It finds where each value starts and ends. It doesn't check whether a value is valid JSON: the decoder does.
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

    private let limit: Int
    /// Nil until the first character determines the format.
    private var splitter: (any JSONSplitter)?

    init(_ format: Format, limit: Int) {
        self.limit = limit
        splitter =
            switch format {
            case .lines: JSONLineSplitter(limit: limit)
            case .textSequence: JSONRecordSplitter(limit: limit)
            case .array: JSONElementSplitter(limit: limit)
            case .arrayOrLines: nil
            }
    }

    /// Adds the next chunk. Read all values from the previous chunk first.
    mutating func append(_ piece: Data) {
        if splitter == nil, let first = piece.first(where: { !JSONElementSplitter.isSpace($0) }) {
            // A byte order mark is allowed only before lines. If an array follows it, the array is decoded as the value
            // of its line.
            let isArray = first == UInt8(ascii: "[")
            splitter = isArray ? JSONElementSplitter(limit: limit) : JSONLineSplitter(limit: limit)
        }
        splitter?.append(piece)
    }

    /// Returns the next complete value, or nil if it needs more bytes.
    mutating func next() throws -> Data? { try splitter?.next() }

    /// Returns the value that the end of the body completes, if any.
    mutating func end() throws -> Data? { try splitter?.end() }
}

/// Finds the values of one format.
protocol JSONSplitter: Sendable {
    mutating func append(_ piece: Data)
    mutating func next() throws -> Data?
    mutating func end() throws -> Data?
}

private struct JSONLineSplitter: JSONSplitter {
    private let limit: Int
    private var lines: LineSplitter

    init(limit: Int) { (self.limit, lines) = (limit, LineSplitter(limit: limit)) }

    mutating func append(_ piece: Data) { lines.append(piece) }

    mutating func next() throws -> Data? {
        var content: Data?
        do {
            try lines.next { line in
                content = unsafe Self.content(line)
                return content != nil
            }
            return content
        } catch is LineSplitter.LineTooLong {
            throw StreamFault(tooLargeFor: limit)
        }
    }

    mutating func end() throws -> Data? {
        lines.append(Data("\n".utf8))
        return try next()
    }

    /// Copies a line without surrounding whitespace. Returns nil for a blank line.
    private static func content(_ line: UnsafeRawBufferPointer) -> Data? {
        guard let first = unsafe line.firstIndex(where: { !JSONElementSplitter.isSpace($0) }),
            let last = unsafe line.lastIndex(where: { !JSONElementSplitter.isSpace($0) })
        else { return nil }
        return unsafe Data(line[first...last])
    }
}

extension StreamFault {
    init(tooLargeFor limit: Int) {
        self.init(code: .responseTooLarge, message: "it is larger than the \(limit) bytes allowed")
    }

    init(_ message: String) { self.init(code: .invalidResponse, message: message) }
}
