// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// Removes secrets from a message before it is written to an archive or a snapshot.
///
/// The result has the same form as the message, so a client can still decode a redacted response. A secret string
/// becomes `REDACTED`, and a secret number becomes 0. A value without a name may be a secret, so it becomes one of
/// these, too.
struct ArchiveRedaction: Sendable {
    static let placeholder = "REDACTED"
    static let standard = ArchiveRedaction(names: .standard)

    let names: Redaction

    init(names: Redaction) { self.names = names }

    /// Returns a field's value without secrets. A cookie keeps its name and its attributes.
    func value(of field: HTTPHeaders.Field) -> String {
        if field.name == .setCookie { return cookie(field.value) }
        return field.isSecret || names.isSecret(header: field.name)
            ? Self.placeholder : text(field.value)
    }

    /// Returns the fields without the values of secret names.
    func withoutSecrets(_ headers: HTTPHeaders) -> HTTPHeaders {
        let isSecret = headers.map { $0.isSecret || names.isSecret(header: $0.name) }
        guard isSecret.contains(true) else { return headers }
        return HTTPHeaders(zip(headers, isSecret).map { $1 ? HTTPHeaders.Field($0.name, value(of: $0)) : $0 })
    }

    /// Returns a URL, or a string that contains URLs, without secret values.
    func text(_ text: String) -> String { clean(plain(names.redactURLs(text, nameless: true))) }

    /// Returns a body without secret values.
    ///
    /// - Parameter isSecret: whether the whole body is secret, as in a token endpoint's response. JSON members that are
    ///   never secret in such a response, such as `token_type`, stay.
    func body(_ data: Data, mediaType: MediaType?, isSecret: Bool) -> Data {
        if mediaType?.isMultipart == true {
            return isSecret ? Data(Self.placeholder.utf8) : multipart(data, mediaType)
        }
        let isForm = mediaType?.essence == MediaType.form.essence
        let isText = mediaType.map { Redaction.hidesText([.contentType: $0.description]) } == true
        // A body can end within a character, or have another charset.
        let valid = String(data: data, encoding: .utf8)
        // An image has no names. A text in UTF-16 has zeros, and hides its names.
        if !isSecret, !isText, valid == nil, data.contains(0) { return data }
        let text = valid ?? String(decoding: data, as: UTF8.self)
        let json = valid.flatMap { isForm && !Self.isDocument($0) ? nil : Self.json($0) }
        // A text without any name is not a form.
        let isHidden =
            json == nil && (isSecret || isForm && !text.isEmpty && !text.utf8.contains(UInt8(ascii: "=")))
            || isText && data.contains(0)
        if isHidden { return Data(Self.placeholder.utf8) }
        let named = json.map { document(text, $0, isSecret: isSecret) } ?? self.clean(text, isForm: isForm)
        let clean = plain(Redaction.hide(names.values, in: named))
        return clean.isSame(as: text) ? data : Data(clean.utf8)
    }

    /// Returns a string without the values of secret names, and without those in the JSON, forms and URLs that it
    /// contains, to a depth of three.
    private func clean(_ text: String, isForm: Bool = false, depth: Int = 3) -> String {
        let isPlain = names.values.isEmpty && !text.utf8.contains { "=@\"%".utf8.contains($0) }
        if depth < 0 || isPlain { return text }
        if Self.isDocument(text), let json = Self.json(text) { return document(text, json, depth: depth) }
        var text = text
        // Each line of an event stream or of NDJSON is a document.
        if text.utf8.contains(UInt8(ascii: "\n")) {
            text = text.split(at: "\n", omittingEmpty: false).map { line in
                let (head, rest) = line.cut(at: "{").map { ("\($0.head)", "{\($0.tail)") } ?? ("", "")
                guard ["", "data:", "data: "].contains(head), let json = Self.json(rest) else {
                    return String(line)
                }
                return head + document(rest, json, depth: depth)
            }.joined(separator: "\n")
        }
        text = plain(isForm || Self.isForm(text) ? names.redactForm(text) : names.redactJSON(text))
        return escaped(plain(names.redactURLs(text)), depth: depth)
    }

