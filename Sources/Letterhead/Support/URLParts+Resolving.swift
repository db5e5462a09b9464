extension URLParts {
    /// The target of a reference that stands in this document (RFC 3986, 5.2.2), byte for byte.
    ///
    /// The fragment is the reference's own, or this one's where it has none (RFC 9110, 10.2.2).
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
                if !reference.path.hasPrefix("/") { target.path = merged(with: reference.path) }
            }
        }
        target.path = Self.removingDotSegments(target.path)
        return target
    }

    /// The same parts with the bytes of a set percent-encoded; well-formed escapes stay.
    package func escaped(path pathSet: EscapeSet, query querySet: EscapeSet) -> URLParts {
        var parts = self
        parts.path = PercentEncoding.escapeLiteral(path, pathSet)
        parts.query = query.map { PercentEncoding.escapeLiteral($0, querySet) }
        parts.fragment = fragment.map { PercentEncoding.escapeLiteral($0, querySet) }
        return parts
    }

    /// The parts put together again (RFC 3986, 5.3).
    package var string: String {
        var text = scheme.map { $0 + ":" } ?? ""
        if let authority { text += "//" + authority }
        text += path
        if let query { text += "?" + query }
        if let fragment { text += "#" + fragment }
        return text
    }

    /// A relative path in place of this one's last segment (RFC 3986, 5.2.3).
    private func merged(with relative: String) -> String {
        if authority != nil, path.isEmpty { return "/" + relative }
        guard let slash = path.lastIndex(of: "/") else { return relative }
        return path[...slash] + relative
    }

    /// The path without `.` and `..` (RFC 3986, 5.2.4); what would climb above the root stays at the root.
    package static func removingDotSegments(_ path: String) -> String {
        var output: [Substring] = []
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            guard segment == "." || segment == ".." else {
                output.append(segment)
                continue
            }
            let root = path.hasPrefix("/") ? 1 : 0
            if segment == "..", output.count > root { output.removeLast() }
            if isLast { output.append("") }
        }
        return output.joined(separator: "/")
    }
}
