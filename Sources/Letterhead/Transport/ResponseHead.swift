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
        method == .head || status.hasNoBody ? 0 : framing.bodyLength
    }

    private static func framing(_ fields: [HTTPHeaders.Field]) throws(TransportFailure) -> ResponseFraming {
        var framing = ResponseFraming()
        for index in fields.indices {
            switch fields[index].name {
            case .transferEncoding: fields[index].value.withBytes { unsafe framing.noteTransferCoding($0) }
            case .contentLength: fields[index].value.withBytes { unsafe framing.noteLength($0) }
            default: break
            }
        }
        if let fault = framing.fault { throw TransportFailure(.invalidResponse, fault) }
        return framing
    }

    /// Parses the code of a status line, which is from 100 to 999 (RFC 9112, 4).
    static func statusCode(of line: some RandomAccessCollection<UInt8>) -> Int? {
        guard let blank = line.firstIndex(of: 0x20) else { return nil }
        let rest = line[blank...].drop { $0 == 0x20 }
        let digits = rest.prefix { (48...57).contains($0) }
        guard digits.count == 3, digits.first != 48, rest.count == 3 || rest.dropFirst(3).first == 0x20 else {
            return nil
        }
        return digits.reduce(0) { $0 * 10 + Int($1 - 48) }
    }
}

extension HTTPStatus {
    /// Whether a response has no body, whatever its fields declare (RFC 9112, 6.3).
    var hasNoBody: Bool { isInformational || self == .noContent || self == .notModified }
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
        let colon = try unsafe line.colon()
        let name = unsafe HTTPHeaders.Name(String(decoding: line.extracting(..<colon), as: UTF8.self))
        return HTTPHeaders.Field(name, trimmed: try unsafe value(line.extracting((colon + 1)...)))
    }

    /// Returns the value without leading and trailing white space.
    private static func value(_ line: Line) throws(TransportFailure) -> String {
        let value = unsafe line.trimmed
        let isASCII = try unsafe value.checkFieldValue()
        return unsafe text(value, isASCII: isASCII)
    }

    /// Decodes UTF-8, or else Latin-1, where all bytes are valid.
    private static func text(_ bytes: Line, isASCII: Bool) -> String {
        if isASCII { return unsafe String(decoding: bytes, as: UTF8.self) }
        return unsafe String(validating: bytes, as: UTF8.self)
            ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }
}
