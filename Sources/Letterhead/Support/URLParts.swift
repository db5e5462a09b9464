/// The parts of a URI reference as strings, byte for byte as ``URLRanges`` finds them.
package struct URLParts: Sendable {
    package var scheme: String?
    package var authority: String?
    package var path = ""
    package var query: String?
    package var fragment: String?

    package init(_ text: String) {
        withUnsafeMutablePointer(to: &self) { parts in
            text.withBytes { bytes in
                let ranges = URLRanges(bytes)
                parts.pointee.scheme = ranges.scheme.map { bytes.text($0) }
                parts.pointee.authority = ranges.authority.map { bytes.text($0) }
                parts.pointee.path = bytes.text(ranges.path)
                parts.pointee.query = ranges.query.map { bytes.text($0) }
                parts.pointee.fragment = ranges.fragment.map { bytes.text($0) }
            }
        }
    }

    /// The part of the authority before the last `@`: user and password.
    package var userInfo: String? {
        authority?.withBytes { bytes in
            AuthorityRanges(bytes, in: 0..<bytes.count).userInfo.map { bytes.text($0) }
        }
    }

    /// The host and port. A port that is not a number stays part of the host, which validation refuses.
    package var hostAndPort: (host: String, port: Int?)? {
        authority?.withBytes { bytes in
            let ranges = AuthorityRanges(bytes, in: 0..<bytes.count)
            return (bytes.text(ranges.host), ranges.port)
        }
    }

    /// Returns whether a string begins with a scheme and `://`, or with `//`, and thus contains a host.
    package static func namesHost(_ text: String) -> Bool { text.withBytes { URLRanges.beginWithHost($0) } }
}

extension URLParts {
    /// Resolves a reference relative to this URL (RFC 3986, 5.2.2), byte for byte.
    ///
    /// The result has the fragment of the reference, or this URL's if the reference has none (RFC 9110, 10.2.2).
    package func resolving(_ reference: URLParts) -> URLParts {
        var target = reference
        target.fragment = reference.fragment ?? fragment
        if reference.scheme == nil {
            target.scheme = scheme
            if reference.authority == nil {
                target.authority = authority
                if reference.path.isEmpty {
                    target.path = path
                    target.query = reference.query ?? query
                    return target
                }
                if !reference.path.begins(with: "/") { target.path = merged(with: reference.path) }
            }
        }
        target.path = Self.removingDotSegments(target.path)
        return target
    }

    /// Returns the same parts with the bytes of a set percent-encoded. Well-formed escapes are kept.
    package func escaped(path pathSet: EscapeSet, query querySet: EscapeSet) -> URLParts {
        var parts = self
        parts.path = PercentEncoding.escapeLiteral(path, pathSet)
        parts.query = query.map { PercentEncoding.escapeLiteral($0, querySet) }
        parts.fragment = fragment.map { PercentEncoding.escapeLiteral($0, querySet) }
        return parts
    }

    /// The text of all parts (RFC 3986, 5.3).
    package var string: String {
        var text = scheme.map { $0 + ":" } ?? ""
        if let authority { text += "//" + authority }
        text += path
        if let query { text += "?" + query }
        if let fragment { text += "#" + fragment }
        return text
    }

    /// Returns this path with a relative path instead of its last segment (RFC 3986, 5.2.3).
    private func merged(with relative: String) -> String {
        if authority != nil, path.isEmpty { return "/" + relative }
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return relative }
        return path[..<path.utf8.index(after: slash)] + relative
    }

    /// Returns the path without `.` and `..` (RFC 3986, 5.2.4). Segments of `..` above the root are dropped.
    package static func removingDotSegments(_ path: String) -> String {
        var output: [Substring] = []
        let segments = path.split(at: "/", omittingEmpty: false)
        let root = path.begins(with: "/") ? 1 : 0
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            let isUp = segment.isSame(as: "..")
            guard isUp || segment.isSame(as: ".") else {
                output.append(segment)
                continue
            }
            if isUp, output.count > root { output.removeLast() }
            if isLast { output.append("") }
        }
        return output.joined(separator: "/")
    }
}
