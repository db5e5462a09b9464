// SPDX-License-Identifier: MIT

/// The names and values that descriptions, errors and logs redact.
///
/// ```swift
/// request.redaction = .standard.adding(headers: ["X-Tenant"], parameters: ["account"])
/// ```
///
/// The value of a secret name is written as `<redacted>`. The user and password in a URL are always redacted. Add a
/// name if your API has a secret that ``standard`` doesn't know. A secret without a name, such as a token in a base
/// URL, is redacted wherever it occurs if you add its value. The secrets that a path marks
/// (`"bot\(secret: token)/getMe"`) need not be added.
///
/// What the texts contain:
/// - A log (``PrintLoader``) contains methods, URLs, headers, statuses and sizes. At the level `bodies`, it also
///   contains the first 512 bytes of a text.
/// - The description of an ``HTTPError`` contains no query values. From headers and body, it contains only the
///   explanation that the server gave. It does contain the `LocalizedError.errorDescription` of an underlying error,
///   redacted with the standard names.
public struct Redaction: Sendable, Hashable {
    /// Names of headers with secret values.
    public private(set) var headers: Set<HTTPHeaders.Name>
    /// Names with secret values in queries, forms and JSON documents, in lower case.
    public private(set) var parameters: Set<String>
    /// Values that are redacted wherever they occur, percent-encoded or not.
    public private(set) var values: Set<Secret> = []
    private let bareParameters: Set<[UInt8]>
    /// Whether a name that contains a secret word is secret as well.
    private let knowsParts: Bool

    /// The standard names: the headers Authorization, Cookie, Set-Cookie and Proxy-Authorization, and names of keys,
    /// tokens, secrets, passwords and codes.
    ///
    /// A name that isn't in these lists is split into its words. It is secret if one word, or several adjacent words
    /// together, are secret: `X-Access-Token`, `PRIVATE-TOKEN`, `X-Goog-Api-Key`, `DPoP`, `auth_token`, `jwt`, `otp`
    /// and `privateKey`.
    public static let standard = Redaction(
        headers: [
            .authorization, .cookie, .setCookie, .proxyAuthorization, "X-Api-Key", "Api-Key", "X-Auth-Token",
            "X-Amz-Security-Token",
        ],
        parameters: [
            "access_token", "api_key", "apikey", "assertion", "client_assertion", "client_secret", "code",
            "code_verifier", "id_token", "key", "passwd", "password", "refresh_token", "secret", "sig", "signature",
            "token", "x-amz-credential", "x-amz-security-token", "x-amz-signature",
        ], knowsParts: true)

    /// Creates a set of secret names that doesn't include the standard names and doesn't judge names by their parts.
    public init(headers: Set<HTTPHeaders.Name>, parameters: Set<String>) {
        self.init(headers: headers, parameters: parameters, knowsParts: false)
    }

    private init(headers: Set<HTTPHeaders.Name>, parameters: Set<String>, knowsParts: Bool) {
        self.headers = headers
        self.parameters = Set(parameters.map { ASCII.lowercased($0) })
        bareParameters = Set(parameters.map { Self.bare($0.utf8) })
        self.knowsParts = knowsParts
    }

    /// Returns a redaction that also redacts further names and values.
    public func adding(
        headers: Set<HTTPHeaders.Name> = [], parameters: Set<String> = [], values: Set<Secret> = []
    ) -> Redaction {
        var added = self
        if !headers.isEmpty || !parameters.isEmpty {
            added = Redaction(
                headers: self.headers.union(headers), parameters: self.parameters.union(parameters),
                knowsParts: knowsParts)
        }
        added.values = self.values.union(values)
        return added
    }

    /// Returns whether a header has secret values.
    public func isSecret(header name: HTTPHeaders.Name) -> Bool {
        headers.contains(name) || knowsParts && SecretName.matches(name.rawValue.utf8)
    }

    /// Returns whether a query item, form field or JSON member has secret values.
    ///
    /// Case, `_` and `-` are ignored: `accessToken` is as secret as `access_token`. In a nested name, each component is
    /// compared: `user[password]`, `user.password` and `token[]` are secret.
    public func isSecret(parameter name: String) -> Bool {
        name.utf8.split { "[].".utf8.contains($0) }.contains { bareParameters.contains(Self.bare($0)) }
            || knowsParts && SecretName.matches(name.utf8)
    }

    /// Returns a name in lower case and without `_` and `-`.
    static func bare(_ name: some Sequence<UInt8>) -> [UInt8] {
        name.filter { !"_-".utf8.contains($0) }.map { ASCII.lowercased($0) }
    }

    package static let placeholder = "<redacted>"
}

extension Redaction {
    /// Returns a header as `Name: value`. The value is `<redacted>` if the header is marked as secret or its name is
    /// secret. Control characters are escaped, so that a value can't forge a log line.
    public func text(of field: HTTPHeaders.Field) -> String {
        "\(Self.visible(field.name.rawValue)): \(value(of: field))"
    }

    /// Returns a field value without secrets: `<redacted>` if the field or its name is secret. In other values, only
    /// URLs are redacted.
    public func value(of field: HTTPHeaders.Field) -> String {
        field.isSecret || isSecret(header: field.name) ? Self.placeholder : Self.visible(redactURLs(field.value))
    }

    func text(of headers: HTTPHeaders) -> String { headers.map { text(of: $0) }.joined(separator: "\n") }

    func text(of query: QueryParameters) -> String {
        query.map { item in
            guard item.value != nil, item.isSecret || item.name.isEmpty || isSecret(parameter: item.name) else {
                return Self.visible(item.escaped)
            }
            return PercentEncoding.escape(item.name, .unreserved) + "=" + Self.placeholder
        }.joined(separator: "&")
    }

