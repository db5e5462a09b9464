// SPDX-License-Identifier: MIT
import LetterheadFoundation

// What an error shows of a response body: short, on one line, and without secrets.

extension HTTPError {
    /// At most the first 512 bytes of the response body, with the values of secret names redacted. It is nil if the
    /// body is empty, secret, multipart, or not text.
    public var bodyExcerpt: String? {
        guard let response, let data = response.shownBody(for: request) else { return nil }
        return request.redaction.excerpt(of: data, headers: response.headers)
    }
}

extension HTTPResponse {
    private static let longestText = 200

    fileprivate func shownBody(for request: HTTPRequest) -> Data? {
        guard let data = body.buffered, !data.isEmpty, !request.isSecret, !self.request.isSecret else { return nil }
        return data
    }

    /// The beginning of a text body, or nil if the body may hold secret values.
    private func beginning(for request: HTTPRequest) -> String? {
        guard let data = shownBody(for: request), !headers.contains(.contentEncoding), !Redaction.isMultipart(headers),
            headers.mediaType?.essence != MediaType.form.essence
        else { return nil }
        let isCut = data.count > Redaction.shownBytes
        let text = Redaction.utf8(data.prefix(Redaction.shownBytes), isCut: isCut)
        return isCut ? text.map { Redaction.wholeWords(of: $0) } : text
    }

    /// Describes a body that should be JSON, but doesn't begin like JSON or has a different media type. Returns an
    /// empty string for any other body.
    ///
    /// An example is "the response is text/html and begins with `<title>502`".
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

    /// Returns the explanation that the server gave for an error: `the server wrote "no such user"`.
    ///
    /// - Parameter isReported: whether the body reports a failure although the status doesn't.
    func refusal(of request: HTTPRequest, isReported: Bool) -> String? {
        guard status.code >= 300 || isReported || reportsFailure, !request.isSecret, !self.request.isSecret else {
            return nil
        }
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

    private func explanation(for request: HTTPRequest) -> String? {
        guard let data = shownBody(for: request), let type = headers.mediaType else { return nil }
        if type.essence == "text/plain" {
            return beginning(for: request).flatMap { $0.utf8.contains { $0 > 0x20 } ? $0 : nil }
        }
        guard data.count <= 1 << 16 else { return nil }
        if type.essence.ends(with: "xml") { return Self.explanation(inXML: Array(data)[...]) }
        guard type.isJSON else { return nil }
        // A byte order mark may come first.
        let json = data.drop { JSONBytes.isBlank($0) || [0xEF, 0xBB, 0xBF].contains($0) }
        return request.redaction.explanation(of: Array(json)[...])
    }
}

extension HTTPResponse {
    /// Returns the code and the message in an error document of an object store: `<Error><Code>NoSuchKey</Code>…`.
    private static func explanation(inXML document: ArraySlice<UInt8>) -> String? {
        let error = content(of: "Error", in: document) ?? []
        let parts = ["Code", "Message"].compactMap { content(of: $0, in: error) }
        let texts = parts.filter { $0.contains { $0 > 0x20 } }.map { String(decoding: $0, as: UTF8.self) }
        let characters = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&")]
        let text = characters.reduce(texts.joined(separator: ": ")) { $0.replacingBytes(of: $1.0, with: $1.1) }
        return texts.isEmpty ? nil : text
    }

    private static func content(of element: String, in document: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let start = document.firstRange(of: Array("<\(element)>".utf8))?.upperBound,
            let end = document[start...].firstRange(of: Array("</\(element)>".utf8))?.lowerBound
        else { return nil }
        return document[start..<end]
    }
}

extension Redaction {
    /// The names of members that explain an error, in lower case and without `_` and `-`: a title, a detail, and a
    /// list. Problem details (RFC 9457, 3.1), OAuth errors (RFC 6749, 5.2) and most other formats have some of them.
    private static let explaining = [
        ["title", "error"], ["message", "detail", "errordescription", "description", "reason", "msg"], ["errors"],
    ]

    /// Returns the explanation in a JSON value: a string, the explaining members of an object, or the first elements of
    /// an array. The document may be malformed.
    ///
    /// - Parameter isList: whether the members of an object may be the names of fields, each with its errors.
    fileprivate func explanation(of value: ArraySlice<UInt8>, isList: Bool = false, depth: Int = 0) -> String? {
        guard depth < 5, let start = value.first else { return nil }
        if start == JSONBytes.quote {
            return value.dropFirst().dropLast().contains { $0 > 0x20 } ? JSONBytes.text(value) : nil
        }
        let children = "{[".utf8.contains(start) ? JSONBytes.children(of: value) : []
        let members = children.map { (name: Self.bare($0.name), value: $0.value) }
        let texts = Self.explaining.compactMap { names in
            for name in names where !isSecret(parameter: name) {
                guard let member = members.first(where: { $0.name.elementsEqual(name.utf8) }) else { continue }
                let text = explanation(of: member.value, isList: name.isSame(as: "errors"), depth: depth + 1)
                if let text { return text }
            }
            return String?.none
        }
        // A detail often repeats the title.
        let distinct = texts.reduce(into: [String]()) { kept, text in
            if kept.contains(where: { $0.begins(with: text) }) { return }
            kept.removeAll { text.begins(with: $0) }
            kept.append(text)
        }
        if !texts.isEmpty { return distinct.joined(separator: ": ").replacingBytes(of: ".: ", with: ": ") }
        guard isList || start == UInt8(ascii: "[") else { return nil }
        let list = children.prefix(3).compactMap { child in
            let name = String(decoding: child.name, as: UTF8.self)
            let text = isSecret(parameter: name) ? nil : explanation(of: child.value, depth: depth + 1)
            return text.map { name.isEmpty ? $0 : "\(name): \($0)" }
        }
        return list.isEmpty ? nil : list.joined(separator: "; ")
    }
}

extension Redaction {
    /// Returns a text from the server in quotation marks, on one line, cut after a number of characters. It redacts
    /// secret values, request credentials, and anything that may be a token.
    fileprivate func words(_ text: String, upTo limit: Int, hiding request: HTTPRequest) -> String {
        let secrets = request.secretHeaders.map(\.value) + request.secretQuery.compactMap(\.value)
        return words(text, upTo: limit, hiding: secrets.flatMap(Self.spellings))
    }

    /// Returns a secret, and the forms of it that a server may echo. These are a credential without its scheme name,
    /// username and password from Basic credentials, each cookie, and all of these escaped as in a URL.
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

    /// Returns the parts before and after a delimiter, without parts so short that they occur in any text.
    private static func parts(of text: String, at mark: Unicode.Scalar = ":") -> [String] {
        text.cut(at: mark).map { [String($0.head), String($0.tail)].filter { $0.utf8.count > 3 } } ?? []
    }

    /// Returns a text from the server in quotation marks, on one line, cut after a number of characters. It redacts the
    /// given secrets, and anything that may be a token.
    package func words(_ text: String, upTo limit: Int, hiding secrets: [String] = []) -> String {
        // Hide secrets before the text is cut, because a part of one would not be recognized.
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

    /// Returns a cut text without an ASCII word at its end, because a token may begin there.
    fileprivate static func wholeWords(of text: String) -> String {
        String(decoding: text.utf8.reversed().drop { (0x21...0x7E).contains($0) }.reversed(), as: UTF8.self)
    }

    /// Redacts each run of 20 or more base64 characters with both letters and digits.
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
