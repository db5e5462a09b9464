/// The ranges of the parts of a URI reference in its bytes, as in RFC 3986, appendix B. Nothing is decoded, repaired or
/// normalized. A combining mark cannot hide a separator.
struct URLRanges {
    private(set) var scheme: Range<Int>?
    private(set) var authority: Range<Int>?
    let path: Range<Int>
    private(set) var query: Range<Int>?
    private(set) var fragment: Range<Int>?

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        var (start, end) = (0, bytes.count)
        if let mark = bytes.first("#", from: start, to: end) {
            fragment = mark + 1..<end
            end = mark
        }
        if let mark = bytes.first("?", from: start, to: end) {
            query = mark + 1..<end
            end = mark
        }
        if let colon = bytes.first(":", from: start, to: end), Self.isScheme(bytes, to: colon) {
            scheme = 0..<colon
            start = colon + 1
        }
        if Self.hasSlashes(bytes, from: start, to: end) {
            let slash = bytes.first("/", from: start + 2, to: end) ?? end
            authority = start + 2..<slash
            start = slash
        }
        path = start..<end
    }

    /// Returns whether the bytes begin with a scheme and `://`, or with `//`.
    static func beginWithHost(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        if hasSlashes(bytes, from: 0, to: bytes.count) { return true }
        guard let colon = bytes.first(":", from: 0, to: bytes.count), isScheme(bytes, to: colon) else { return false }
        return hasSlashes(bytes, from: colon + 1, to: bytes.count)
    }

    private static func hasSlashes(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int) -> Bool {
        start + 2 <= end && bytes[start] == UInt8(ascii: "/") && bytes[start + 1] == UInt8(ascii: "/")
    }

    private static func isScheme(_ bytes: UnsafeBufferPointer<UInt8>, to end: Int) -> Bool {
        guard end > 0, isLetter(bytes[0]) else { return false }
        for index in 1..<end {
            let byte = bytes[index]
            let isMark = byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
            guard isLetter(byte) || (48...57).contains(byte) || isMark else { return false }
        }
        return true
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (97...122).contains(byte | 0x20) }
}

/// The ranges of the parts of an authority in its bytes (RFC 3986, 3.2).
struct AuthorityRanges {
    /// The part before the last `@`: user and password.
    private(set) var userInfo: Range<Int>?
    private(set) var host: Range<Int>
    private(set) var port: Int?

    /// Finds the parts. A port that is not a number stays part of the host, which validation refuses.
    init(_ bytes: UnsafeBufferPointer<UInt8>, in authority: Range<Int>) {
        host = authority
        if let mark = bytes.last("@", from: host.lowerBound, to: host.upperBound) {
            userInfo = host.lowerBound..<mark
            host = mark + 1..<host.upperBound
        }
        guard let colon = bytes.last(":", from: host.lowerBound, to: host.upperBound),
            bytes.first("]", from: colon, to: host.upperBound) == nil
        else { return }
        port = Self.number(bytes, in: colon + 1..<host.upperBound)
        if port != nil || colon + 1 == host.upperBound { host = host.lowerBound..<colon }
    }

    /// Returns the number; nil if it contains a character other than a digit, or overflows.
    private static func number(_ bytes: UnsafeBufferPointer<UInt8>, in range: Range<Int>) -> Int? {
        var number: Int?
        for place in range {
            guard (48...57).contains(bytes[place]) else { return nil }
            let (tens, isOver) = (number ?? 0).multipliedReportingOverflow(by: 10)
            let (sum, isSumOver) = tens.addingReportingOverflow(Int(bytes[place] - 48))
            guard !isOver, !isSumOver else { return nil }
            number = sum
        }
        return number
    }
}
