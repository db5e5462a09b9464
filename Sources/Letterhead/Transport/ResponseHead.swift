// SPDX-License-Identifier: MIT

/// The status and the headers of a response, parsed from the head lines (RFC 9112, 4 and 5).
///
/// The parser is lenient where that is harmless: the reason phrase and the space after the colon may be missing, and a
/// value may contain any byte except NUL, CR and LF. It refuses what a different parser could interpret as a different
/// message: a name that isn't a token, a bare CR in a field, or lengths that disagree.
struct ResponseHead {
    let status: HTTPStatus
    var headers: HTTPHeaders
    private let framing: ResponseFraming

    init(_ bytes: [UInt8]) throws(TransportFailure) {
        var fields: [HTTPHeaders.Field] = []
        status = try unsafe bytes.withUnsafeBufferPointer { bytes throws(TransportFailure) in
            var lines = unsafe HeadLines(bytes)
            guard let line = unsafe lines.next(), let code = unsafe Self.statusCode(of: line) else {
                throw TransportFailure(.invalidResponse, "the status line is malformed")
            }
            fields = try lines.fields()
            return HTTPStatus(code)
        }
        framing = try Self.framing(fields)
        headers = HTTPHeaders(fields)
    }

    static func trailers(_ bytes: [UInt8]) throws(TransportFailure) -> HTTPHeaders {
        try unsafe bytes.withUnsafeBufferPointer { bytes throws(TransportFailure) in
            var lines = unsafe HeadLines(bytes)
            return HTTPHeaders(try lines.fields())
        }
    }

    /// Returns the length of the body, or nil if it isn't declared (RFC 9112, 6.3).
    func bodyLength(of method: HTTPMethod) -> Int? {
        if method == .head || status.isInformational || status == .noContent || status == .notModified { return 0 }
        return framing.bodyLength
    }

    private static func framing(_ fields: [HTTPHeaders.Field]) throws(TransportFailure) -> ResponseFraming {
        var framing = ResponseFraming()
        for index in fields.indices {
            switch fields[index].name {
            case .transferEncoding:
                // Requests never offer a transfer coding other than chunked (RFC 9110, 10.1.4), and libcurl doesn't
                // report whether a body with a different coding is truncated.
                let coding = fields[index].value
                guard ["chunked", "identity"].contains(where: { ASCII.equalIgnoringCase(coding, $0) }) else {
                    throw TransportFailure(
                        .invalidResponse, "the response has a transfer coding that the request did not offer")
                }
                framing.noteTransferCoding()
            case .contentLength: framing.noteLength(fields[index].value.utf8)
            default: break
            }
        }
        if let fault = framing.fault { throw TransportFailure(.invalidResponse, fault) }
        return framing
    }

    /// Parses the code in a status line, which has exactly three digits (RFC 9112, 4).
    static func statusCode(of line: some Collection<UInt8>) -> Int? {
        guard let blank = line.firstIndex(of: 0x20) else { return nil }
        let digits = line[blank...].drop { $0 == 0x20 }.prefix { (48...57).contains($0) }
        return digits.count == 3 ? digits.reduce(0) { $0 * 10 + Int($1 - 48) } : nil
    }
}

extension HTTPHeaders {
    /// Parses header lines inside a body, such as those of a part in a multipart body, as leniently as a transport.
    ///
    /// - Throws: ``HTTPBodyError/invalid(_:file:)`` with the broken rule.
    package init(lines bytes: [UInt8]) throws(HTTPBodyError) {
        do { self = try ResponseHead.trailers(bytes) } catch { throw HTTPBodyError.invalid(error.message) }
    }
}

/// The lines of a head, and the fields in them. Strings are created only for names and values.
///
/// It exists only while ``ResponseHead`` has the bytes, and never reads outside of them.
@safe struct HeadLines {
    typealias Line = UnsafeBufferPointer<UInt8>

    private var rest: Line

    init(_ bytes: UnsafeBufferPointer<UInt8>) { unsafe rest = bytes }

    mutating func next() -> Line? {
        guard unsafe !rest.isEmpty else { return nil }
        let end = unsafe rest.first("\n", from: 0, to: rest.count) ?? rest.count
        let line = unsafe rest.extracting(..<end)
        unsafe rest = rest.extracting(min(end + 1, rest.count)...)
        return unsafe line.last == 0x0D ? line.extracting(..<(end - 1)) : line
    }

    mutating func fields() throws(TransportFailure) -> [HTTPHeaders.Field] {
        var fields: [HTTPHeaders.Field] = []
        fields.reserveCapacity(16)
        // The parts of a folded value (RFC 9112, 5.2). They are joined once, when the next field begins.
        var folded: [String] = []
        while let line = unsafe next() {
            guard let first = unsafe line.first else { continue }
            if ASCII.isBlank(first) {
                guard let last = fields.last else {
                    throw TransportFailure(.invalidResponse, "the first header line begins with a space or a tab")
                }
                if folded.isEmpty { folded.append(last.value) }
                let part = try unsafe Self.value(line)
                if !part.isEmpty { folded.append(part) }
            } else {
                Self.unfold(&folded, into: &fields)
                fields.append(try unsafe Self.field(line))
            }
        }
        Self.unfold(&folded, into: &fields)
        return fields
    }

