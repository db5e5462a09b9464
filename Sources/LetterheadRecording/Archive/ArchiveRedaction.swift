// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// Removes secrets from a message before it is written to an archive or a snapshot.
///
/// The result has the same form as the message, so a client can still decode a redacted response. A secret string
/// becomes `REDACTED`, and a secret number becomes 0. A value without a name is treated as a secret.
struct ArchiveRedaction: Sendable {
    static let placeholder = "REDACTED"
    static let standard = ArchiveRedaction(names: .standard)

    let names: Redaction

    /// Returns a header field value without secrets. A cookie keeps its name and its attributes.
    func value(of field: HTTPHeaders.Field) -> String {
        if field.name == .setCookie { return cookie(field.value) }
        return isSecret(field) ? Self.placeholder : text(field.value)
    }

    func isSecret(_ field: HTTPHeaders.Field) -> Bool { field.isSecret || names.isSecret(header: field.name) }

    /// Returns a URL, or a string that contains URLs, without secret values.
    func text(_ text: String) -> String { clean(plain(names.redactURLs(plain(text), nameless: true))) }

    /// Returns a body without secret values.
    ///
    /// - Parameter isSecret: whether the whole body is secret, as in a response from a token endpoint. JSON members
    ///   that such a response may show, such as `token_type`, are kept.
    func body(_ data: Data, mediaType: MediaType?, isSecret: Bool) -> Data {
        if mediaType?.isMultipart == true {
            return isSecret ? Data(Self.placeholder.utf8) : multipart(data, mediaType)
        }
        let isForm = mediaType?.essence == MediaType.form.essence
        let isText = mediaType.map { Redaction.hidesText([.contentType: $0.description]) } == true
        // A body can be truncated in the middle of a character, or have a charset other than UTF-8.
        let valid = String(data: data, encoding: .utf8)
        // An image contains no names to search for. Text in UTF-16 contains zero bytes, and its names can't be found.
        if !isSecret, !isText, valid == nil, data.contains(0) { return data }
        let text = valid ?? String(decoding: data, as: UTF8.self)
        let json = valid.flatMap { isForm && !Self.isDocument($0) ? nil : Self.json($0) }
        // Text without any name isn't a form, so all of it could be a secret.
        let isHidden =
            json == nil && (isSecret || isForm && !text.isEmpty && !text.utf8.contains(UInt8(ascii: "=")))
            || isText && data.contains(0)
        if isHidden { return Data(Self.placeholder.utf8) }
        let named = json.map { document(text, $0, isSecret: isSecret) } ?? self.clean(text, isForm: isForm)
        let clean = plain(Redaction.hide(names.values, in: named))
        return clean.isSame(as: text) ? data : Data(clean.utf8)
    }

    /// Returns a string without the values of secret names. It also cleans JSON, forms and URLs inside the string, to a
    /// depth of three.
    private func clean(_ text: String, isForm: Bool = false, depth: Int = 3) -> String {
        let isPlain = names.values.isEmpty && !text.utf8.contains { "=@\"%".utf8.contains($0) }
        if depth < 0 || isPlain { return text }
        if Self.isDocument(text), let json = Self.json(text) { return document(text, json, depth: depth) }
        var text = text
        // In an event stream or NDJSON, each line is a document.
        if text.utf8.contains(UInt8(ascii: "\n")) {
            text = text.split(at: "\n", omittingEmpty: false).map { line in
                let (head, rest) = line.cut(at: "{").map { ("\($0.head)", "{\($0.tail)") } ?? ("", "")
                guard ["", "data:", "data: "].contains(head), let json = Self.json(rest) else { return String(line) }
                return head + document(rest, json, depth: depth)
            }.joined(separator: "\n")
        }
        text = plain(names.redactNames(text, isForm: isForm || Self.isForm(text)))
        return escaped(plain(names.redactURLs(text)), depth: depth)
    }

