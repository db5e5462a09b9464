#if os(Linux)
    import CLibcurl
    import Glibc

    /// The URL of a request up to its path, parsed by libcurl once: most requests of a handle go where its last one went.
    ///
    /// A class, since it owns what libcurl parsed.
    final class CurlOrigin {
        let parsed: OpaquePointer
        /// With a zero at its end.
        let text: [CChar]

        /// Nil when libcurl cannot parse it, or takes nothing parsed with a target apart.
        init?(_ text: UnsafeBufferPointer<CChar>) {
            guard CurlQuirks.takesParsedURLs, let parsed = curl_url() else { return nil }
            self.parsed = parsed
            self.text = text + [0]
            guard curl_url_set(parsed, Self.wholeURL, self.text, Self.noUsername) == 0 else { return nil }
        }

        deinit { curl_url_cleanup(parsed) }

        /// Whether this is it.
        func isEqual(to other: UnsafeBufferPointer<CChar>) -> Bool {
            guard other.count == text.count - 1, let address = other.baseAddress else { return false }
            return memcmp(text, address, other.count) == 0
        }

        private static let wholeURL: CInt = 0
        private static let noUsername: CUnsignedInt = 1 << 5
    }
#endif
