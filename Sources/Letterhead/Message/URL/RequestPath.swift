// SPDX-License-Identifier: MIT
public import LetterheadFoundation

/// A request path. Write it as a literal with interpolated values.
///
/// ```swift
/// "users/\(login)/followers"       // login "a/b ?" becomes users/a%2Fb%20%3F/followers
/// "files/\(segments: ["2026", "a b"])"  // each value of a list is one segment: files/2026/a%20b
/// "\(bucket)/\(segments: key, allowingEmpty: true)"  // the key "a//b" of an object store
/// "files/\(raw: "2026/report")"    // raw: a value that contains slashes
/// "bot\(secret: token)/getMe"      // one segment, which descriptions don't show
/// ```
///
/// Each value is escaped as one segment (RFC 3986, 3.3), so it can't add a slash, a query or a host. The literal parts
/// keep their slashes and escapes. Characters that a path can't contain are escaped.
///
/// A request fails before anything is sent in these cases. The error names the rule, but not the value.
/// - A value is empty, `.` or `..`.
/// - The path begins with a host: `//host` or `https://host`.
/// - The path contains a `?` or a `#`. Parameters belong in the query.
public struct RequestPath: Hashable, Sendable {
    /// The escaped path, relative or absolute.
    public let string: String
    let defect: Defect?
    /// The path as you wrote it, with `{}` instead of each value: `users/{}/followers`.
    ///
    /// A value that is interpolated with a name, as in `"users/\(login, name: "login")"`, is `{login}`. The number of
    /// different routes is small, so the route identifies the endpoint in metrics and logs. It doesn't contain a base
    /// URL prefix.
    ///
    /// It is nil for a path that comes from a URL or a redirect, and for a literal with characters that must be
    /// escaped. A page at a URL that the server chose has its template route.
    public let route: String?
    /// The interpolated secrets. Descriptions redact them wherever they occur.
    let secrets: Set<Secret>

    enum Defect: Equatable {
        case emptyValue, dotValue, host, query
        /// The rule that a ``URITemplate`` violates.
        case template(String)

        var rule: String {
            switch self {
            case .emptyValue: "a value in it is empty"
            case .dotValue: "a value in it is \".\" or \"..\""
            case .host: "it begins with a host (set the host on the request, the base URL or the environment)"
            case .query: "it contains \"?\" or \"#\" (parameters belong in the query)"
            case .template(let rule): rule
            }
        }

        var namesOtherParts: Bool {
            switch self {
            case .host, .query, .template: true
            case .emptyValue, .dotValue: false
            }
        }
    }

    /// Creates a path that is already escaped.
    ///
    /// A request with the path fails if the text contains characters that a path can't contain.
    ///
    /// - Parameters:
    ///   - text: the escaped path.
    ///   - route: the path without its values, or nil if it isn't known.
    public init(escaped text: String, route: String?) { self.init(escaped: text, route: route, defect: nil) }

    init(escaped text: String, route: String? = nil, defect: Defect? = nil, secrets: Set<Secret> = []) {
        string = text
        (self.defect, self.secrets) = (defect, secrets)
        self.route = defect?.namesOtherParts == true ? nil : route
    }

    private init(written text: String, route: String, defect: Defect?, secrets: Set<Secret> = []) {
        let string = PercentEncoding.escapeLiteral(text, .pathLiteral)
        let isEscaped = string.utf8.count > text.utf8.count
        // A route shows what you wrote, so it is unknown if that isn't what is sent. Few literals contain a character
        // that is escaped.
        self.init(
            escaped: string, route: isEscaped ? nil : route,
            defect: defect ?? Self.defect(of: text, isEscaped: isEscaped), secrets: secrets)
    }

    private static func defect(of text: String, isEscaped: Bool) -> Defect? {
        if URLParts.namesHost(text) { return .host }
        // Both characters are escaped in a path, so a path without escapes contains neither.
        guard isEscaped else { return nil }
        return ASCII.allBytes(of: text) { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") } ? nil : .query
    }

    /// Whether the path is refused because it contains other URL parts. Descriptions don't show such a path.
    var namesOtherParts: Bool { defect?.namesOtherParts == true }

    /// Returns the same path, written with more escapes.
    package func written(as text: String) -> RequestPath {
        RequestPath(escaped: text, route: route, defect: defect, secrets: secrets)
    }

    /// The segments between the slashes, unescaped. Empty segments are left out: `a//b/` has the segments `a` and `b`.
    /// ``string`` shows all of them.
    public var segments: [String] {
        string.split(at: "/").map { PercentEncoding.unescape($0) }
    }
}

extension RequestPath: ExpressibleByStringInterpolation {
    public init(stringLiteral value: String) { self.init(written: value, route: value, defect: nil) }

    public init(stringInterpolation: StringInterpolation) {
        self.init(
            written: stringInterpolation.text, route: stringInterpolation.route, defect: stringInterpolation.defect,
            secrets: stringInterpolation.secrets)
    }

    /// The values that a path literal can contain: `\(value)`, `\(value, name: "login")`, `\(segments: list)`,
    /// `\(secret: token)` and `\(raw: text)`.
    public struct StringInterpolation: StringInterpolationProtocol, Sendable {
        fileprivate var text = ""
        fileprivate var defect: Defect?
        fileprivate var route = ""
        fileprivate var secrets: Set<Secret> = []

        public init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity + 16) }

        /// Appends a literal part of the path. Its slashes and escapes are kept.
        public mutating func appendLiteral(_ literal: String) {
            text += literal
            route += literal
        }

        /// Appends a string or a number as one segment.
        public mutating func appendInterpolation(_ value: some LosslessStringConvertible) { add(value.description) }

