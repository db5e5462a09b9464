extension RequestPath {
    /// This path behind a prefix, with exactly one slash between: `people` behind `/api` or `api/` is `/api/people`.
    ///
    /// An absolute path, one that begins with a slash, is complete and stays; an empty one is the prefix itself.
    func behind(_ prefix: String) -> RequestPath {
        let slash = UInt8(ascii: "/")
        guard defect == nil, string.utf8.first != slash else { return self }
        let start = prefix.isEmpty || prefix.utf8.first == slash ? prefix : "/" + prefix
        if string.isEmpty { return RequestPath(escaped: start) }
        return RequestPath(
            escaped: ByteText.text(atMost: start.utf8.count + 1 + string.utf8.count) { text in
                text.append(start)
                if start.utf8.last != slash { text.append("/" as Unicode.Scalar) }
                text.append(string)
            })
    }
}
