import Foundation

/// The status and the headers of a response, parsed from its lines as they came (RFC 9112, 4 and 5).
///
/// Lenient where it is harmless (a missing reason, no blank behind the colon, any byte in a value), strict where another
/// reader could see another message: a name that is no token, a bare CR, lengths that disagree.
struct ResponseHead {
    let status: HTTPStatus
    var headers: HTTPHeaders

    init(_ bytes: [UInt8]) throws(TransportFailure) {
        var lines = Lines(bytes[...])
        guard let line = lines.next(), let status = Self.status(of: line) else {
            throw TransportFailure(.invalidResponse, "the status line is malformed")
        }
        self.status = status
        headers = try Self.fields(&lines)
        try checkLengths()
    }

    /// The fields of a trailer section, which has no status line.
    static func trailers(_ bytes: [UInt8]) throws(TransportFailure) -> HTTPHeaders {
        var lines = Lines(bytes[...])
        return try fields(&lines)
    }

    /// How long the body says it is; nil when it does not, or when its transfer coding tells the end.
    private var contentLength: Int? {
        headers.contains(.transferEncoding) ? nil : headers.values(for: .contentLength).first.flatMap(Self.length)
    }

    /// How long the body will be; nil when it does not say (RFC 9112, 6.3).
    func bodyLength(of method: HTTPMethod) -> Int? {
        if method == .head || status.isInformational || status == .noContent || status == .notModified { return 0 }
        return contentLength
    }

    private func checkLengths() throws(TransportFailure) {
        guard !headers.contains(.transferEncoding), headers.contains(.contentLength) else { return }
        let parts = headers.values(for: .contentLength).flatMap { $0.split(separator: ",") }
        let lengths = parts.map { Self.length(ASCII.trimmed(String($0))) }
        guard let first = lengths.first, first != nil, lengths.allSatisfy({ $0 == first }) else {
            throw TransportFailure(.invalidResponse, "the values of Content-Length disagree or are no numbers")
        }
    }

    private static func length(_ text: String) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int(text)
    }

    private static func status(of line: ArraySlice<UInt8>) -> HTTPStatus? {
        guard let blank = line.firstIndex(of: 0x20) else { return nil }
        let digits = line[(blank + 1)...].drop { $0 == 0x20 }.prefix(3)
        guard digits.count == 3, digits.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return HTTPStatus(digits.reduce(0) { $0 * 10 + Int($1 - 48) })
    }

    private static func fields(_ lines: inout Lines) throws(TransportFailure) -> HTTPHeaders {
        var fields: [HTTPHeaders.Field] = []
        fields.reserveCapacity(16)
        while let line = lines.next() {
            guard let first = line.first else { continue }
            if first == 0x20 || first == 0x09 {
                // obs-fold (RFC 9112, 5.2): the value goes on, one blank in between.
                guard let last = fields.popLast() else {
                    throw TransportFailure(.invalidResponse, "the first header line is folded")
                }
                let more = ASCII.trimmed(text(line))
                fields.append(HTTPHeaders.Field(last.name, last.value + " " + more))
            } else {
                fields.append(try field(line))
            }
        }
        return HTTPHeaders(fields)
    }

    private static func field(_ line: ArraySlice<UInt8>) throws(TransportFailure) -> HTTPHeaders.Field {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
            line[..<colon].allSatisfy(ASCII.isTokenCharacter)
        else { throw TransportFailure(.invalidResponse, "a header's name is no token") }
        let value = line[(colon + 1)...]
        guard !value.contains(where: { $0 == 0 || $0 == 0x0D }) else {
            throw TransportFailure(.invalidResponse, "a header's value holds NUL or a bare CR")
        }
        return HTTPHeaders.Field(HTTPHeaders.Name(text(line[..<colon])), text(value))
    }

    /// UTF-8 where it is that, and else Latin-1, which any bytes are.
    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
}

extension ResponseHead {
    /// The lines of a head without their ends.
    private struct Lines {
        private var rest: ArraySlice<UInt8>

        init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

        mutating func next() -> ArraySlice<UInt8>? {
            guard !rest.isEmpty else { return nil }
            let end = rest.firstIndex(of: 0x0A) ?? rest.endIndex
            var line = rest[..<end]
            rest = rest[min(end + 1, rest.endIndex)...]
            if line.last == 0x0D { line.removeLast() }
            return line
        }
    }
}
