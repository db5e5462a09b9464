/// Tells by the parts of a name whether the name is that of a secret: `X-Access-Token`, `private_key`, `jwtBody`.
///
/// A name is split at everything that is not a letter, and before capital letters as in `accessToken` and `APIKey`. It is
/// secret when one part is a secret word, or when two or three adjacent parts together are: `api-key`, `DPoP`. Words that
/// are secret only when they are the whole name, such as `auth`, may follow an `X-`.
enum SecretName {
    /// - Parameter name: the bytes of a name, unescaped, of a header, a query item, a form field or a JSON member.
    static func matches(_ name: some Sequence<UInt8>) -> Bool {
        let parts = parts(of: name)
        for index in parts.indices {
            var joined = ""
            for part in parts[index...].prefix(3) {
                joined += part
                if joined.utf8.count > longest { break }
                if words.contains(joined) { return true }
            }
        }
        let whole = parts.first == "x" ? parts.dropFirst() : parts[...]
        return whole.count <= 2 && wholeNames.contains(whole.joined())
    }

    /// The words of a name in lower case.
    private static func parts(of name: some Sequence<UInt8>) -> [String] {
        let bytes = Array(name)
        var parts: [String] = []
        var start = 0
        func end(at index: Int) {
            if start < index { parts.append(ASCII.lowercased(String(decoding: bytes[start..<index], as: UTF8.self))) }
            start = index
        }
        for index in bytes.indices {
            guard isLetter(bytes[index]) else {
                end(at: index)
                start = index + 1
                continue
            }
            guard isUpper(bytes[index]), index > start else { continue }
            let isFollowedByLower = index + 1 < bytes.count && isLower(bytes[index + 1])
            if !isUpper(bytes[index - 1]) || isFollowedByLower { end(at: index) }
        }
        end(at: bytes.count)
        return parts
    }

    private static func isUpper(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) }
    private static func isLower(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) }
    private static func isLetter(_ byte: UInt8) -> Bool { isUpper(byte) || isLower(byte) || byte >= 0x80 }

    private static let words: Set<String> = [
        "token", "secret", "password", "passwd", "pwd", "passphrase", "passcode", "otp", "totp", "jwt", "dpop",
        "bearer",
        "credential", "credentials", "authorization", "cookie", "signature", "sig", "hmac", "assertion", "csrf", "xsrf",
        "apikey", "privatekey", "secretkey", "accesskey", "authkey", "signingkey", "encryptionkey", "masterkey",
        "sharedkey", "subscriptionkey", "functionskey", "applicationkey", "appkey", "accountkey", "servicekey",
        "sessionkey", "sessionid", "sessid", "phpsessid", "jsessionid", "authcode", "devicecode", "verificationcode",
        "onetimecode", "recoverycode", "backupcode", "securitycode", "mfacode", "codeverifier",
    ]

    private static let wholeNames: Set<String> = ["auth", "session", "sid", "pass"]

    private static let longest = 20
}
