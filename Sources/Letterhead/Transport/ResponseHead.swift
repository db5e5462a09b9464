import Foundation

/// The status and the headers of a response, parsed from its lines (RFC 9112, 4 and 5).
///
/// The parser is lenient where that is harmless: the reason phrase and the space after the colon may be missing, and a
/// value may contain any byte except NUL, CR and LF. It refuses what another parser could interpret as a different
/// message: a name that is not a token, a bare CR in a field, or lengths that disagree.
struct ResponseHead {
    let status: HTTPStatus
    var headers: HTTPHeaders
    private let framing: ResponseFraming

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
        framing = try Self.framing(fields)
        headers = HTTPHeaders(fields)
    }

    /// Parses the fields of a trailer section, which has no status line.
    static func trailers(_ bytes: [UInt8]) throws(TransportFailure) -> HTTPHeaders {
        try bytes.withUnsafeBufferPointer { bytes throws(TransportFailure) in
            var lines = HeadLines(bytes)
            return HTTPHeaders(try lines.fields())
        }
    }

    /// The length of the body; nil if it is not declared (RFC 9112, 6.3).
    func bodyLength(of method: HTTPMethod) -> Int? {
        if method == .head || status.isInformational || status == .noContent || status == .notModified { return 0 }
        return framing.bodyLength
    }

    private static func framing(_ fields: [HTTPHeaders.Field]) throws(TransportFailure) -> ResponseFraming {
        var framing = ResponseFraming()
        for index in fields.indices {
            switch fields[index].name {
            case .transferEncoding:
                try require(fields[index].value)
                framing.noteTransferCoding()
            case .contentLength: framing.noteLength(fields[index].value.utf8)
            default: break
            }
        }
        if let fault = framing.fault { throw TransportFailure(.invalidResponse, fault) }
        return framing
    }

    /// Requires `chunked` or `identity`. Requests never offer another transfer coding (RFC 9110, 10.1.4), and libcurl
    /// does not report whether a body with another coding is truncated.
    private static func require(_ coding: String) throws(TransportFailure) {
        guard ["chunked", "identity"].contains(where: { ASCII.equalIgnoringCase(coding, $0) }) else {
            throw TransportFailure(
                .invalidResponse, "the response has a transfer coding that the request did not offer")
        }
    }

    /// Parses the status code, which has exactly three digits (RFC 9112, 4).
    private static func status(of line: HeadLines.Line) -> HTTPStatus? {
        guard let blank = line.firstIndex(of: 0x20) else { return nil }
        let digits = line[(blank + 1)...].drop { $0 == 0x20 }.prefix { (48...57).contains($0) }
        return digits.count == 3 ? HTTPStatus(digits.reduce(0) { $0 * 10 + Int($1 - 48) }) : nil
    }
}
