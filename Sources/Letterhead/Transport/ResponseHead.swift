import Foundation

/// The status and the headers of a response, parsed from its lines as they came (RFC 9112, 4 and 5).
///
/// Lenient where it is harmless (a missing reason, no blank behind the colon, any byte in a value), strict where another
/// reader could see another message: a name that is no token, a bare CR, lengths that disagree.
struct ResponseHead {
    let status: HTTPStatus
    var headers: HTTPHeaders
    /// How long the body says it is; nil when it does not, or when its transfer coding tells the end.
    private let contentLength: Int?

    init(_ bytes: [UInt8]) throws(TransportFailure) {
        var fields: [HTTPHeaders.Field] = []
        status = try bytes.withUnsafeBufferPointer { bytes throws(TransportFailure) in
            var lines = HeadLines(bytes)
            guard let line = lines.next(), let status = Self.status(of: line) else {
                throw TransportFailure(.invalidResponse, "the status line is malformed")
            }
            fields = try lines.fields()
            return status
        }
        contentLength = try Self.contentLength(fields)
        headers = HTTPHeaders(fields)
    }

    /// The fields of a trailer section, which has no status line.
    static func trailers(_ bytes: [UInt8]) throws(TransportFailure) -> HTTPHeaders {
        try bytes.withUnsafeBufferPointer { bytes throws(TransportFailure) in
            var lines = HeadLines(bytes)
            return HTTPHeaders(try lines.fields())
        }
    }

    /// How long the body will be; nil when it does not say (RFC 9112, 6.3).
    func bodyLength(of method: HTTPMethod) -> Int? {
        if method == .head || status.isInformational || status == .noContent || status == .notModified { return 0 }
        return contentLength
    }

    private static func contentLength(_ fields: [HTTPHeaders.Field]) throws(TransportFailure) -> Int? {
        var known: Int?
        var (isThere, isWrong) = (false, false)
        for place in fields.indices {
            if fields[place].name == .transferEncoding {
                try require(fields[place].value)
                return nil
            }
            guard fields[place].name == .contentLength else { continue }
            isThere = true
            let value = fields[place].value
            if known == nil, let length = length(value) {
                known = length
                continue
            }
            for part in value.utf8.split(separator: UInt8(ascii: ",")) {
                let length = length(ASCII.trimmed(String(Substring(part))))
                if length == nil || known != nil && known != length { isWrong = true }
                known = length
            }
        }
        if isWrong || isThere && known == nil {
            throw TransportFailure(.invalidResponse, "the values of Content-Length disagree or are no numbers")
        }
        return known
    }

    /// No other transfer coding is ever asked for (RFC 9110, 10.1.4), and libcurl would not tell whether it was cut short.
    private static func require(_ coding: String) throws(TransportFailure) {
        guard ["chunked", "identity"].contains(where: { ASCII.equalIgnoringCase(coding, $0) }) else {
            throw TransportFailure(.invalidResponse, "the response's transfer coding was not asked for")
        }
    }

    private static func length(_ text: String) -> Int? {
        ASCII.allBytes(of: text) { (48...57).contains($0) } ? Int(text) : nil
    }

    private static func status(of line: HeadLines.Line) -> HTTPStatus? {
        guard let blank = line.firstIndex(of: 0x20) else { return nil }
        let digits = line[(blank + 1)...].drop { $0 == 0x20 }.prefix(3)
        guard digits.count == 3, digits.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return HTTPStatus(digits.reduce(0) { $0 * 10 + Int($1 - 48) })
    }
}
