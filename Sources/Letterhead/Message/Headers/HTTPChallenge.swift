// SPDX-License-Identifier: MIT

/// A challenge: the authentication that a server requires before it grants access (RFC 9110, 11.3).
///
/// It comes from the field `WWW-Authenticate` or `Proxy-Authenticate`. Read ``HTTPResponse/challenges`` to learn how to
/// sign a request:
///
/// ```swift
/// for challenge in response.challenges where challenge.hasScheme("Bearer") {
///     print(challenge["realm"] ?? "", challenge["scope"] ?? "")
/// }
/// ```
public struct HTTPChallenge: Sendable {
    /// The scheme as received, such as `Bearer`. Its case has no meaning, so compare it with ``hasScheme(_:)``.
    public let scheme: String
    /// The token68 of the challenge, which schemes such as `Negotiate` have instead of parameters. Nil for other
    /// schemes.
    public let token: String?
    /// The parameters in order, with names in lower case and values without quotation marks and escapes. A server may
    /// send any value, and the same name twice.
    public let parameters: [(name: String, value: String)]

    /// Returns whether the challenge has a certain scheme, ignoring its case.
    public func hasScheme(_ name: String) -> Bool { ASCII.equalIgnoringCase(scheme, name) }

    /// The first value of a parameter, or nil if the challenge doesn't have the parameter. The name is compared without
    /// its case.
    public subscript(name: String) -> String? {
        parameters.first { ASCII.equalIgnoringCase($0.name, name) }?.value
    }
}

extension HTTPChallenge: Hashable {
    /// Compares the schemes without their case, and the parameters in order.
    public static func == (left: HTTPChallenge, right: HTTPChallenge) -> Bool {
        left.hasScheme(right.scheme) && left.token.bytes == right.token.bytes
            && left.parameters.elementsEqual(right.parameters) { $0.name == $1.name && $0.value.isSame(as: $1.value) }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(ASCII.lowercased(scheme))
        for parameter in parameters { hasher.combine(bytesOf: parameter.value) }
    }
}

extension HTTPResponse {
    /// The challenges that the server sent, in order: from `Proxy-Authenticate` for a 407, and from `WWW-Authenticate`
    /// for any other status. A malformed challenge and what follows it in the same field are left out.
    public var challenges: [HTTPChallenge] {
        headers.values(for: status.code == 407 ? .proxyAuthenticate : .wwwAuthenticate).flatMap { field in
            var reader = ChallengeReader(field)
            return reader.challenges()
        }
    }
}

extension HTTPChallenge {
    /// Returns the parameters of `Authentication-Info` (RFC 9110, 11.6.3). They have the same form as in a challenge.
    package static func parameters(of field: String) -> [(name: String, value: String)] {
        var reader = ChallengeReader(field)
        return reader.parameters() ?? []
    }
}

/// Reads the challenges in a field (RFC 9110, 11.6.1). A comma separates challenges as well as their parameters: a
/// token with an equals sign is a parameter, and any other token begins the next challenge.
///
/// Some servers omit the comma between parameters, or the quotation marks around values such as URLs. Both are
/// accepted.
private struct ChallengeReader {
    private let bytes: [UInt8]
    private var index = 0

    init(_ field: String) { bytes = Array(field.utf8) }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private var isSeparated: Bool { next.map { Self.isBlank($0) || $0 == UInt8(ascii: ",") } ?? true }

    mutating func challenges() -> [HTTPChallenge] {
        var found: [HTTPChallenge] = []
        while true {
            skipBlanks(and: UInt8(ascii: ","))
            let scheme = read(while: ASCII.isTokenCharacter)
            guard !scheme.isEmpty, isSeparated else { return found }
            skipBlanks()
            let token = token68()
            guard let parameters = token == nil ? parameters() : [] else { return found }
            found.append(HTTPChallenge(scheme: scheme, token: token, parameters: parameters))
        }
    }

    /// Reads a token68, the form of credentials such as Base64 (RFC 9110, 11.2), if it ends at a comma or with the field.
    /// Otherwise, reads nothing and returns nil.
    private mutating func token68() -> String? {
        let start = index
        _ = read { ASCII.isTokenCharacter($0) || $0 == UInt8(ascii: "/") }
        if index > start { _ = read { $0 == UInt8(ascii: "=") } }
        let end = index
        skipBlanks()
        guard end > start, next == nil || next == UInt8(ascii: ",") else {
            index = start
            return nil
        }
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }

    /// Reads the parameters before the next scheme, or returns nil if one is malformed.
    mutating func parameters() -> [(name: String, value: String)]? {
        var found: [(name: String, value: String)] = []
        while true {
            skipBlanks(and: UInt8(ascii: ","))
            let start = index
            let name = read(while: ASCII.isTokenCharacter)
            guard !name.isEmpty else { return next == nil ? found : nil }
            skipBlanks()
            guard next == UInt8(ascii: "=") else {
                index = start
                return found
            }
            index += 1
            skipBlanks()
            // If a realm were cut at a stray quotation mark, the rest could name a different realm.
            guard let value = next == UInt8(ascii: "\"") ? quoted() : plain(), isSeparated else { return nil }
            found.append((ASCII.lowercased(name), value))
        }
    }

    private mutating func plain() -> String {
        read { $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "\"") }
    }

    /// Reads a quoted string and resolves its escapes. Returns nil if it doesn't end or contains a control character.
    private mutating func quoted() -> String? {
        var text: [UInt8] = []
        index += 1
        while let byte = next, byte != UInt8(ascii: "\"") {
            if byte == UInt8(ascii: "\\") { index += 1 }
            guard let byte = next, byte >= 0x20 && byte != 0x7F || byte == 0x09 else { return nil }
            text.append(byte)
            index += 1
        }
        guard next != nil else { return nil }
        index += 1
        return String(decoding: text, as: UTF8.self)
    }

    private mutating func read(while fits: (UInt8) -> Bool) -> String {
        let start = index
        while let byte = next, fits(byte) { index += 1 }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    private mutating func skipBlanks(and other: UInt8? = nil) {
        while let byte = next, Self.isBlank(byte) || byte == other { index += 1 }
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
}
