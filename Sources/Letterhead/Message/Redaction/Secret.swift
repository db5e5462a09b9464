// SPDX-License-Identifier: MIT
/// A string that is never printed. Use it wherever you keep a password, a token or a key.
///
/// ```swift
/// let password: Secret = "open sesame"
/// let token = Secret(keychain.token)
/// print(token)                        // <redacted>
/// ```
///
/// Descriptions, dumps and mirrors contain `<redacted>`. The type isn't `Codable`, so that no document contains a
/// secret by accident. Call ``reveal()`` to read the string.
public struct Secret: Sendable, Hashable {
    private let text: String

    /// Hides a string, such as one from a keychain or a configuration file. A string literal needs no initializer.
    public init(_ text: String) { self.text = text }

    /// Returns the string. Don't write it to logs or files.
    public func reveal() -> String { text }

    /// Whether the string has no characters, without revealing it.
    public var isEmpty: Bool { text.isEmpty }
}

extension Secret: ExpressibleByStringLiteral {
    public init(stringLiteral value: String) { self.init(value) }
}

extension Secret: CustomStringConvertible, CustomReflectable {
    /// `<redacted>`, regardless of the string.
    public var description: String { Redaction.placeholder }
    public var customMirror: Mirror { Mirror(describing: self) }
}

/// Decides by the parts of a name whether its value is secret, as in `X-Access-Token`, `private_key` and `jwtBody`.
///
/// A name is split at everything that isn't a letter, and before capital letters as in `accessToken` and `APIKey`. It
/// is secret if one part is a secret word, or if two or three adjacent parts form one: `api-key`, `DPoP`. Not all names
/// have word boundaries, so a part that ends in a strong word is secret, too, such as `csrftoken` and `userpassword`. A
/// plural is as secret as its singular, except for `tokens` in a name that counts them, such as `max_tokens`. Some
/// words are secret only as the last part (`X-User-Auth`), others only as the whole name (`session`), optionally after
/// an `X-`.
enum SecretName {
    /// - Parameter name: the unescaped name of a header, query item, form field or JSON member, as bytes.
    static func matches(_ name: some Sequence<UInt8>) -> Bool {
        let parts = parts(of: name)
        var counted: Bool?
        /// Returns whether the name counts tokens. The parts are searched only once, when the answer is first needed.
        func countsTokens() -> Bool {
            let result = counted ?? parts.contains { isOne(of: counts, $0) }
            counted = result
            return result
        }
        for index in parts.indices {
            var joined = ""
            for part in parts[index...].prefix(3) {
                joined += part
                if isSecret(joined, countsTokens) { return true }
                if joined.utf8.count > longest { break }
            }
        }
        if let last = parts.last, isOne(of: lastParts, last) { return true }
        let whole = parts.first?.isSame(as: "x") == true ? parts.dropFirst() : parts[...]
        return whole.count <= 2 && isOne(of: wholeNames, whole.joined())
    }

    private static func isSecret(_ word: String, _ countsTokens: () -> Bool) -> Bool {
        if isSecretSingular(word[...]) { return true }
        guard word.utf8.last == UInt8(ascii: "s"), isSecretSingular(Substring(word.utf8.dropLast())) else {
            return false
        }
        return !word.ends(with: "tokens") || !countsTokens()
    }

    private static func isSecretSingular(_ word: Substring) -> Bool {
        isOne(of: words, word)
            || strongWords.contains { word.utf8.count > $0.utf8.count && word.ends(with: $0) }
    }

    /// Returns whether a set contains a word. A name from a server may be long, and hashing a string normalizes it.
    private static func isOne(of words: Set<String>, _ word: some StringProtocol) -> Bool {
        word.utf8.count <= longest && words.contains(String(word))
    }

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
        "credential", "authorization", "cookie", "signature", "sig", "hmac", "assertion", "csrf", "xsrf",
        "apikey", "privatekey", "secretkey", "accesskey", "authkey", "signingkey", "encryptionkey", "masterkey",
        "sharedkey", "subscriptionkey", "functionskey", "applicationkey", "appkey", "accountkey", "servicekey",
        "sessionkey", "clientkey", "userkey", "oauthverifier", "sessionid", "sessid", "phpsessid", "jsessionid",
        "authcode", "devicecode", "verificationcode",
        "onetimecode", "recoverycode", "backupcode", "securitycode", "mfacode", "codeverifier",
    ]

    /// Words that are secret even at the end of a longer word.
    private static let strongWords = [
        "token", "secret", "password", "passwd", "passphrase", "passcode", "userpass", "credential", "authorization",
        "cookie", "signature", "apikey", "privatekey", "secretkey", "accesskey", "authkey", "signingkey", "sessionid",
        "sessid",
    ]

    /// Words that are secret only as the last part of a name.
    private static let lastParts: Set<String> = ["auth", "oauth", "authentication", "pass"]

    /// Words that turn `tokens` into a number, as in limits and usage counts for a language model.
    private static let counts: Set<String> = [
        "max", "maximum", "min", "minimum", "total", "count", "num", "number", "limit", "ratelimit", "remaining",
        "used",
        "usage", "prompt", "completion", "input", "output", "cached", "reasoning", "thinking", "budget", "new",
    ]

    private static let wholeNames: Set<String> = ["session", "sid"]

    private static let longest = 20
}
