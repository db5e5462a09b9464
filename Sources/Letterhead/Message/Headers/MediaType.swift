// SPDX-License-Identifier: MIT
/// A media type, as in `Content-Type` and `Accept` (RFC 9110, 8.3.1).
///
/// ```swift
/// let type: MediaType = "text/plain; charset=utf-8"
/// type.essence            // "text/plain"
/// type["charset"]         // "utf-8"
/// ```
///
/// Types, subtypes and parameter names are case-insensitive. A literal keeps its spelling. A request with a malformed
/// literal fails before anything is sent.
public struct MediaType: Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The media type with its parameters, as in a header.
    public let description: String
    /// The type and subtype in lower case, such as `text/plain`, or empty if the media type is malformed.
    public let essence: String
    /// The parameters in order, with names in lower case and values without quotation marks. If a name occurs more than
    /// once, only its first parameter is kept.
    public let parameters: [(name: String, value: String)]

    /// Parses a media type as in section 4.4 of the WHATWG MIME Sniffing standard. A charset may also be in single
    /// quotes. Returns nil if the string is malformed. ``description`` omits parameters with control characters.
    public init?(_ text: String) {
        guard let parsed = Self.parse(text) else { return nil }
        guard text.unicodeScalars.contains(where: Redaction.isControl) else {
            self.init(description: text, parsed: parsed)
            return
        }
        // Servers write arbitrary text between the parameters. Keep the parameters that could be parsed.
        let shown = parsed.parameters.filter { !$0.value.unicodeScalars.contains(where: Redaction.isControl) }
        let text = Self.text(of: parsed.essence, shown)
        self.init(description: text, parsed: parsed)
    }

    public init(stringLiteral value: String) {
        self.init(description: value, parsed: Self.parse(value) ?? ("", []))
    }

    private init(description: String, parsed: (essence: String, parameters: [(name: String, value: String)])) {
        self.description = description
        essence = parsed.essence
        parameters = parsed.parameters
    }

    /// The value of a parameter, or nil if the media type doesn't have it.
    public subscript(parameter: String) -> String? {
        parameters.first { ASCII.equalIgnoringCase($0.name, parameter) }?.value
    }

    /// Whether the media type is JSON: `application/json`, `text/json`, or a subtype that ends in `+json`.
    public var isJSON: Bool { essence == "application/json" || essence == "text/json" || essence.ends(with: "+json") }

    package var isMultipart: Bool { essence.begins(with: "multipart/") }

    /// Returns the same media type with a parameter added or replaced. The value is quoted if necessary.
    public func setting(_ parameter: String, to value: String) -> MediaType {
        let name = ASCII.lowercased(parameter)
        var changed = parameters
        if let place = changed.firstIndex(where: { $0.name == name }) {
            changed[place].value = value
        } else {
            changed.append((name, value))
        }
        return MediaType(description: Self.text(of: essence, changed), parsed: (essence, changed))
    }

    private static func text(of essence: String, _ parameters: [(name: String, value: String)]) -> String {
        essence
            + parameters.map { "; \($0.name)=\(ASCII.isToken($0.value) ? $0.value : ASCII.quoted($0.value))" }.joined()
    }

    /// Scalars instead of characters, because a combining mark would hide a separator.
    private typealias Scalars = Substring.UnicodeScalarView

    private static func parse(_ text: String) -> (essence: String, parameters: [(name: String, value: String)])? {
        let end = text.utf8.firstIndex(of: UInt8(ascii: ";")) ?? text.endIndex
        let head = text.utf8[..<end].drop { isBlank($0) }
        guard let last = head.lastIndex(where: { !isBlank($0) }) else { return nil }
        let essence = String(Substring(head[...last]))
        guard isEssence(essence) else { return nil }
        let rest = text.unicodeScalars[end...]
        return (ASCII.lowercased(essence), rest.isEmpty ? [] : parameters(trimmedEnd(rest)))
    }

    /// Returns whether a string consists of two tokens with a slash between them.
    private static func isEssence(_ text: String) -> Bool {
        // The bytes are read only at their indices.
        text.withBytes { bytes in
            guard let slash = unsafe bytes.firstIndex(of: UInt8(ascii: "/")) else { return false }
            return slash > 0 && slash + 1 < bytes.count
                && bytes.indices.allSatisfy { unsafe $0 == slash || ASCII.isTokenCharacter(bytes[$0]) }
        }
    }

    private static func parameters(_ text: Scalars) -> [(name: String, value: String)] {
        var rest = text
        var found: [(name: String, value: String)] = []
        var names: Set<String> = []
        while !rest.isEmpty {
            rest = rest.dropFirst().drop { isBlank($0) }
            let name = rest.prefix { $0 != ";" && $0 != "=" }
            rest = rest.dropFirst(name.count)
            guard rest.first == "=" else { continue }
            rest = rest.dropFirst()
            let value: String
            if rest.first == "\"" {
                (value, rest) = quoted(rest.dropFirst())
                rest = rest.drop { $0 != ";" }
            } else {
                let text = rest.prefix { $0 != ";" }
                rest = rest.dropFirst(text.count)
                value = String(trimmedEnd(text))
                if value.isEmpty { continue }
            }
            let key = ASCII.lowercased(String(name))
            if ASCII.isToken(key), isQuotable(value), names.insert(key).inserted {
                found.append((key, key == "charset" ? withoutSingleQuotes(value) : value))
            }
        }
        return found
    }

    /// Some servers write `charset='iso-8859-1'`. In other parameters, such as a boundary, the quotes may be meant.
    private static func withoutSingleQuotes(_ value: String) -> String {
        guard value.utf8.count > 2, value.begins(with: "'"), value.ends(with: "'") else { return value }
        return String(Substring(value.utf8.dropFirst().dropLast()))
    }

    /// Returns the text before the closing quotation mark, with backslash escapes resolved.
    private static func quoted(_ text: Scalars) -> (value: String, rest: Scalars) {
        var value = String.UnicodeScalarView()
        var rest = text
        while let scalar = rest.popFirst(), scalar != "\"" {
            guard scalar == "\\" else {
                value.append(scalar)
                continue
            }
            value.append(rest.popFirst() ?? "\\")
        }
        return (String(value), rest)
    }

    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool { scalar.isASCII && isBlank(UInt8(ascii: scalar)) }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    private static func trimmedEnd(_ text: Scalars) -> Scalars {
        text.lastIndex { !isBlank($0) }.map { text[...$0] } ?? text.prefix(0)
    }

    /// Returns whether a quoted string may contain all characters: HTAB, 0x20...0x7E, and everything beyond ASCII.
    private static func isQuotable(_ text: String) -> Bool {
        ASCII.allBytes(of: text) { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }
}

