// SPDX-License-Identifier: MIT
import LetterheadFoundation

extension HTTPResponse {
    /// The name that the server suggests for saving the body, or nil if it suggests none.
    ///
    /// The name is safe to append to a folder URL. It has no separators and no control characters, no dots, spaces or
    /// invisible characters at its ends, no hyphen at its start, and at most 255 bytes in UTF-8, with the extension.
    /// The server chooses the extension, so don't open the file only because of its name.
    ///
    /// The name comes from the first of these that is usable:
    /// 1. `filename*` in `Content-Disposition` (RFC 6266, 4.3)
    /// 2. `filename` in `Content-Disposition`, also if it is percent-encoded or consists of encoded words (RFC 2047)
    /// 3. numbered sections in `Content-Disposition` (RFC 2231)
    /// 4. the last URL path component
    ///
    /// If there are several `Content-Disposition` fields that differ, only the URL path is used.
    public var suggestedFilename: String? { filename?.text() }

    var filename: Filename? {
        let fields = headers.values(for: .contentDisposition)
        let isOne = fields.dropFirst().allSatisfy { $0.isSame(as: fields[0]) }
        let field = isOne ? fields.first ?? "" : ""
        // Some servers omit the type.
        let isUntyped = (field.cut(at: ";")?.head ?? field[...]).utf8.contains(UInt8(ascii: "="))
        let parameters = LinkHeader.parameters(of: isUntyped ? ";" + field : field)
        func value(_ name: String) -> String? { parameters.first { $0.name == name }?.value }
        let texts = [
            value("filename*").flatMap(Filename.extended), value("filename").map(Filename.plain),
            Filename.joined(value),
            Filename.unescaped(request.path.string),
        ]
        return texts.lazy.compactMap { $0.flatMap { Filename($0) } }.first
    }
}

/// A name that a server suggested. It can only refer to a visible file in one folder.
struct Filename: Sendable {
    /// The name to use if there is no suggestion.
    static let standard = Filename(stem: "download", suffix: "")

    private let stem: String
    /// The extension with its dot, or an empty string.
    private let suffix: String

    private init(stem: String, suffix: String) { (self.stem, self.suffix) = (stem, suffix) }