    /// Returns a JSON document without secrets. A document that contains none doesn't change.
    private func document(_ text: String, _ json: JSONValue, isSecret: Bool = false, depth: Int = 3) -> String {
        let redacted = redact(json, isSecret: isSecret, depth: depth)
        let encoded = (try? JSONEncoder.sorting().encode(redacted)).map { String(decoding: $0, as: UTF8.self) }
        // If several members have the same name, the decoded value contains only one of them. The others could contain
        // a secret, so the document is encoded anew from that value.
        return redacted == json && Self.names(in: text) == Self.names(in: encoded ?? "")
            ? text : encoded ?? Self.placeholder
    }

    /// Removes secrets from the percent-encoded parts of a text, such as a URL in a query item.
    private func escaped(_ text: String, depth: Int) -> String {
        guard depth > 0, text.utf8.contains(UInt8(ascii: "%")) else { return text }
        var (output, rest) = ([UInt8](), Array(text.utf8)[...])
        while !rest.isEmpty {
            let part = rest.prefix { $0 > 0x20 && !"&;?#=\"<>\\".utf8.contains($0) }
            let plain = PercentEncoding.unescape(String(decoding: part, as: UTF8.self))
            let clean = part.contains(UInt8(ascii: "%")) ? clean(plain, depth: depth - 1) : plain
            output += clean.isSame(as: plain) ? Array(part) : Array(PercentEncoding.escape(clean, .unreserved).utf8)
            rest = rest.dropFirst(part.count)
            if let mark = rest.popFirst() { output.append(mark) }
        }
        return String(decoding: output, as: UTF8.self)
    }

    private static func json(_ text: String) -> JSONValue? {
        try? JSONDecoder().value(of: JSONValue.self, from: Data(text.utf8))
    }

    /// Returns whether a text begins like a JSON object or array.
    private static func isDocument(_ text: String) -> Bool {
        text.utf8.first { $0 > 0x20 }.map { "{[".utf8.contains($0) } == true
    }

    /// Returns whether a text begins like a form, with a name and an equals sign.
    private static func isForm(_ text: String) -> Bool {
        guard let name = text.cut(at: "=")?.head.utf8, !name.isEmpty else { return false }
        return !text.utf8.contains { $0 <= 0x20 }
            && !name.contains { $0 >= 0x7F || "&;,:/?#\"'<>{}()\\@".utf8.contains($0) }
    }

    /// Returns the number of names in a JSON document.
    private static func names(in text: String) -> Int {
        var (count, isInside, isEscaped) = (0, false, false)
        for byte in text.utf8 {
            if byte == UInt8(ascii: ":"), !isInside { count += 1 }
            if byte == UInt8(ascii: "\""), !isEscaped { isInside.toggle() }
            isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
        }
        return count
    }

    private func plain(_ text: String) -> String {
        text.replacingBytes(of: Redaction.placeholder, with: Self.placeholder)
    }

    /// Returns a cookie name and its attributes. Any other segment is redacted. So is a segment with a comma, because
    /// it may contain a second cookie.
    private func cookie(_ value: String) -> String {
        let segments = value.split(at: ";", omittingEmpty: false)
        let attributes = segments.dropFirst().filter { !$0.isEmpty }.map { segment in
            let name = ASCII.keyword(ASCII.trimmed(segment.cut(at: "=")?.head ?? segment))
            let isKnown = Self.cookieAttributes.contains(name) && (name == "expires" || !segment.holds(","))
            return ";" + (isKnown ? String(segment) : Self.placeholder)
        }
        return (segments[0].cut(at: "=").map { "\($0.head)=" } ?? "") + Self.placeholder + attributes.joined()
    }

    private static let cookieAttributes: Set<String> = [
        "max-age", "domain", "path", "secure", "httponly", "samesite", "partitioned", "priority", "expires",
    ]

    /// Returns this redaction with the secret names that a request declares.
    func adding(_ own: Redaction) -> ArchiveRedaction {
        if own == names { return self }
        let (headers, parameters, values) = (own.headers, own.parameters, own.values)
        return ArchiveRedaction(names: names.adding(headers: headers, parameters: parameters, values: values))
    }