extension MediaType: Hashable {
    /// Compares the essence and the parameters, including their order.
    public static func == (left: MediaType, right: MediaType) -> Bool {
        left.essence == right.essence
            && left.parameters.elementsEqual(right.parameters) { $0.name == $1.name && $0.value.isSame(as: $1.value) }
            && (!left.essence.isEmpty || left.description.isSame(as: right.description))
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(essence) }
}

extension MediaType {
    /// `application/json` (RFC 8259).
    public static let json: MediaType = "application/json"
    /// `text/plain`, without a charset.
    public static let plainText: MediaType = "text/plain"
    /// `application/octet-stream`: bytes of an unknown type.
    public static let octetStream: MediaType = "application/octet-stream"
    /// `application/x-www-form-urlencoded`: the body that a ``FormBody`` has.
    public static let form: MediaType = "application/x-www-form-urlencoded"
    /// `application/problem+json` (RFC 9457).
    public static let problemJSON: MediaType = "application/problem+json"
}

extension HTTPHeaders {
    var mediaType: MediaType? { self[.contentType].flatMap { MediaType($0) } }
}

extension MediaType {
    /// Creates the media type for a filename extension, or `.octetStream` for an unknown one.
    ///
    /// The table of extensions is part of the library, so that all platforms use the same types. Text types have no
    /// charset, because file contents aren't inspected.
    public init(filename: String) { self.init(stringLiteral: Self.name(ofFile: filename)) }

    static func name(ofFile filename: String) -> String {
        let dot = filename.utf8.lastIndex(of: UInt8(ascii: "."))
        guard let dot, let last = filename.utf8[..<dot].last, last != UInt8(ascii: "/") else { return octetStreamName }
        return byExtension[ASCII.lowercased(String(Substring(filename.utf8[dot...].dropFirst())))] ?? octetStreamName
    }

    private static let octetStreamName = "application/octet-stream"

    /// Media types by filename extension. Most are registered with IANA.
    private static let byExtension: [String: String] = [
        "7z": "application/x-7z-compressed", "aac": "audio/aac", "avi": "video/x-msvideo", "avif": "image/avif",
        "bin": "application/octet-stream", "bmp": "image/bmp", "bz2": "application/x-bzip2", "css": "text/css",
        "csv": "text/csv", "doc": "application/msword",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "eml": "message/rfc822", "epub": "application/epub+zip", "flac": "audio/flac", "gif": "image/gif",
        "gz": "application/gzip", "heic": "image/heic", "heif": "image/heif", "htm": "text/html", "html": "text/html",
        "ico": "image/vnd.microsoft.icon", "ics": "text/calendar", "jpeg": "image/jpeg", "jpg": "image/jpeg",
        "js": "text/javascript", "json": "application/json", "jsonld": "application/ld+json", "jxl": "image/jxl",
        "log": "text/plain", "m4a": "audio/mp4", "m4v": "video/mp4", "md": "text/markdown", "mid": "audio/midi",
        "midi": "audio/midi", "mjs": "text/javascript", "mkv": "video/matroska", "mov": "video/quicktime",
        "mp3": "audio/mpeg", "mp4": "video/mp4", "mpeg": "video/mpeg", "mpg": "video/mpeg",
        "odp": "application/vnd.oasis.opendocument.presentation",
        "ods": "application/vnd.oasis.opendocument.spreadsheet", "odt": "application/vnd.oasis.opendocument.text",
        "oga": "audio/ogg", "ogg": "audio/ogg", "ogv": "video/ogg", "opus": "audio/ogg", "otf": "font/otf",
        "pdf": "application/pdf", "plist": "application/x-plist", "png": "image/png",
        "ppt": "application/vnd.ms-powerpoint",
        "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "rtf": "application/rtf", "svg": "image/svg+xml", "tar": "application/x-tar", "tif": "image/tiff",
        "tiff": "image/tiff", "ttf": "font/ttf", "txt": "text/plain", "vcf": "text/vcard", "wasm": "application/wasm",
        "wav": "audio/wav", "weba": "audio/webm", "webm": "video/webm", "webp": "image/webp", "woff": "font/woff",
        "woff2": "font/woff2", "xhtml": "application/xhtml+xml", "xls": "application/vnd.ms-excel",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xml": "application/xml",
        "yaml": "application/yaml", "yml": "application/yaml", "zip": "application/zip", "zst": "application/zstd",
    ]
}
