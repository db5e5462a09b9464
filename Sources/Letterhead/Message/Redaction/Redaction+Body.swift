import Foundation

extension Redaction {
    /// The maximum number of bytes of a body that a description or a log shows.
    static let shownBytes = 512

    /// Returns the beginning of the body of a request; empty if there is none.
    ///
    /// For a body in memory, the result contains the first 512 bytes: as text, with the values of secret names
    /// redacted, or in hexadecimal. For a body that is not in memory, for a multipart body, and for compressed text, it
    /// contains the type and the length. If ``HTTPRequest/isSecret`` is true, the result is `<redacted>`.
    public func body(of request: HTTPRequest) -> String {
        guard !request.body.isEmpty else { return "" }
        return request.isSecret ? Self.mark : text(of: request.body, headers: request.headers)
    }

    /// Returns the beginning of the body of a response, as ``body(of:)-(HTTPRequest)`` does for a request; empty if there
    /// is none, or if it is streamed.
    public func body(of response: HTTPResponse) -> String {
        guard let data = response.body.buffered, !data.isEmpty else { return "" }
        return response.request.isSecret ? Self.mark : text(of: data, headers: response.headers)
    }

    /// Describes the body of a request: its content if it is in memory, otherwise its type and length.
    func text(of body: any HTTPBody, headers: HTTPHeaders) -> String {
        guard body.isReplayable, let data = try? body.chunks().data else {
            return "(\(type(of: body)), \(body.contentLength.map { "\($0) bytes" } ?? "length unknown"))"
        }
        // The headers of the sent request: the type of the request takes precedence, except for a multipart boundary,
        // which is the body's.
        if let type = Self.multipart(body.additionalHeaders) { return "(\(type), \(data.count) bytes)" }
        var merged = headers
        merged.fill(from: body.additionalHeaders)
        return text(of: data, headers: merged)
    }

    /// Returns the first 512 bytes as text with the values of secret names redacted, or in hexadecimal. For a multipart
    /// body, whose part names decide what is secret, and for compressed text, it returns the type and the length.
    func text(of data: Data, headers: HTTPHeaders) -> String {
        if let type = Self.multipart(headers) { return "(\(type), \(data.count) bytes)" }
        if !data.isEmpty, excerpt(of: data, headers: headers) == nil, Self.hidesText(headers) {
            let type = headers.mediaType?.essence ?? "encoded"
            return "(\(type), \(data.count) bytes)"
        }
        let rest = data.count > Self.shownBytes ? "… (\(data.count) bytes)" : ""
        if let text = excerpt(of: data, headers: headers) { return text + rest }
        return data.prefix(Self.shownBytes).map { String(format: "%02x", $0) }.joined() + rest
    }

    /// Returns the first 512 bytes as text, with the values of secret names redacted and control characters escaped;
    /// nil for binary data and for multipart bodies.
    func excerpt(of data: Data, headers: HTTPHeaders) -> String? {
        let shown = data.prefix(Self.shownBytes)
        guard Self.multipart(headers) == nil, let text = Self.utf8(shown, isCut: shown.count < data.count) else {
            return nil
        }
        let isForm = headers.mediaType?.essence == MediaType.form.essence
        return Self.visible(redactURLs(isForm ? redactForm(text) : redactJSON(text)))
    }

    /// Returns a whole text body with the values of secret names redacted; nil for binary data and for multipart bodies.
    func redacted(_ data: Data, headers: HTTPHeaders) -> String? {
        guard Self.multipart(headers) == nil, let text = Self.utf8(data, isCut: false) else { return nil }
        let isForm = headers.mediaType?.essence == MediaType.form.essence
        return redactURLs(isForm ? redactForm(text) : redactJSON(text))
    }

    private static func multipart(_ headers: HTTPHeaders) -> String? {
        let essence = headers.mediaType?.essence
        return essence.flatMap { $0.hasPrefix("multipart/") ? $0 : nil }
    }

    /// Returns whether bytes that are not valid UTF-8 are likely to be text: compressed, in another charset, or with a
    /// malformed byte.
    static func hidesText(_ headers: HTTPHeaders) -> Bool {
        if headers.contains(.contentEncoding) { return true }
        guard let type = headers.mediaType?.essence else { return false }
        return type.hasPrefix("text/") || type.hasSuffix("json") || type.hasSuffix("xml")
            || type == MediaType.form.essence
    }

    /// Returns the text if the bytes are UTF-8 without control characters. An incomplete character at the end of a
    /// truncated text is left out.
    private static func utf8(_ data: Data, isCut: Bool) -> String? {
        for dropped in 0...(isCut ? 3 : 0) where dropped <= data.count {
            if let text = String(data: data.dropLast(dropped), encoding: .utf8) {
                return text.unicodeScalars.contains(where: isBinary) ? nil : text
            }
        }
        return nil
    }

    /// Returns whether a scalar is a control character that does not occur in text. Line breaks and tabs occur in text;
    /// they are shown as escapes.
    private static func isBinary(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A, 0x0D: false
        case 0..<0x20, 0x7F...0x9F: true
        default: false
        }
    }

    package func redactForm(_ text: String) -> String {
        text.utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false).map { pair in
            let name = Substring(pair.prefix { $0 != UInt8(ascii: "=") })
            return isSecret(parameter: PercentEncoding.unescape(name))
                ? "\(name)=\(Self.mark)" : String(Substring(pair))
        }.joined(separator: "&")
    }
}
