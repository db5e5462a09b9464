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
        let digits = bytes[colon + 1..<host.upperBound]
        if digits.allSatisfy({ (48...57).contains($0) }) { port = Int(String(decoding: digits, as: UTF8.self)) }
        if port != nil || digits.isEmpty { host = host.lowerBound..<colon }
    }
}
