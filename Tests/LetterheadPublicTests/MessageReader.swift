// SPDX-License-Identifier: MIT
import Foundation
import Letterhead

/// Parses a response of HTTP/1.1 from the bytes that have arrived.
struct MessageReader {
    struct Head {
        let status: HTTPStatus
        let headers: HTTPHeaders
        let version: String
        let length: Int?
    }

    enum Step {
        case bytes(Data)
        case end(trailers: HTTPHeaders)
        case needsMore
    }

    struct Malformed: Error {}

    private enum Framing {
        case length(Int)
        case chunk(Int)
        case chunkEnd, chunkStart, trailers, connection
    }

    private var bytes = Data()
    private var framing = Framing.length(0)

    /// Whether the end of the connection is the end of the body.
    var endsWithConnection: Bool { if case .connection = framing { true } else { false } }

    mutating func append(_ data: Data) { bytes.append(data) }

    /// Returns the head, or nil if more bytes are needed. Interim responses are skipped.
    mutating func nextHead(to method: HTTPMethod) throws -> Head? {
        guard let end = bytes.firstRange(of: Data("\r\n\r\n".utf8)) else { return nil }
        let text = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
        bytes = Data(bytes[end.upperBound...])
        let lines = text.components(separatedBy: "\r\n")
        let parts = lines[0].split(separator: " ", maxSplits: 2)
        guard parts.count >= 2, parts[0].hasPrefix("HTTP/1."), let code = Int(parts[1]), (100...599).contains(code)
        else { throw Malformed() }
        if code < 200 { return try nextHead(to: method) }
        let headers = try Self.fields(lines.dropFirst())
        let length = headers[.contentLength].map { Int($0) ?? -1 }
        if let length, length < 0 { throw Malformed() }
        if method == .head || code == 204 || code == 304 {
            framing = .length(0)
        } else if headers[.transferEncoding] != nil {
            framing = .chunkStart
        } else {
            framing = length.map { .length($0) } ?? .connection
        }
        return Head(status: HTTPStatus(code), headers: headers, version: String(parts[0]), length: knownLength)
    }

    private var knownLength: Int? { if case .length(let length) = framing { length } else { nil } }

    /// Returns the next bytes of the body, or its end.
    mutating func nextPiece() throws -> Step {
        while true {
            switch framing {
            case .length(0): return .end(trailers: [:])
            case .length(let left), .chunk(let left):
                guard !bytes.isEmpty else { return .needsMore }
                let piece = Data(bytes.prefix(left))
                bytes = Data(bytes.dropFirst(piece.count))
                let rest = left - piece.count
                if case .length = framing {
                    framing = .length(rest)
                } else {
                    framing = rest > 0 ? .chunk(rest) : .chunkEnd
                }
                return .bytes(piece)
            case .connection:
                guard !bytes.isEmpty else { return .needsMore }
                defer { bytes = Data() }
                return .bytes(bytes)
            case .chunkEnd:
                guard let line = line() else { return .needsMore }
                guard line.isEmpty else { throw Malformed() }
                framing = .chunkStart
            case .chunkStart:
                guard let line = line() else { return .needsMore }
                guard let size = Int(line, radix: 16), size >= 0 else { throw Malformed() }
                framing = size == 0 ? .trailers : .chunk(size)
            case .trailers:
                let end = bytes.firstRange(of: Data("\r\n\r\n".utf8))
                if bytes.starts(with: Data("\r\n".utf8)) { return .end(trailers: [:]) }
                guard let end else { return .needsMore }
                let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
                return .end(trailers: try Self.fields(lines[...]))
            }
        }
    }

    private mutating func line() -> String? {
        guard let end = bytes.firstRange(of: Data("\r\n".utf8)) else { return nil }
        defer { bytes = Data(bytes[end.upperBound...]) }
        return String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
    }

    private static func fields(_ lines: ArraySlice<String>) throws -> HTTPHeaders {
        var headers = HTTPHeaders()
        for line in lines {
            guard let colon = line.firstIndex(of: ":") else { throw Malformed() }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            headers.append(HTTPHeaders.Name(String(line[..<colon])), value)
        }
        return headers
    }
}
