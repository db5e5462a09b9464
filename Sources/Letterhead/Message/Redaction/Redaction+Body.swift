// SPDX-License-Identifier: MIT
package import LetterheadFoundation

/// How bodies appear in texts. A description contains only the media type and the length. A log, an archive or a
/// command can ask for the content, and gets it with the values of secret names redacted.
extension Redaction {
    static let shownBytes = 512

    /// Returns the beginning of a request body, for a log that asks for bodies. It is empty if the request has no body.
    ///
    /// The result contains the first 512 bytes of a text in memory, with the values of secret names redacted. For any
    /// other body, it contains the media type and the length, as a request description does. If
    /// ``RequestSettings/isSecret`` is true, the result is `<redacted>`.
    public func body(of request: HTTPRequest) -> String {
        guard !request.body.isEmpty, !request.isSecret else { return request.body.isEmpty ? "" : Self.placeholder }
        let (headers, body) = (request.framedHeaders(), request.describedBody)
        guard body.isReplayable, let data = try? body.chunks().data, let text = excerpt(of: data, headers: headers)
        else { return Self.outline(of: body, headers: headers) }
        return text + Self.rest(of: data)
    }

    /// Returns the beginning of a response body, as ``body(of:)-(HTTPRequest)`` does for a request. It is empty if the
    /// body is empty or streamed.
    public func body(of response: HTTPResponse) -> String {
        guard let data = response.body.buffered, !data.isEmpty else { return "" }
        if response.request.isSecret { return Self.placeholder }
        guard let text = excerpt(of: data, headers: response.headers) else { return Self.outline(of: response) }
        return text + Self.rest(of: data)
    }

    private static func rest(of data: Data) -> String { data.count > shownBytes ? "… (\(data.count) bytes)" : "" }

    /// Returns a short description with the media type and the length: `(application/json, 23 bytes)`.
    static func outline(of body: any HTTPBody, headers: HTTPHeaders) -> String {
        let length = body.contentLength ?? (body.isReplayable ? (try? body.chunks())?.data?.count : nil)
        return outline(headers.mediaType?.essence ?? "\(type(of: (body as? EncodedOnce)?.base ?? body))", length)
    }

    static func outline(of response: HTTPResponse) -> String {
        outline(response.headers.mediaType?.essence ?? "no media type", response.body.length)
    }

    private static func outline(_ type: String, _ length: Int?) -> String {
        "(\(type), \(length.map { "\($0) bytes" } ?? "length unknown"))"
    }

    /// Returns the first 512 bytes as text, with the values of secret names redacted and control characters escaped.
    /// Returns nil for binary data and multipart bodies.
    func excerpt(of data: Data, headers: HTTPHeaders) -> String? {
        let isCut = data.count > Self.shownBytes
        return redacted(data.prefix(Self.shownBytes), headers: headers, isCut: isCut).map(Self.visible)
    }

    /// Returns a text with the values of secret names redacted. Returns nil for binary data and for multipart bodies,
    /// in which the part names decide what is secret.
    ///
    /// - Parameter isCut: whether the data may end in the middle of a character, which is then left out.
    package func redacted(_ data: Data, headers: HTTPHeaders, isCut: Bool = false) -> String? {
        guard !Self.isMultipart(headers), let text = Self.utf8(data, isCut: isCut) else { return nil }
        let isForm = headers.mediaType?.essence == MediaType.form.essence
        return redactURLs(redactNames(text, isForm: isForm))
    }

    static func isMultipart(_ headers: HTTPHeaders) -> Bool {
        headers.mediaType?.essence.hasPrefix("multipart/") == true
    }

    /// Returns whether a body may hide secrets from a search: it is multipart, compressed, or text in a different
    /// charset or with a malformed byte.
    package static func hidesText(_ headers: HTTPHeaders) -> Bool {
        if headers.contains(.contentEncoding) || isMultipart(headers) { return true }
        guard let type = headers.mediaType?.essence else { return false }
        return type.hasPrefix("text/") || type.hasSuffix("json") || type.hasSuffix("xml")
            || type == MediaType.form.essence
    }

