// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Letterhead

/// Parses HTTP/1.1 requests from bytes in any pieces (RFC 9112). It's strict, and refuses what a client must not send.
struct RequestParser {
    /// A parsed request part.
    enum Event {
        case head(RequestHead)
        /// How many body bytes have arrived. The data that was passed in contains the bytes to keep.
        case body(Int)
        /// The request is complete. The fields are a chunked body's trailers.
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

    /// Whether a request has begun and is not complete.
    var isInsideRequest: Bool {
        if case .start = stage { return !input.isEmpty }
        return true
    }

    mutating func append(_ bytes: ArraySlice<UInt8>) { input.append(bytes) }

    /// Returns the next event, or nil if more bytes are needed.
    ///
    /// - Parameters:
    ///   - body: receives the body's bytes.
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

    /// Removes and returns the fields with the empty line after them, or returns nil if it hasn't arrived.
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
