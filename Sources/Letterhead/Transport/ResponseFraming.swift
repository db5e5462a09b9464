/// How the header fields of a response frame its body (RFC 9112, 6.3).
struct ResponseFraming {
    private var length: Int?
    private var hasLength = false
    private var isContradictory = false
    private var hasTransferCoding = false

    /// The declared length; nil if it is missing, or if a transfer coding marks the end.
    var bodyLength: Int? { hasTransferCoding ? nil : length }

    /// Whether a body would end with its connection.
    var endsWithConnection: Bool { !hasLength && !hasTransferCoding }

    /// The contradiction between the fields; nil if they agree.
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
        var digits = text.drop(while: isBlank)
        while let last = digits.last, isBlank(last) { digits.removeLast() }
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

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