    /// Returns a JSON document without secrets. One without secrets doesn't change.
    private func document(_ text: String, _ json: JSONValue, isSecret: Bool = false, depth: Int = 3) -> String {
        let redacted = redact(json, isSecret: isSecret, depth: depth)
        // The value lacks members that others with the same name replace, so they could hold a secret.
        if redacted == json, Self.names(in: text) == Self.names(in: json) { return text }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(redacted)).map { String(decoding: $0, as: UTF8.self) } ?? Self.placeholder
    }

    /// Returns a text whose percent-encoded parts, such as a URL in a query item, have no secrets.
    private func escaped(_ text: String, depth: Int) -> String {
        guard depth > 0, text.utf8.contains(UInt8(ascii: "%")) else { return text }
        var (output, rest) = ([UInt8](), Array(text.utf8)[...])
        while !rest.isEmpty {
            let part = rest.prefix { $0 > 0x20 && !"&;?#=\"<>\\".utf8.contains($0) }
            let plain = PercentEncoding.unescape(String(decoding: part, as: UTF8.self))
            let clean = part.contains(UInt8(ascii: "%")) ? clean(plain, depth: depth - 1) : plain
            output +=
                clean.isSame(as: plain)
                ? Array(part) : Array(PercentEncoding.escape(clean, .unreserved).utf8)
            rest = rest.dropFirst(part.count)
            if let mark = rest.popFirst() { output.append(mark) }
        }
        return String(decoding: output, as: UTF8.self)
    }

    private static func json(_ text: String) -> JSONValue? {
        try? JSONDecoder().value(of: JSONValue.self, from: Data(text.utf8))
    }

    /// Whether a text can be a JSON object or array.
    private static func isDocument(_ text: String) -> Bool {
        text.utf8.first { $0 > 0x20 }.map { "{[".utf8.contains($0) } == true
    }

    /// Whether a text begins like a form: with a name and an equals sign.
    private static func isForm(_ text: String) -> Bool {
        let name = text.utf8.prefix {
            $0 > 0x20 && $0 < 0x7F && !"=&;,:/?#\"'<>{}()\\@".utf8.contains($0)
        }
        return !name.isEmpty && text.utf8.dropFirst(name.count).first == UInt8(ascii: "=")
            && !text.utf8.contains { $0 <= 0x20 }
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

    private static func names(in json: JSONValue) -> Int {
        switch json {
        case .object(let members): members.reduce(members.count) { $0 + names(in: $1.value) }
        case .array(let elements): elements.reduce(0) { $0 + names(in: $1) }
        default: 0
        }
    }

    private func plain(_ text: String) -> String {
        text.replacingBytes(of: Redaction.placeholder, with: Self.placeholder)
    }

    private func cookie(_ value: String) -> String {
        let (pair, attributes) = value.cut(at: ";").map { ($0.head, ";\($0.tail)") } ?? (value[...], "")
        return (pair.cut(at: "=").map { "\($0.head)=" } ?? "") + Self.placeholder
            + Self.known(attributes)
    }

    private static let cookieAttributes: Set<String> = [
        "max-age", "domain", "path", "secure", "httponly", "samesite", "partitioned", "priority",
        "expires",
    ]

    /// Returns the cookie's attributes. Another segment, or one with a comma, may be a second cookie.
    private static func known(_ attributes: String) -> String {
        attributes.split(at: ";").map { segment in
            let name =
                ASCII.lowercased(String(segment.cut(at: "=")?.head ?? segment)).split(at: " ").first ?? ""
            let isKnown =
                cookieAttributes.contains(String(name)) && (name == "expires" || !segment.holds(","))
            return ";" + (isKnown ? String(segment) : placeholder)
        }.joined()
    }

    /// Returns the redaction with the names that a request declares secret.
    func adding(_ own: Redaction) -> ArchiveRedaction {
        if own == names { return self }
        let (headers, parameters, values) = (own.headers, own.parameters, own.values)
        return ArchiveRedaction(names: names.adding(headers: headers, parameters: parameters, values: values))
    }

    /// Returns the redaction with values that are secret wherever they occur.
    func adding(values: Set<Secret>) -> ArchiveRedaction { ArchiveRedaction(names: names.adding(values: values)) }

    /// The token response members that aren't secret (RFC 6749, 5, and RFC 8628, 3.2).
    private static let publicMembers: Set<String> = [
        "token_type", "scope", "error", "error_description", "error_uri", "issued_token_type",
        "verification_uri",
        "expires_in", "refresh_token_expires_in", "interval",
    ]

    /// - Parameter keepsPublic: whether to keep the token response members that aren't secret. Everything inside a
    ///   secret member is secret.
    func redact(_ value: JSONValue, isSecret: Bool, keepsPublic: Bool = true, depth: Int = 3)
        -> JSONValue
    {
        switch value {
        case .object(let members):
            var redacted: [String: JSONValue] = [:]
            for (name, member) in members {
                // `token_type` would be secret by its parts.
                let isPublic =
                    keepsPublic && Self.publicMembers.contains(name)
                    && !Redaction(headers: [], parameters: names.parameters).isSecret(parameter: name)
                let isMemberSecret = isSecret || name.isEmpty || names.isSecret(parameter: name)
                redacted[name] = redact(
                    member, isSecret: isMemberSecret && !isPublic, keepsPublic: false, depth: depth)
            }
            return .object(redacted)
        case .array(let elements):
            return .array(
                elements.map { redact($0, isSecret: isSecret, keepsPublic: keepsPublic, depth: depth) })
        case .string(let text):
            return .string(isSecret ? Self.placeholder : clean(text, depth: depth - 1))
        case .int where isSecret, .uint where isSecret: return .int(0)
        case .double where isSecret: return .double(0)
        default: return value
        }
    }

    /// Returns a multipart body without secrets. A part with a secret name loses its content, and so does everything
    /// without a name: a form part without one, and the text before the first part and after the last one. Other parts
    /// lose only their secrets.
    private func multipart(_ data: Data, _ type: MediaType?) -> Data {
        guard let boundary = type?["boundary"], !boundary.isEmpty else {
            return Data(Self.placeholder.utf8)
        }
        let delimiter = Data("--\(boundary)".utf8)
        var output = Data()
        var rest = data[...]
        while let found = rest.position(of: delimiter) {
            let piece = rest[..<found.lowerBound]
            output +=
                (output.isEmpty
                    ? outside(piece) : part(piece, isForm: type?.essence == "multipart/form-data"))
            output += delimiter
            rest = rest[found.upperBound...]
        }
        let end = Data("--".utf8)
        return rest.starts(with: end) && !output.isEmpty
            ? output + end + outside(rest.dropFirst(2)) : output + outside(rest)
    }

    /// Returns text that belongs to no part.
    private func outside(_ text: Data) -> Data {
        text.allSatisfy { $0 == 0x0D || $0 == 0x0A } ? text : Data("\r\n\(Self.placeholder)\r\n".utf8)
    }

    /// Returns a part, from its delimiter's line end to the next delimiter.
    private func part(_ part: Data, isForm: Bool) -> Data {
        let lineEnd = Data("\r\n".utf8)
        guard let end = part.position(of: lineEnd + lineEnd),
            let fields = Self.fields(part[..<end.lowerBound]),
            !fields.contains(where: { names.isSecret(header: $0.name) })
        else { return outside(part) }
        let dispositions = fields.values(for: .contentDisposition)
        let disposition =
            dispositions.count == 1 ? MediaType("disposition/\(Self.latin1(dispositions[0]))") : nil
        let name = String(
            decoding: (disposition?["name"] ?? "").unicodeScalars.map { UInt8($0.value) }, as: UTF8.self)
        let isSecret = names.isSecret(parameter: name) || isForm && name.isEmpty
        let content = part[end.upperBound...]
        let clean =
            isSecret
            ? Data(Self.placeholder.utf8)
            : body(
                Data(content.suffix(2) == lineEnd ? content.dropLast(2) : content),
                mediaType: fields[.contentType].flatMap { MediaType($0) }, isSecret: false)
        return part[..<end.upperBound] + clean + lineEnd
    }

    /// Returns a text with a character for each byte, because a media type's parameter has no other characters.
    private static func latin1(_ text: String) -> String {
        String(String.UnicodeScalarView(text.utf8.map { Unicode.Scalar($0) }))
    }

    /// Returns a part's header fields, or nil if a line is empty, because some servers end the fields there. A line
    /// that begins with a space continues the line before it.
    private static func fields(_ head: Data) -> HTTPHeaders? {
        guard head.firstRange(of: Data("\n\n".utf8)) == nil else { return nil }
        var lines: [String] = []
        for line in head.split(separator: UInt8(ascii: "\n")) {
            let text = String(decoding: line.last == 0x0D ? line.dropLast() : line, as: UTF8.self)
            if let first = line.first, first == 0x20 || first == 0x09, let last = lines.popLast() {
                lines.append(last + text)
            } else {
                lines.append(text)
            }
        }
        var fields = HTTPHeaders()
        for line in lines {
            guard let (name, value) = line.cut(at: ":") else { continue }
            fields.append(HTTPHeaders.Name(String(name)), ASCII.trimmed(String(value)))
        }
        return fields
    }
}
