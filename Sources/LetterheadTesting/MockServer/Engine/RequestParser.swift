// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Letterhead

/// Parses HTTP/1.1 requests from bytes in pieces of any size (RFC 9112). The parser is strict: it refuses everything
/// that a client must not send.
struct RequestParser {
    /// A part of a request that has been parsed.
    enum Event {
        case head(RequestHead)
        /// A number of body bytes have arrived. Those to keep were appended to the data that the caller has passed.
        case body(Int)
        /// The request is complete. The fields are the trailers of a chunked body.
        case end(trailers: HTTPHeaders)
    }

    private enum Stage {
        case start
        case fields(line: String)
        case body(left: Int)
        case chunkSize
        case chunk(left: Int)
        case chunkEnd
        case trailers
        case end(HTTPHeaders)
    }

    private let headLimit: Int
    private var stage = Stage.start
    private var headSize = 0
    private var fields: [HTTPHeaders.Field] = []
    private(set) var input = InputBuffer()

    init(headLimit: Int) { self.headLimit = headLimit }

    mutating func append(_ bytes: ArraySlice<UInt8>) { input.append(bytes) }

    /// Returns the next event, or nil if more bytes are needed.
    ///
    /// - Parameters:
    ///   - body: receives the body bytes.
    ///   - kept: how many more body bytes may be kept. Further bytes are counted and discarded.
    mutating func next(body: inout Data, keeping kept: Int) throws(RequestFault) -> Event? {
        while true {
            switch stage {
            case .start:
                guard let line = try takeHeadLine() else { return nil }
                // Empty lines before a request are skipped (RFC 9112, 2.2).
                if !line.isEmpty { stage = .fields(line: line) }
            case .fields(let line):
                guard let fields = try takeFields() else { return nil }
                return .head(try begin(line, fields))
            case .body(let left):
                return takeBody(left, into: &body, keeping: kept) { $0 > 0 ? .body(left: $0) : .end([:]) }
            case .chunkSize: guard try readChunkSize() else { return nil }
            case .chunk(let left):
                return takeBody(left, into: &body, keeping: kept) { $0 > 0 ? .chunk(left: $0) : .chunkEnd }
            case .chunkEnd: guard try readChunkEnd() else { return nil }
            case .trailers:
                guard let trailers = try takeFields() else { return nil }
                stage = .end(trailers)
            case .end(let trailers):
                stage = .start
                return .end(trailers: trailers)
            }
        }
    }

    private mutating func begin(_ line: String, _ fields: HTTPHeaders) throws(RequestFault) -> RequestHead {
        let head = try RequestHead(line: line, headers: fields)
        switch head.framing {
        case .none: stage = .end([:])
        case .length(let length): stage = .body(left: length)
        case .chunked: stage = .chunkSize
        }
        return head
    }

    private mutating func readChunkSize() throws(RequestFault) -> Bool {
        guard let line = try input.takeLine(limit: 4096, tooLong: .malformed("a chunk size is too long")) else {
            return false
        }
        let digits = (line.cut(at: ";")?.head ?? line[...]).utf8.filter { $0 != 0x20 && $0 != 0x09 }
        guard digits.first != UInt8(ascii: "+"), digits.count <= 15,
            let size = Int(String(decoding: digits, as: UTF8.self), radix: 16), size >= 0
        else { throw .malformed("a chunk size is not a hexadecimal number") }
        stage = size > 0 ? .chunk(left: size) : .trailers
        return true
    }

    private mutating func readChunkEnd() throws(RequestFault) -> Bool {
        let fault = RequestFault.malformed("a chunk is longer than its declared size")
        guard let line = try input.takeLine(limit: 1, tooLong: fault) else { return false }
        guard line.isEmpty else { throw fault }
        stage = .chunkSize
        return true
    }

    private mutating func takeBody(
        _ left: Int, into body: inout Data, keeping kept: Int, then next: (Int) -> Stage
    ) -> Event? {
        guard !input.isEmpty else { return nil }
        let taken = input.take(atMost: left, into: &body, keeping: kept)
        stage = next(left - taken)
        return .body(taken)
    }

    private mutating func takeHeadLine() throws(RequestFault) -> String? {
        guard let line = try input.takeLine(limit: headLimit - headSize, tooLong: .headTooLarge) else { return nil }
        headSize += line.utf8.count + 2
        guard headSize <= headLimit else { throw .headTooLarge }
        return line
    }

    /// Removes and returns the fields and the empty line after them, or returns nil if that line hasn't arrived.
    private mutating func takeFields() throws(RequestFault) -> HTTPHeaders? {
        while let line = try takeHeadLine() {
            if line.isEmpty {
                defer { (fields, headSize) = ([], 0) }
                return HTTPHeaders(fields)
            }
            fields.append(try RequestHead.field(line))
        }
        return nil
    }
}

