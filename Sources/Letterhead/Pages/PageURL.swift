/// The URL of a page, for comparison. Two URLs are equal if they have the same origin, the same path, and the same
/// query items, in any order.
///
/// The URLs are normalized before the comparison (RFC 3986, 6.2.2): the spelling of escapes and dot segments in the
/// path make no difference. A `+` in the query is a space. Empty items, an `=` without a value, the fragment, and the
/// username and password are not compared.
struct PageURL: Hashable, Sendable {
    /// The URL in its normal form.
    let text: String

    /// Returns nil if the URL has no host.
    init?(_ parts: URLParts) {
        guard let origin = HTTPOrigin(parts) else { return nil }
        let path = Self.path(parts.path)
        let query = parts.query.map { Self.items(of: $0) } ?? []
        text = "\(origin)\(path.isEmpty ? "/" : path)?\(query.joined(separator: "&"))"
    }

    private static func path(_ path: String) -> String {
        URLParts.removingDotSegments(
            path.split(at: "/", omittingEmpty: false).map { PercentEncoding.normalized($0.utf8) }.joined(separator: "/")
        )
    }

    private static func items(of query: String) -> [String] {
        query.split(at: "&").map { item in
            guard let (name, value) = item.cut(at: "=") else { return normalized(item) }
            return normalized(name) + (value.isEmpty ? "" : "=" + normalized(value))
        }.sorted()
    }

    private static func normalized(_ text: Substring) -> String {
        PercentEncoding.normalized(text.utf8.lazy.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 })
    }
}