    /// Creates a name from what is safe in the last path component. Returns nil if nothing is left.
    init?(_ text: String) {
        // Scalars, because a combining mark would hide a separator.
        let components = text.unicodeScalars.split { $0 == "/" || $0 == "\\" }
        guard let last = components.last else { return nil }
        let rest = String(Self.trimmed(last.filter { !Redaction.isControl($0) }))
        guard !rest.isEmpty else { return nil }
        // A program could treat a name with a leading hyphen as an option.
        let name = rest.begins(with: "-") ? "_" + rest : rest
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), name.utf8[dot...].count <= 20 else {
            self.init(stem: name, suffix: "")
            return
        }
        let isArchive = ASCII.lowercased(String(name[..<dot])).ends(with: ".tar")
        let start = isArchive ? name.utf8.index(dot, offsetBy: -4) : dot
        self.init(stem: String(name[..<start]), suffix: String(name[start...]))
    }

    /// Returns the name, with a number before its extension unless it is zero.
    func text(_ number: Int = 0) -> String {
        let mark = number == 0 ? suffix : "-\(number)\(suffix)"
        var room = 255 - mark.utf8.count
        let fitting = stem.prefix {
            room -= $0.utf8.count
            return room >= 0
        }
        let name = String(Self.trimmed(fitting.unicodeScalars))
        return (name.isEmpty ? Self.standard.stem : name) + mark
    }

    /// Removes dots, spaces and invisible characters at the ends: the name is then neither hidden nor a reference to a
    /// folder.
    private static func trimmed(_ text: Substring.UnicodeScalarView) -> Substring.UnicodeScalarView {
        func isMargin(_ scalar: Unicode.Scalar) -> Bool {
            scalar == "." || scalar.properties.isWhitespace || scalar.properties.isDefaultIgnorableCodePoint
        }
        let rest = text.drop(while: isMargin)
        return rest.lastIndex { !isMargin($0) }.map { rest[...$0] } ?? rest
    }

    /// Decodes an extended value, such as `UTF-8''na%C3%AFve.txt` (RFC 8187, 3.2). Returns nil if it is malformed.
    fileprivate static func extended(_ value: String) -> String? {
        guard let (charset, tail) = value.cut(at: "'"), let (_, text) = tail.cut(at: "'"),
            ASCII.isASCII(String(text)), let encoding = TextEncoding.encoding(of: String(charset))
        else { return nil }
        let bytes = PercentEncoding.decoded(Array(text.utf8))
        let escapes = text.utf8.count { $0 == UInt8(ascii: "%") }
        guard text.utf8.count - bytes.count == 2 * escapes else { return nil }
        return String(data: Data(bytes), encoding: encoding)
    }

    /// Decodes a value as browsers do: servers send raw UTF-8 or escape it, although the RFC allows neither. URLSession
    /// decodes each byte of raw UTF-8 as Latin-1.
    fileprivate static func plain(_ value: String) -> String {
        let bytes = value.unicodeScalars.compactMap { UInt8(exactly: $0.value) }
        let isLatin1 = bytes.count == value.unicodeScalars.count
        let text = isLatin1 ? String(validating: bytes, as: UTF8.self) ?? value : value
        return words(text) ?? unescaped(text)
    }

    /// Decodes a value of encoded words, such as `=?UTF-8?B?bmHDr3Zl?=` (RFC 2047, 2). Spaces between words aren't part
    /// of the text. Returns nil for any other value.
    private static func words(_ value: String) -> String? {
        guard value.begins(with: "=?") else { return nil }
        var text = ""
        for word in value.split(at: " ") {
            let parts = word.split(at: "?", omittingEmpty: false)
            guard parts.count == 5, parts[0].isSame(as: "="), parts[4].isSame(as: "="),
                let encoding = TextEncoding.encoding(of: String(parts[1]))
            else { return nil }
            let isQuoted = ASCII.equalIgnoringCase(String(parts[2]), "Q")
            // The escapes of Q are the escapes of a URL, with a different first character.
            let escaped = [("%", "%25"), ("=", "%"), ("_", " ")].reduce(String(parts[3])) {
                $0.replacingBytes(of: $1.0, with: $1.1)
            }
            guard isQuoted || ASCII.equalIgnoringCase(String(parts[2]), "B"),
                let bytes = isQuoted
                    ? Data(PercentEncoding.decoded(Array(escaped.utf8))) : Data(base64Encoded: String(parts[3])),
                let decoded = String(data: bytes, encoding: encoding)
            else { return nil }
            text += decoded
        }
        return text
    }

    /// Joins a value in numbered sections, such as `filename*0*=UTF-8''na%C3%AF; filename*1=ve.txt` (RFC 2231, 4.1).
    /// Returns nil if there are none.
    fileprivate static func joined(_ value: (String) -> String?) -> String? {
        var (bytes, encoding) = ([UInt8](), String.Encoding.utf8)
        for number in 0..<100 {
            if var text = value("filename*\(number)*") {
                if number == 0, let (charset, tail) = text.cut(at: "'"), let (_, rest) = tail.cut(at: "'") {
                    guard let named = TextEncoding.encoding(of: String(charset)) else { return nil }
                    (encoding, text) = (named, String(rest))
                }
                bytes += PercentEncoding.decoded(Array(text.utf8))
            } else if let text = value("filename*\(number)") {
                bytes += text.utf8
            } else {
                break
            }
        }
        return bytes.isEmpty ? nil : String(data: Data(bytes), encoding: encoding)
    }

    /// Returns the text without its escapes, or unchanged if they aren't UTF-8.
    fileprivate static func unescaped(_ text: String) -> String {
        String(validating: PercentEncoding.decoded(Array(text.utf8)), as: UTF8.self) ?? text
    }
}