/// The request line and the header fields, with the body framing and the connection persistence that they specify (RFC
/// 9112).
struct RequestHead {
    /// How the end of the body is determined.
    enum Framing: Equatable {
        case none
        case length(Int)
        case chunked
    }

    let method: String
    let target: String
    let version: String
    let headers: HTTPHeaders
    let framing: Framing

    init(line: String, headers: HTTPHeaders) throws(RequestFault) {
        let parts = line.split(at: " ", omittingEmpty: false)
        guard parts.count == 3, ASCII.isToken(parts[0]), !parts[1].isEmpty else {
            throw .malformed("the request line is not METHOD SP TARGET SP VERSION")
        }
        guard parts[2].isSame(as: "HTTP/1.1") || parts[2].isSame(as: "HTTP/1.0") else {
            throw RequestFault(status: 505, description: "the version is neither HTTP/1.1 nor HTTP/1.0")
        }
        guard parts[1].utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw .malformed("the target contains bytes that must be escaped")
        }
        method = String(parts[0])
        target = String(parts[1])
        version = String(parts[2])
        self.headers = headers
        framing = try Self.framing(of: headers)
        guard version == "HTTP/1.0" || headers.values(for: .host).count == 1 else {
            throw .malformed("there must be exactly one Host field")
        }
    }

    /// Whether the client waits for `100 Continue` before it sends the body.
    var expectsContinue: Bool {
        version == "HTTP/1.1" && framing != .none && headers[.expect].map(ASCII.keyword) == "100-continue"
    }

    /// Whether the client may send a further request on this connection (RFC 9112, 9.3).
    var keepsAlive: Bool {
        let options = Self.tokens(headers[.connection])
        return version == "HTTP/1.1" ? !options.contains("close") : options.contains("keep-alive")
    }

    static func tokens(_ value: String?) -> [String] {
        ASCII.members(of: value.map { [$0] } ?? []).map(ASCII.keyword)
    }

    /// Parses one `Name: value` line.
    static func field(_ line: String) throws(RequestFault) -> HTTPHeaders.Field {
        guard let (name, value) = line.cut(at: ":"), ASCII.isToken(name) else {
            throw .malformed("a header line is not NAME: VALUE, or is folded")
        }
        return HTTPHeaders.Field(HTTPHeaders.Name(String(name)), String(value))
    }

    private static func framing(of headers: HTTPHeaders) throws(RequestFault) -> Framing {
        let lengths = headers.values(for: .contentLength)
        if let coding = headers[.transferEncoding] {
            guard lengths.isEmpty else { throw .malformed("both Content-Length and Transfer-Encoding") }
            guard tokens(coding) == ["chunked"] else { throw .unsupported("a transfer coding other than chunked") }
            return .chunked
        }
        guard let text = lengths.first else { return .none }
        guard lengths.count == 1, text.utf8.allSatisfy({ (48...57).contains($0) }), let length = Int(text) else {
            throw .malformed("Content-Length must be one number")
        }
        return length == 0 ? .none : .length(length)
    }
}

/// Received bytes that have not been parsed yet.
struct InputBuffer {
    private var bytes: [UInt8] = []
    private var start = 0
    /// The index where the search for a line end continues, so that each byte is read only once.
    private var searched = 0

    var count: Int { bytes.count - start }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ new: ArraySlice<UInt8>) { bytes.append(contentsOf: new) }

    /// Removes and returns one line without its CR LF, or nil if the line is incomplete.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of bytes in a line.
    ///   - tooLong: the error for a longer line.
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
        // A value may contain any byte above ASCII (RFC 9110, 5.5). Text that isn't UTF-8 is decoded as Latin-1.
        let text =
            String(validating: line, as: UTF8.self) ?? String(String.UnicodeScalarView(line.map { Unicode.Scalar($0) }))
        drop(to: end + 1)
        return text
    }

    /// Removes bytes, and appends the first ones to data. The others are discarded.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of bytes to remove.
    ///   - kept: the maximum number of bytes to append.
    /// - Returns: how many bytes were removed.
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

/// The reason that received bytes are not a valid request, and the status for the response.
struct RequestFault: Error, CustomStringConvertible {
    let status: Int
    let description: String

    static func malformed(_ text: String) -> RequestFault { RequestFault(status: 400, description: text) }
    static func unsupported(_ text: String) -> RequestFault { RequestFault(status: 501, description: text) }
    static let headTooLarge = RequestFault(status: 431, description: "the head is larger than the server allows")
}