    /// Returns the text if the bytes are UTF-8 without control characters other than tabs and line breaks. Of bytes that
    /// were cut, a character that is incomplete at the end is left out.
    static func utf8(_ data: Data, isCut: Bool) -> String? {
        (0...(isCut ? 3 : 0)).lazy.compactMap { String(data: data.dropLast($0), encoding: .utf8) }.first
            .flatMap { $0.unicodeScalars.contains(where: isBinary) ? nil : $0 }
    }

    private static func isBinary(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A, 0x0D: false
        case 0..<0x20, 0x7F...0x9F: true
        default: false
        }
    }

    /// Redacts the values of secret names in a form or in JSON.
    package func redactNames(_ text: String, isForm: Bool) -> String { isForm ? redactForm(text) : redactJSON(text) }

    /// Redacts the values of secret names in a form, and values without a name.
    private func redactForm(_ text: String) -> String {
        text.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).map { pair in
            let name = Substring(pair.prefix { $0 != UInt8(ascii: "=") })
            return name.isEmpty && !pair.isEmpty || isSecret(parameter: PercentEncoding.unescape(name))
                ? "\(name)=\(Self.placeholder)" : String(Substring(pair))
        }.joined(separator: "&")
    }
}

extension Redaction {
    /// Redacts any JSON value that follows a secret `"name":`. The document may be truncated or malformed.
    func redactJSON(_ text: String) -> String {
        var output: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let open = rest.firstIndex(of: JSONBytes.quote) {
            let string = JSONBytes.quoted(rest[open...])
            output += rest[..<string.endIndex]
            rest = rest[string.endIndex...]
            let colon = rest.drop(while: JSONBytes.isBlank)
            guard colon.first == JSONBytes.colon, isSecret(parameter: JSONBytes.text(string)) else { continue }
            let value = colon.dropFirst().drop(while: JSONBytes.isBlank)
            guard !value.isEmpty else { continue }
            output += rest[..<value.startIndex] + "\"\(Self.placeholder)\"".utf8
            rest = rest[JSONBytes.endOfValue(value)...]
        }
        return String(decoding: output + rest, as: UTF8.self)
    }
}

/// As much of the JSON grammar (RFC 8259) as is needed to find where a value ends. It works on bytes, because a
/// combining mark could hide a quotation mark.
enum JSONBytes {
    static let quote = UInt8(ascii: "\"")
    static let colon = UInt8(ascii: ":")

    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    /// Returns a string with its quotation marks, or all bytes if the closing one is missing.
    static func quoted(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var index = bytes.startIndex + 1
        while index < bytes.endIndex {
            switch bytes[index] {
            case UInt8(ascii: "\\"): index += 2
            case quote: return bytes[...index]
            default: index += 1
            }
        }
        return bytes
    }

    static func text(_ string: ArraySlice<UInt8>) -> String {
        if string.contains(UInt8(ascii: "\\")), let text = try? JSONDecoder().decode(String.self, from: Data(string)) {
            return text
        }
        return String(decoding: string.dropFirst().dropLast(), as: UTF8.self)
    }

    /// Returns the members of an object or the elements of an array, up to a byte that JSON doesn't allow there.
    static func children(of value: ArraySlice<UInt8>) -> [(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)] {
        var children: [(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)] = []
        var rest = value.dropFirst()
        while true {
            rest = rest.drop { isBlank($0) || $0 == UInt8(ascii: ",") }
            var name = rest.prefix(0)
            if value.first == UInt8(ascii: "{") {
                guard rest.first == quote else { return children }
                name = quoted(rest)
                rest = rest[name.endIndex...].drop(while: isBlank)
                guard rest.popFirst() == colon else { return children }
                rest = rest.drop(while: isBlank)
            }
            let end = endOfValue(rest)
            guard end > rest.startIndex else { return children }
            children.append((name.dropFirst().dropLast(), rest[..<end]))
            rest = rest[end...]
        }
    }

    /// Returns the index after a value: a string, a complete object or array, a number, or `true`, `false` or `null`.
    static func endOfValue(_ bytes: ArraySlice<UInt8>) -> Int {
        var depth = 0
        var index = bytes.startIndex
        while index < bytes.endIndex {
            switch bytes[index] {
            case quote:
                index = quoted(bytes[index...]).endIndex
                if depth == 0 { return index }
                continue
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return index }
                depth -= 1
                if depth == 0 { return index + 1 }
            case UInt8(ascii: ","): if depth == 0 { return index }
            default: break
            }
            index += 1
        }
        return bytes.endIndex
    }
}