        /// Appends a string or a number as one segment, with a name in ``RequestPath/route``.
        public mutating func appendInterpolation(_ value: some LosslessStringConvertible, name: String) {
            add(value.description, name: name)
        }

        /// Appends an enumeration or identifier as one segment, by its raw value.
        public mutating func appendInterpolation<Value: RawRepresentable>(_ value: Value)
        where Value.RawValue: LosslessStringConvertible { add(value.rawValue.description) }

        /// Appends an identifier that is also `LosslessStringConvertible` as one segment, by its raw value.
        public mutating func appendInterpolation<Value: RawRepresentable & LosslessStringConvertible>(_ value: Value)
        where Value.RawValue: LosslessStringConvertible { add(value.rawValue.description) }

        /// Appends a secret as one segment, for an API with a token in its path: `"bot\(secret: token)/sendMessage"`.
        ///
        /// Descriptions, errors, events and logs redact it wherever it occurs, also in redirect and page URLs. The
        /// route contains `{}` instead.
        public mutating func appendInterpolation(secret value: Secret) {
            secrets.insert(value)
            add(value.reveal())
        }

        /// Appends a string as a secret, as one segment. See ``appendInterpolation(secret:)-(Secret)``.
        public mutating func appendInterpolation(secret value: String) { appendInterpolation(secret: Secret(value)) }

        /// Appends a UUID as one segment, in upper case.
        public mutating func appendInterpolation(_ value: UUID) { add(value.uuidString) }

        /// Appends each value of a list as one segment, separated by slashes.
        ///
        /// `"files/\(segments: ["a b", "c"])"` is `files/a%20b/c`. An empty list is refused like an empty value.
        ///
        /// - Parameters:
        ///   - values: the segments, unescaped.
        ///   - allowingEmpty: whether values may be empty, as in the object store keys `a//b` and `photos/`. A path
        ///     can't begin with an empty one. Default: false (an empty value is refused).
        public mutating func appendInterpolation(
            segments values: some Sequence<some LosslessStringConvertible>, allowingEmpty: Bool = false
        ) {
            var isFirst = true
            for value in values {
                if !isFirst { text += "/" }
                let value = value.description
                if !allowingEmpty || !value.isEmpty || text.isEmpty { append(value) }
                isFirst = false
            }
            if isFirst { defect = defect ?? .emptyValue }
            route += "{}"
        }

        /// Appends a string unchanged, with its slashes and escapes. Use it only for a string that you control.
        public mutating func appendInterpolation(raw value: String) {
            text += value
            route += "{}"
        }

        private mutating func add(_ value: String, name: String? = nil) {
            append(value)
            route += name.map { "{\($0)}" } ?? "{}"
        }

        private mutating func append(_ value: String) {
            if value.isEmpty { defect = defect ?? .emptyValue }
            if value.isSame(as: ".") || value.isSame(as: "..") { defect = defect ?? .dotValue }
            text += PercentEncoding.escape(value, .unreserved)
        }
    }
}

extension RequestPath {
    /// Paths with the same string are equal, whether or not their routes are known.
    public static func == (left: RequestPath, right: RequestPath) -> Bool {
        left.string.isSame(as: right.string) && left.defect == right.defect
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(bytesOf: string) }
}

extension RequestPath: CustomStringConvertible, CustomReflectable {
    /// The escaped path with its secrets redacted. ``string`` contains them.
    public var description: String { Redaction.hide(secrets, in: string) }

    /// Contains only the description, so that `dump` prints no secrets.
    public var customMirror: Mirror { Mirror(describing: self) }
}

extension RequestPath {
    /// Returns this path followed by a second one, with exactly one slash between them.
    ///
    /// Use it for endpoints with a common beginning: `users.appending("\(login)/repos")`. The route combines both
    /// literals. A second path that begins with a slash replaces this path, just as it replaces a base URL path. If one
    /// of them is defective, so is the result.
    public func appending(_ path: RequestPath) -> RequestPath {
        if path.isAbsolute || path.namesOtherParts || string.isEmpty && defect == nil { return path }
        if path.string.isEmpty, path.defect == nil { return self }
        let separator = string.utf8.last == UInt8(ascii: "/") ? "" : "/"
        let joined = string + separator + path.string
        return RequestPath(
            escaped: joined, route: route.flatMap { first in path.route.map { first + separator + $0 } },
            defect: defect ?? path.defect ?? Self.defect(of: joined, isEscaped: false),
            secrets: secrets.union(path.secrets))
    }

    /// Returns this path after a prefix, with exactly one slash between them: `people` after `/api` or `api/` is
    /// `/api/people`.
    ///
    /// A path that begins with a slash is returned unchanged, and an empty path returns the prefix.
    func following(_ prefix: String) -> RequestPath {
        if string.isEmpty, defect == nil, Self.isAbsolute(prefix) {
            return RequestPath(escaped: prefix, route: route, secrets: secrets)
        }
        return prefix.withBytes { unsafe following($0) }
    }

    /// Returns this path after a prefix, which is copied from the given bytes.
    func following(_ prefix: UnsafeBufferPointer<UInt8>) -> RequestPath {
        guard defect == nil, !isAbsolute else { return self }
        return RequestPath(
            escaped: ByteText.text(atMost: prefix.count + 2 + string.utf8.count) { text in
                if let first = unsafe prefix.first, first != UInt8(ascii: "/") { text.append("/" as Unicode.Scalar) }
                unsafe text.append(prefix)
                if string.isEmpty { return }
                if !text.ends(in: "/") { text.append("/" as Unicode.Scalar) }
                text.append(string)
            }, route: route, secrets: secrets)
    }

    var isAbsolute: Bool { Self.isAbsolute(string) }

    private static func isAbsolute(_ path: String) -> Bool { path.withBytes { unsafe $0.first == UInt8(ascii: "/") } }
}
