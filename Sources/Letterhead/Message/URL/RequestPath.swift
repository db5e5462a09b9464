public import Foundation

/// The path of a request, in which no value can change the route.
///
/// Literals stay as they are written; each interpolated value is escaped as one segment (RFC 3986, 3.3), so it can add no
/// slash, no query and no host:
///
/// ```swift
/// "users/\(login)/followers"       // login "a/b ?" gives users/a%2Fb%20%3F/followers
/// "files/\(raw: "2026/report")"    // raw: a value that brings its own slashes
/// ```
///
/// Refused before anything is sent, naming the rule and never the value: a value that is empty, `.` or `..`; a path that
/// begins with a host (`//host`, `https://host`); a `?` or a `#`, which belong in the query. An escape that stands in a
/// literal stays, and what a path may not hold is escaped there.
public struct RequestPath: Hashable, Sendable {
    /// The escaped path as it was given, relative or absolute.
    public let string: String
    let defect: Defect?

    /// Why a path is refused.
    enum Defect: String {
        case emptyValue = "a value in it is empty"
        case dotValue = "a value in it is \".\" or \"..\""
        case host = "it begins with a host; set the host on the request, the base URL or the environment"
        case query = "it holds \"?\" or \"#\"; parameters belong in the query"
    }

    /// A path that is already escaped, taken from a URL byte for byte.
    init(escaped text: String) {
        string = text
        defect = nil
    }

    private init(written text: String, defect: Defect?) {
        string = PercentEncoding.escapeLiteral(text, .pathLiteral)
        self.defect = defect ?? Self.defect(of: text, isEscaped: string.utf8.count > text.utf8.count)
    }

    private static func defect(of text: String, isEscaped: Bool) -> Defect? {
        if URLParts.namesHost(text) { return .host }
        // Both are escaped in a path, so that neither is in one where nothing was.
        guard isEscaped else { return nil }
        return ASCII.allBytes(of: text) { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") } ? nil : .query
    }

    /// Whether it is refused for what it holds beside a path, which no text repeats.
    var namesOtherParts: Bool { defect == .host || defect == .query }

    /// The segments between the slashes, unescaped.
    public var segments: [String] {
        string.split(separator: "/", omittingEmptySubsequences: true).map { PercentEncoding.unescape($0) }
    }
}

extension RequestPath: ExpressibleByStringInterpolation {
    /// A path without values.
    public init(stringLiteral value: String) { self.init(written: value, defect: nil) }

    /// A path with values.
    public init(stringInterpolation: StringInterpolation) {
        self.init(written: stringInterpolation.text, defect: stringInterpolation.defect)
    }

    /// Collects literals as they are and values as segments.
    public struct StringInterpolation: StringInterpolationProtocol, Sendable {
        fileprivate var text = ""
        fileprivate var defect: Defect?

        /// Starts an empty path.
        public init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity + 16) }

        /// Adds what stands between the values.
        public mutating func appendLiteral(_ literal: String) { text += literal }

        /// Adds a text or a number as one segment.
        public mutating func appendInterpolation(_ value: some LosslessStringConvertible) { add(value.description) }

        /// Adds the raw value of an enumeration or an identifier as one segment.
        public mutating func appendInterpolation<Value: RawRepresentable>(_ value: Value)
        where Value.RawValue: LosslessStringConvertible { add(value.rawValue.description) }

        /// Adds the raw value of an identifier that is also text as one segment.
        public mutating func appendInterpolation<Value: RawRepresentable & LosslessStringConvertible>(_ value: Value)
        where Value.RawValue: LosslessStringConvertible { add(value.rawValue.description) }

        /// Adds a UUID as one segment, in upper case.
        public mutating func appendInterpolation(_ value: UUID) { add(value.uuidString) }

        /// Adds a path that brings its own slashes and escapes; the caller vouches for it.
        public mutating func appendInterpolation(raw value: String) { text += value }

        private mutating func add(_ value: String) {
            if value.isEmpty { defect = defect ?? .emptyValue }
            if value == "." || value == ".." { defect = defect ?? .dotValue }
            text += PercentEncoding.escape(value, .unreserved)
        }
    }
}

extension RequestPath: CustomStringConvertible {
    /// The escaped path.
    public var description: String { string }
}

extension RequestPath {
    /// This path behind a prefix, with exactly one slash between: `people` behind `/api` or `api/` is `/api/people`.
    ///
    /// An absolute path, one that begins with a slash, is complete and stays; an empty one is the prefix itself.
    func behind(_ prefix: String) -> RequestPath {
        if string.isEmpty, defect == nil, Self.isAbsolute(prefix) { return RequestPath(escaped: prefix) }
        return prefix.withBytes { behind($0) }
    }

    /// The same, of a prefix that lies in the bytes of a URL.
    func behind(_ prefix: UnsafeBufferPointer<UInt8>) -> RequestPath {
        guard defect == nil, !isAbsolute else { return self }
        return RequestPath(
            escaped: ByteText.text(atMost: prefix.count + 2 + string.utf8.count) { text in
                if let first = prefix.first, first != UInt8(ascii: "/") { text.append("/" as Unicode.Scalar) }
                text.append(prefix)
                if string.isEmpty { return }
                if !text.ends(in: "/") { text.append("/" as Unicode.Scalar) }
                text.append(string)
            })
    }

    /// Whether it begins with a slash.
    var isAbsolute: Bool { Self.isAbsolute(string) }

    private static func isAbsolute(_ path: String) -> Bool { path.withBytes { $0.first == UInt8(ascii: "/") } }
}
