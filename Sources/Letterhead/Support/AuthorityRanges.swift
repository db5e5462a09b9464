/// Where the parts of an authority lie in its bytes (RFC 3986, 3.2).
struct AuthorityRanges {
    /// What stands before the last `@`: user and password.
    private(set) var userInfo: Range<Int>?
    private(set) var host: Range<Int>
    private(set) var port: Int?

    /// A port that is no number stays part of the host, where it is refused.
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

    /// Nil when it is none of digits only, or larger than any.
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
