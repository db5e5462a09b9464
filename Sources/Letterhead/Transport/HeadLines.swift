/// The lines of a head, one after the other, and the fields that stand in them: one pass over the bytes, and no text but
/// the names and values themselves.
struct HeadLines {
    typealias Line = Slice<UnsafeBufferPointer<UInt8>>

    private var rest: Line

    init(_ bytes: UnsafeBufferPointer<UInt8>) { rest = bytes[...] }

    /// The next line without its end; nil when there is none.
    mutating func next() -> Line? {
        guard !rest.isEmpty else { return nil }
        let end = rest.firstIndex(of: 0x0A) ?? rest.endIndex
        var line = rest[..<end]
        rest = rest[min(end + 1, rest.endIndex)...]
        if line.last == 0x0D { line.removeLast() }
        return line
    }

    /// The fields of all lines that are left.
    mutating func fields() throws(TransportFailure) -> [HTTPHeaders.Field] {
        var fields: [HTTPHeaders.Field] = []
        fields.reserveCapacity(16)
        while let line = next() {
            guard let first = line.first else { continue }
            if Self.isBlank(first) {
                // obs-fold (RFC 9112, 5.2): the value goes on, one blank in between.
                guard let last = fields.popLast() else {
                    throw TransportFailure(.invalidResponse, "the first header line is folded")
                }
                fields.append(HTTPHeaders.Field(last.name, last.value + " " + (try Self.value(line))))
            } else {
                fields.append(try Self.field(line))
            }
        }
        return fields
    }

    private static func field(_ line: Line) throws(TransportFailure) -> HTTPHeaders.Field {
        guard let colon = line.firstIndex(where: { !ASCII.isTokenCharacter($0) }), colon > line.startIndex,
            line[colon] == UInt8(ascii: ":")
        else { throw TransportFailure(.invalidResponse, "a header's name is no token") }
        let name = HTTPHeaders.Name(text(line[..<colon], isASCII: true))
        return HTTPHeaders.Field(name, trimmed: try value(line[(colon + 1)...]))
    }

    /// The value without the blanks at its ends.
    private static func value(_ line: Line) throws(TransportFailure) -> String {
        var (start, end) = (line.startIndex, line.endIndex)
        while start < end, isBlank(line[start]) { start += 1 }
        while start < end, isBlank(line[end - 1]) { end -= 1 }
        var union: UInt8 = 0
        for byte in line[start..<end] {
            guard byte != 0, byte != 0x0D else {
                throw TransportFailure(.invalidResponse, "a header's value holds NUL or a bare CR")
            }
            union |= byte
        }
        return text(line[start..<end], isASCII: union < 0x80)
    }

    /// UTF-8 where it is that, and else Latin-1, which any bytes are.
    private static func text(_ line: Line, isASCII: Bool) -> String {
        let bytes = UnsafeBufferPointer(rebasing: line)
        if isASCII { return String(decoding: bytes, as: UTF8.self) }
        return String(validating: bytes, as: UTF8.self)
            ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
