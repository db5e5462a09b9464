// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// A request in canonical form. The signer and the server both compute this form and sign its hash.
struct AWSCanonicalRequest {
    /// The names of the covered headers, in lower case, sorted, and separated by semicolons.
    let signedHeaders: String
    let text: String

    /// - Parameter payload: the body hash.
    init(_ request: HTTPRequest, isS3: Bool, payload: String = "") {
        let headers = Self.headers(request.framedHeaders(), host: request.hostField)
        signedHeaders = headers.map(\.key).joined(separator: ";")
        let path = isS3 ? Self.key(request.targetPath) : Self.path(request.targetPath)
        let fields = headers.map { "\($0.key):\($0.value)\n" }.joined()
        let parts = [request.method.rawValue, path, Self.query(request.query.escaped), fields, signedHeaders, payload]
        text = parts.joined(separator: "\n")
    }

    /// Returns the path for S3. Its keys may contain any character, so the path isn't normalized, and each byte except
    /// for slashes is escaped once.
    private static func key(_ path: String) -> String {
        let parts = path.split(at: "/", omittingEmpty: false).map { PercentEncoding.normalized($0.utf8) }
        let key = parts.joined(separator: "/")
        return path.utf8.contains(UInt8(ascii: "%")) ? key.replacingBytes(of: "%2F", with: "/") : key
    }

    /// Returns the path for all other services. They normalize it, and sign it with one more level of escapes than is
    /// sent.
    private static func path(_ path: String) -> String {
        var segments: [Substring] = []
        for part in path.split(at: "/") where !part.isSame(as: ".") {
            if part.isSame(as: "..") { _ = segments.popLast() } else { segments.append(part) }
        }
        if segments.isEmpty || ["/", "/.", "/.."].contains(where: { path.ends(with: $0) }) { segments.append("") }
        return segments.map { "/" + PercentEncoding.escape(String($0), .unreserved) }.joined()
    }

    private static func query(_ query: String) -> String {
        let items = query.split(at: "&").map { item -> (name: String, value: String) in
            let pair = item.cut(at: "=") ?? (item, "")
            return (PercentEncoding.normalized(pair.head.utf8), PercentEncoding.normalized(pair.tail.utf8))
        }
        return items.sorted(by: <).map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    }

    private static func headers(_ headers: HTTPHeaders, host: String) -> [(key: String, value: String)] {
        var values = ["host": host]
        for field in headers {
            let name = ASCII.lowercased(field.name.rawValue)
            guard name != "host", !unsigned.contains(field.name.fieldClass) else { continue }
            let value = field.value.split(at: " ").joined(separator: " ")
            values[name] = values[name].map { "\($0),\(value)" } ?? value
        }
        return values.sorted { $0.key < $1.key }
    }

    /// The headers that aren't signed: those that other links and proxies change, and the signature itself.
    private static let unsigned: Set<HTTPHeaders.Name.Class> = [.connection, .credential, .condition, .trace, .way]
}

extension HTTPRequest {
    /// Writes the URL in the form that is both signed and sent.
    ///
    /// Without it, signatures could differ, because servers read URLs in different ways: a `+` as itself or as a space,
    /// and other bytes with or without their escapes. `Host` contains no default port.
    mutating func normalizeForAWS(isS3: Bool) {
        if port == (ASCII.equalIgnoringCase(scheme, "http") ? 80 : 443) { port = nil }
        let marks = isS3 ? "+!$&'()*,;=:@" : "+"
        if path.string.utf8.contains(where: marks.utf8.contains) {
            let text = marks.reduce(path.string) {
                $0.replacingBytes(of: String($1), with: PercentEncoding.escape(String($1), .unreserved))
            }
            path = path.written(as: text)
        }
        query = QueryParameters(
            query.flatMap { item in
                // A secret item isn't from a URL, so it has this form already.
                let text = QueryParameters([item]).escaped
                let pair = text.cut(at: "=").map { [$0.head, $0.tail] } ?? [text[...]]
                let normal = pair.map { PercentEncoding.normalized($0.utf8) }.joined(separator: "=")
                return normal.isSame(as: text) ? [item] : Array(QueryParameters(escaped: normal))
            })
    }
}
