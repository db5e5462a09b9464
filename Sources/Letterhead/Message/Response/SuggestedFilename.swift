// SPDX-License-Identifier: MIT
import LetterheadFoundation

extension HTTPResponse {
    /// The name that the server suggests for saving the body, or nil if it suggests none.
    ///
    /// It comes from `Content-Disposition`: its `filename*`, or else its `filename` (RFC 6266, 4.3), also if the latter
    /// is percent-encoded. Without a usable name there, or if several fields differ, it is the last component of the
    /// URL's path.
    ///
    /// The name is safe to append to a folder's URL. It has no separators, no control characters and no dots or spaces
    /// at its ends, and at most 255 bytes in UTF-8, with the extension. The extension is the server's choice, so don't
    /// open the file only because of its name.
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
            Filename.unescaped(request.path.string),
        ]
        return texts.lazy.compactMap { $0.flatMap { Filename($0) } }.first
    }
}

/// A name from a server that can only name a visible file in one folder.
struct Filename: Sendable {
    /// The name if there is no suggestion.
    static let standard = Filename(stem: "download", suffix: "")

    private let stem: String
    /// The extension with its dot, or an empty string.
    private let suffix: String

    private init(stem: String, suffix: String) { (self.stem, self.suffix) = (stem, suffix) }

    /// Keeps the last path component's safe part. Returns nil if nothing is left.
    init?(_ text: String) {
        // Scalars, because a combining mark would hide a separator.
        let components = text.unicodeScalars.split { $0 == "/" || $0 == "\\" }
        guard let last = components.last else { return nil }
        let name = String(Self.trimmed(last.filter { !Redaction.isControl($0) }))
        guard !name.isEmpty else { return nil }
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

    /// Removes dots and spaces at the ends: the name is then neither hidden nor a reference to a folder.
    private static func trimmed(_ text: Substring.UnicodeScalarView) -> Substring.UnicodeScalarView {
        func isMargin(_ scalar: Unicode.Scalar) -> Bool { scalar == "." || scalar.properties.isWhitespace }
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
        return unescaped(isLatin1 ? String(validating: bytes, as: UTF8.self) ?? value : value)
    }

    /// Returns the text without its escapes, or unchanged if they aren't UTF-8.
    fileprivate static func unescaped(_ text: String) -> String {
        String(validating: PercentEncoding.decoded(Array(text.utf8)), as: UTF8.self) ?? text
    }
}