    /// Replaces the last field with one that has the whole value: all parts, separated by one space.
    private static func unfold(_ parts: inout [String], into fields: inout [HTTPHeaders.Field]) {
        guard !parts.isEmpty, let last = fields.popLast() else { return }
        fields.append(HTTPHeaders.Field(last.name, parts.joined(separator: " ")))
        parts = []
    }

    private static func field(_ line: Line) throws(TransportFailure) -> HTTPHeaders.Field {
        var colon = 0
        while colon < line.count, unsafe ASCII.isTokenCharacter(line[colon]) { colon += 1 }
        guard colon > 0, colon < line.count, unsafe line[colon] == UInt8(ascii: ":") else {
            throw TransportFailure(.invalidResponse, "a header name is not a token of RFC 9110")
        }
        let name = unsafe HTTPHeaders.Name(String(decoding: line.extracting(..<colon), as: UTF8.self))
        return HTTPHeaders.Field(name, trimmed: try unsafe value(line.extracting((colon + 1)...)))
    }

    /// Returns the value without leading and trailing white space.
    private static func value(_ line: Line) throws(TransportFailure) -> String {
        var (start, end) = (0, line.count)
        while start < end, unsafe ASCII.isBlank(line[start]) { start += 1 }
        while start < end, unsafe ASCII.isBlank(line[end - 1]) { end -= 1 }
        let value = line.extracting(start..<end)
        // Inspecting all bytes without a branch for each is faster: values are short, and few are refused.
        var (least, all) = (UInt8.max, UInt8(0))
        for index in value.indices {
            let byte = unsafe value[index]
            least = min(least, byte)
            all |= byte
        }
        guard unsafe least >= 0x20 || !value.contains(where: { $0 == 0 || $0 == 0x0D }) else {
            throw TransportFailure(.invalidResponse, "a header value contains NUL or a bare CR")
        }
        return unsafe text(value, isASCII: all < 0x80)
    }

    /// Decodes UTF-8, or else Latin-1, where all bytes are valid.
    private static func text(_ bytes: Line, isASCII: Bool) -> String {
        if isASCII { return unsafe String(decoding: bytes, as: UTF8.self) }
        return unsafe String(validating: bytes, as: UTF8.self)
            ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
}

// Functions for a line that a transport reads before the head is complete. They never read outside of the line.
extension UnsafeRawBufferPointer {
    /// Whether the line ends a head: CRLF, or a bare LF.
    var isBlankLine: Bool {
        unsafe count == 1 && self[0] == 0x0A || count == 2 && self[0] == 0x0D && self[1] == 0x0A
    }

    /// Returns the value in a header line if the line begins with `name`, which is the field name in lower case,
    /// including the colon.
    func value(of name: StaticString) -> Slice<UnsafeRawBufferPointer>? {
        let size = name.utf8CodeUnitCount
        guard count > size,
            name.withUTF8Buffer({ name in name.indices.allSatisfy { unsafe ASCII.lowercased(self[$0]) == name[$0] } })
        else { return nil }
        var end = count
        while end > size, unsafe self[end - 1] == 0x0A || self[end - 1] == 0x0D { end -= 1 }
        return unsafe self[size..<end]
    }

    var claimsHTTP2: Bool {
        guard let slash = unsafe firstIndex(of: UInt8(ascii: "/")), slash + 1 < count else { return false }
        return unsafe (UInt8(ascii: "2")...UInt8(ascii: "9")).contains(self[slash + 1])
    }
}

/// How the header fields of a response frame its body (RFC 9112, 6.3).
struct ResponseFraming {
    private var length: Int?
    private var hasLength = false
    private var isContradictory = false
    private var hasTransferCoding = false

    /// The declared length, or nil if it is missing, or if a transfer coding marks the end.
    var bodyLength: Int? { hasTransferCoding ? nil : length }

    var endsWithConnection: Bool { !hasLength && !hasTransferCoding }

    /// The contradiction between the fields, or nil if they agree.
    var fault: String? {
        if isContradictory || hasLength && length == nil {
            return "the Content-Length fields disagree or are not numbers"
        }
        // One field declares an empty body, the other a chunked one. A client that trusts the length would parse the
        // chunks as the next response.
        return hasTransferCoding && length == 0 ? "Content-Length is 0, but there is a Transfer-Encoding" : nil
    }

    mutating func noteTransferCoding() { hasTransferCoding = true }

    /// Notes the value of a Content-Length field, which may be a list of equal numbers.
    mutating func noteLength(_ value: some BidirectionalCollection<UInt8>) {
        hasLength = true
        for part in value.split(separator: UInt8(ascii: ",")) {
            let number = Self.number(part)
            if number == nil || length != nil && length != number { isContradictory = true }
            length = number
        }
    }

    private static func number(_ text: some BidirectionalCollection<UInt8>) -> Int? {
        var (number, isOver) = (0, false)
        var digits = text.drop(while: ASCII.isBlank)
        while let last = digits.last, ASCII.isBlank(last) { digits.removeLast() }
        guard !digits.isEmpty else { return nil }
        for byte in digits {
            guard (48...57).contains(byte) else { return nil }
            (number, isOver) = number.multipliedReportingOverflow(by: 10)
            if isOver { return nil }
            (number, isOver) = number.addingReportingOverflow(Int(byte - 48))
            if isOver { return nil }
        }
        return number
    }
}