    /// The members of token responses that aren't secret (RFC 6749, 5, and RFC 8628, 3.2).
    private static let publicMembers: Set<String> = [
        "token_type", "scope", "error", "error_description", "error_uri", "issued_token_type", "verification_uri",
        "expires_in", "refresh_token_expires_in", "interval",
    ]

    /// - Parameter keepsPublic: whether to keep the public members of a token response. They are at its top level only,
    ///   so inside a member it is false.
    func redact(_ value: JSONValue, isSecret: Bool, keepsPublic: Bool = true, depth: Int = 3) -> JSONValue {
        switch value {
        case .object(let members):
            var redacted: [String: JSONValue] = [:]
            for (name, member) in members {
                // `token_type` would count as secret, because its name contains a secret word.
                let isPublic =
                    keepsPublic && Self.publicMembers.contains(name)
                    && !Redaction(headers: [], parameters: names.parameters).isSecret(parameter: name)
                let isMemberSecret = isSecret || name.isEmpty || names.isSecret(parameter: name)
                redacted[name] = redact(member, isSecret: isMemberSecret && !isPublic, keepsPublic: false, depth: depth)
            }
            return .object(redacted)
        case .array(let elements):
            return .array(elements.map { redact($0, isSecret: isSecret, keepsPublic: keepsPublic, depth: depth) })
        case .string(let text):
            return .string(!isSecret ? clean(text, depth: depth - 1) : text.isEmpty ? text : Self.placeholder)
        case .int where isSecret, .uint where isSecret: return .int(0)
        case .double where isSecret: return .double(0)
        default: return value
        }
    }

    /// Returns a multipart body without secrets.
    ///
    /// A part with a secret name loses its content. Text without a name could be secret, so it's removed, too: form
    /// parts without a name, and text before the first part and after the last one. Other parts lose only their
    /// secrets.
    private func multipart(_ data: Data, _ type: MediaType?) -> Data {
        guard let boundary = type?["boundary"], !boundary.isEmpty else { return Data(Self.placeholder.utf8) }
        let delimiter = Data("--\(boundary)".utf8)
        let pieces = data.pieces(between: delimiter)
        let clean = pieces.enumerated().map { index, piece in
            let isEnd = index > 0 && index == pieces.count - 1
            if isEnd, piece.starts(with: Data("--".utf8)) { return piece.prefix(2) + outside(piece.dropFirst(2)) }
            return isEnd || index == 0 ? outside(piece) : part(piece, isForm: type?.essence == "multipart/form-data")
        }
        return clean.dropFirst().reduce(into: clean[0]) { $0 += delimiter + $1 }
    }

    /// Returns the replacement for text outside all parts.
    private func outside(_ text: Data) -> Data {
        text.allSatisfy { $0 == 0x0D || $0 == 0x0A } ? text : Data("\r\n\(Self.placeholder)\r\n".utf8)
    }

    /// Returns a part of a multipart body without its secrets. The bytes begin with the line end after the delimiter, and
    /// end before the next delimiter.
    ///
    /// If the fields contain an empty line without CR, some servers end the fields there. Such a part is redacted as a
    /// whole.
    private func part(_ part: Data, isForm: Bool) -> Data {
        let lineEnd = Data("\r\n".utf8)
        guard let end = part.position(of: lineEnd + lineEnd),
            part[..<end.lowerBound].position(of: Data("\n\n".utf8)) == nil,
            let fields = try? HTTPHeaders(lines: Array(part[..<end.lowerBound])),
            !fields.contains(where: { names.isSecret(header: $0.name) })
        else { return outside(part) }
        let dispositions = fields.values(for: .contentDisposition)
        let name = dispositions.count == 1 ? MediaType("part/\(dispositions[0])")?["name"] ?? "" : ""
        let isSecret = names.isSecret(parameter: name) || isForm && name.isEmpty
        let content = part[end.upperBound...]
        let whole = Data(content.suffix(2) == lineEnd ? content.dropLast(2) : content)
        let clean = isSecret ? Data(Self.placeholder.utf8) : body(whole, mediaType: fields.type, isSecret: false)
        return part[..<end.upperBound] + clean + lineEnd
    }
}
