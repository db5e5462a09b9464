// SPDX-License-Identifier: MIT
import LetterheadFoundation

// What an error shows of the body of its response: short, on one line, and without secrets.

extension HTTPError {
    /// The first 512 bytes, at most, of the body of the response, with the values of secret names redacted. It is nil
    /// if the body is empty, secret, multipart, or not text.
    public var bodyExcerpt: String? {
        guard let response, let data = response.shownBody(for: request) else { return nil }
        return request.redaction.excerpt(of: data, headers: response.headers)
    }
}

extension HTTPResponse {
    /// The longest text of a server in an error.
    private static let longestText = 200

    /// The body in memory; nil if it is empty or secret.
    fileprivate func shownBody(for request: HTTPRequest) -> Data? {
        guard let data = body.buffered, !data.isEmpty, !request.isSecret, !self.request.isSecret else { return nil }
        return data
    }

    /// The beginning of a body that is text and has no names whose values may be secret.
    private func beginning(for request: HTTPRequest) -> String? {
        guard let data = shownBody(for: request), !headers.contains(.contentEncoding), !Redaction.isMultipart(headers),
            headers.mediaType?.essence != MediaType.form.essence
        else { return nil }
        let isCut = data.count > Redaction.shownBytes
        let text = Redaction.utf8(data.prefix(Redaction.shownBytes), isCut: isCut)
        return isCut ? text.map { Redaction.wholeWords(of: $0) } : text
    }

    /// Describes a body that should be JSON and does not begin like JSON, or that has another media type:
    /// `; the response is text/html and begins with "<title>502"`. Otherwise, the result is empty.
    func foreignBody(for request: HTTPRequest) -> String {
        let type = headers.mediaType
        var parts: [String] = []
        if let type, !type.isJSON { parts.append("is \(type.essence.prefix(64))") }
        if let text = beginning(for: request), !Self.beginsLikeJSON(text) {
            parts.append("begins with \(request.redaction.words(text, upTo: 100, hiding: self.request))")
        }
        return parts.isEmpty ? "" : "; the response " + parts.joined(separator: " and ")
    }

    private static func beginsLikeJSON(_ text: String) -> Bool {
        let first = text.utf8.first { $0 > 0x20 && ![0xEF, 0xBB, 0xBF].contains($0) }
        return first.map { "{[\"".utf8.contains($0) } ?? true
    }

    /// The text with which a server refuses a request with a 4xx: `the server wrote "no such user"`.
    func refusal(of request: HTTPRequest) -> String? {
        guard (400..<500).contains(status.code), !request.isSecret, !self.request.isSecret else { return nil }
        func words(_ text: String) -> String {
            request.redaction.words(text, upTo: Self.longestText, hiding: self.request)
        }
        var parts: [String] = []
        if let text = explanation(for: request) { parts.append("wrote \(words(text))") }
        if status == .unauthorized, let challenge = headers[.wwwAuthenticate] {
            parts.append("asks for \(words(challenge))")
        }
        return parts.isEmpty ? nil : "the server " + parts.joined(separator: " and ")
    }

    /// The members of a body with which servers explain an error: of problem details (RFC 9457, 3.1) and of an error of
    /// OAuth (RFC 6749, 5.2).
    private struct Explanation: Decodable {
        let members: [String]

        private enum CodingKeys: String, CodingKey {
            case title, detail, error, error_description
        }

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            func text(_ key: CodingKeys) -> String? { try? container.decode(String.self, forKey: key) }
            let description = text(.error_description)
            let error = description == nil ? nil : text(.error)
            members = [text(.title), text(.detail), error, description].compactMap(\.self)
        }
    }

    private func explanation(for request: HTTPRequest) -> String? {
        guard let data = shownBody(for: request), let type = headers.mediaType else { return nil }
        if type.essence == "text/plain" {
            return beginning(for: request).flatMap { $0.utf8.contains { $0 > 0x20 } ? $0 : nil }
        }
        guard type.isJSON, data.count <= 1 << 16,
            let members = try? JSONDecoder().decode(Explanation.self, from: data).members, !members.isEmpty
        else { return nil }
        return members.joined(separator: ": ")
    }
}

extension Redaction {
    /// Returns a text of a server in quotation marks, on one line, cut after a number of characters.
    ///
    /// Values of secret names, the credentials of the request, and what may be a token are redacted.
    fileprivate func words(_ text: String, upTo limit: Int, hiding request: HTTPRequest) -> String {
        let secrets = request.secretHeaders.map(\.value) + request.secretQuery.compactMap(\.value)
        return words(text, upTo: limit, hiding: secrets.flatMap(Self.spellings))
    }

    /// A secret, and how a server may repeat it or a part of it: a credential without the name of its scheme, the username
    /// and the password of Basic, each cookie, and all of these as in a URL.
    private static func spellings(of secret: String) -> [String] {
        var spellings = [secret]
        if let credential = secret.cut(at: " ").map({ String($0.tail) }) {
            spellings.append(credential)
            if let basic = Data(base64Encoded: credential) {
                spellings += parts(of: String(decoding: basic, as: UTF8.self))
            }
        }
        for item in secret.split(at: ";") { spellings += parts(of: String(item), at: "=").suffix(1) }
        return spellings + spellings.map { PercentEncoding.escape($0, .unreserved) }
    }

    /// What stands before and after a mark, without parts that are so short that they occur in any text.
    private static func parts(of text: String, at mark: Unicode.Scalar = ":") -> [String] {
        text.cut(at: mark).map { [String($0.head), String($0.tail)].filter { $0.utf8.count > 3 } } ?? []
    }

    /// Returns a text of a server in the same way, without the given secrets.
    func words(_ text: String, upTo limit: Int, hiding secrets: [String] = []) -> String {
        // Secrets are hidden before the text is cut, because a part of one would not be recognized.
        let longest = secrets.reduce(0) { max($0, $1.utf8.count) }
        let isLong = text.utf8.count > 4 * limit
        var text = String(decoding: text.utf8.prefix(4 * limit + longest), as: UTF8.self)
        for secret in secrets where !secret.isEmpty { text = text.replacingBytes(of: secret, with: Self.placeholder) }
        text = redactURLs(redactJSON(text))
        if isLong { text = Self.wholeWords(of: String(decoding: text.utf8.prefix(4 * limit), as: UTF8.self)) }
        text = Self.withoutTokens(text.utf8.split { $0 <= 0x20 }.map { String(Substring($0)) }.joined(separator: " "))
        let shown = text.unicodeScalars.prefix(limit)
        return "\"\(Self.visible(String(shown)))\(shown.endIndex < text.endIndex ? "…" : "")\""
    }

    /// Returns a text that was cut, without the word of ASCII at its end, which may be the beginning of a token.
    fileprivate static func wholeWords(of text: String) -> String {
        String(decoding: text.utf8.reversed().drop { (0x21...0x7E).contains($0) }.reversed(), as: UTF8.self)
    }

    /// Redacts each run of 20 or more characters of base64 in which letters and digits are mixed.
    private static func withoutTokens(_ text: String) -> String {
        var output: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let run = rest.prefix { isLetter($0) || isDigit($0) || "-_+/".utf8.contains($0) }
            let isToken = run.count >= 20 && run.contains(where: isLetter) && run.contains(where: isDigit)
            output += isToken ? Array(placeholder.utf8)[...] : run
            rest = rest.dropFirst(run.count)
            if let next = rest.popFirst() { output.append(next) }
        }
        return String(decoding: output, as: UTF8.self)
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (97...122).contains(ASCII.lowercased(byte)) }

    private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }
}