    /// Returns the request method and URL: `GET https://api.example.com/users?page=2`. See ``url(of:)``.
    public func requestLine(of request: HTTPRequest) -> String {
        let request = request.withEnvironment
        return "\(request.method.printable) \(url(of: request))"
    }

    /// Returns the URL with secret query values redacted, and user and password replaced by `<redacted>`.
    ///
    /// If the client environment hasn't been applied yet, the result is the URL that the request will have. If the
    /// environment isn't known, it is the path and the query, followed by `(environment not resolved)`.
    public func url(of request: HTTPRequest) -> String {
        let request = request.withEnvironment
        return url(of: request, query: request.query.isEmpty ? "" : "?" + text(of: request.query))
    }

    /// Returns the URL with query names, but without query values, for errors.
    public func outline(of request: HTTPRequest) -> String {
        let request = request.withEnvironment
        let names = request.query.map {
            Self.visible(PercentEncoding.escape($0.name, .unreserved)) + ($0.value == nil ? "" : "=…")
        }
        return url(of: request, query: names.isEmpty ? "" : "?" + names.joined(separator: "&"))
    }

    private func url(of request: HTTPRequest, query: String) -> String {
        Self.hide(values.union(request.pathSecrets), in: address(of: request) + query)
            + (request.lacksEnvironment ? " (environment not resolved)" : "")
    }

    private func address(of request: HTTPRequest) -> String {
        let path = request.path.namesOtherParts ? "(refused path)" : Self.visible(request.path.string)
        guard let host = request.host else { return path.isEmpty ? "(no URL)" : path }
        let user = request.userInfo == nil ? "" : Self.placeholder + "@"
        let scheme = request.hasHTTPScheme ? request.scheme : "(refused scheme)"
        let shown = HTTPRequest.isHost(host) ? host : "(refused host)"
        let port = request.port.map { ":\($0)" } ?? ""
        return
            "\(scheme)://\(user)\(shown)\(port)\(path.isEmpty || path.begins(with: "/") ? "" : "/")\(path)"
    }

    /// Escapes control characters and line separators, so that a value can't forge a log line.
    package static func visible(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: Self.isControl) else { return text }
        return text.unicodeScalars.map { Self.isControl($0) ? "\\u{\(String($0.value, radix: 16))}" : String($0) }
            .joined()
    }

    static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F, 0x2028, 0x2029: true
        // These change the direction of text, and with it the order in which a line is displayed.
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}

extension Redaction {
    /// Redacts the URLs in a string, such as a `Location` or `Link`. This includes user and password, and the values of
    /// secret names after `?`, `&`, `;` or `#`.
    ///
    /// - Parameter nameless: whether a value without a name is redacted as well. Default: false (outside of URLs, as in
    ///   a regular expression, `?=` has a different meaning).
    package func redactURLs(_ text: String, nameless: Bool = false) -> String {
        let text = Self.hide(values, in: text)
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "=") || $0 == UInt8(ascii: "@") }) else { return text }
        var output: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            output.append(byte)
            if "?&;#".utf8.contains(byte) {
                // A name ends at each separator. Otherwise, each separator in a long name would start a new search of
                // it.
                let name = rest.prefix { !"=?;".utf8.contains($0) && Self.isInside($0) }
                guard rest.dropFirst(name.count).first == UInt8(ascii: "="),
                    isSecret(escaped: name) || nameless && name.isEmpty
                else { continue }
                output += name + "=\(Self.placeholder)".utf8
                rest = rest.dropFirst(name.count + 1).drop(while: Self.isInside)
            } else if output.suffix(2).elementsEqual("//".utf8) {
                let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && Self.isInside($0) }
                guard let at = authority.lastIndex(of: UInt8(ascii: "@")) else { continue }
                output += Self.placeholder.utf8
                rest = rest[at...]
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    private func isSecret(escaped name: ArraySlice<UInt8>) -> Bool {
        isSecret(parameter: PercentEncoding.unescape(String(decoding: name, as: UTF8.self)))
    }

    /// Redacts values wherever they occur in a text, percent-encoded or not. The text may have been cut inside a value.
    /// If it ends with the first bytes of one, they are redacted as well.
    package static func hide(_ values: Set<Secret>, in text: String) -> String {
        guard !values.isEmpty else { return text }
        let values = values.filter { !$0.isEmpty }.map { Array($0.reveal().utf8) }.sorted { $0.count > $1.count }
        var output: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let first = rest.first {
            if let count = values.lazy.compactMap({ Self.length(of: $0, in: rest) }).first {
                output += placeholder.utf8
                rest = rest.dropFirst(count)
            } else {
                output.append(first)
                rest = rest.dropFirst()
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Returns how many bytes at the beginning of a text spell a value, or nil if they don't.
    private static func length(of value: [UInt8], in text: ArraySlice<UInt8>) -> Int? {
        var rest = text
        for (index, byte) in value.enumerated() {
            let isEscape = rest.first == UInt8(ascii: "%")
            if index > 3, rest.isEmpty || isEscape && rest.count < 3 { return text.count }
            let isEscaped = isEscape && PercentEncoding.decoded(Array(rest.prefix(3))) == [byte]
            // A value may itself contain what looks like an escape.
            guard isEscaped || rest.first == byte else { return text.starts(with: value) ? value.count : nil }
            rest = rest.dropFirst(isEscaped ? 3 : 1)
        }
        return text.count - rest.count
    }

    /// Returns whether a byte belongs to a name or a value: it neither separates query items nor ends a URL in a
    /// string.
    private static func isInside(_ byte: UInt8) -> Bool { byte > 0x20 && !"&#\"<>\\".utf8.contains(byte) }
}
