extension RequestPath {
    /// This path behind a prefix, with exactly one slash between: `people` behind `/api` or `api/` is `/api/people`.
    ///
    /// An absolute path, one that begins with a slash, is complete and stays; an empty one is the prefix itself.
    func behind(_ prefix: String) -> RequestPath {
        guard defect == nil, !isAbsolute else { return self }
        guard prefix.isEmpty || Self.isAbsolute(prefix) else { return behind("/" + prefix) }
        if string.isEmpty { return RequestPath(escaped: prefix) }
        return RequestPath(
            escaped: ByteText.text(atMost: prefix.utf8.count + 1 + string.utf8.count) { text in
                text.append(prefix)
                if !text.ends(in: "/") { text.append("/" as Unicode.Scalar) }
                text.append(string)
            })
    }

    /// Whether it begins with a slash.
    var isAbsolute: Bool { Self.isAbsolute(string) }

    private static func isAbsolute(_ path: String) -> Bool { path.withBytes { $0.first == UInt8(ascii: "/") } }
}
