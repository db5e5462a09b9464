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
