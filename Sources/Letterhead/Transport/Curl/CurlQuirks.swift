#if os(Linux)
    import CLibcurl

    /// Behavior of libcurl that depends on its version. The documentation page "The transport" lists the reasons.
    enum CurlQuirks {
        private static let version = lh_curl_version()
        private static let tlsLibrary = lh_curl_tls_library()

        /// Whether an easy handle may be used for a second transfer.
        ///
        /// Before 8.1.0, a reused handle keeps a pointer to the last header field of its previous response. If the next
        /// response begins with a folded line, libcurl writes to that field after it was freed (libcurl's issue 11101).
        /// A reused handle may also read the body of a POST from the callback of the previous PUT (CVE-2023-28322).
        static let reusesHandles = version >= 0x080100

        /// Whether libcurl percent-decodes the user and the password of a proxy, as it does before 8.8.0.
        static let decodesProxyCredentials = version < 0x080800

        /// Whether a parsed URL can be set together with a request target.
        ///
        /// Before 7.65, libcurl stores the parsed URL itself instead of a copy. Before 7.75, it sends that URL to a
        /// proxy instead of the request target.
        static let takesParsedURLs = version >= 0x074B00

        private static let features = lh_curl_features()

        /// Whether a connection can use HTTP/2. The transport needs the callback of 7.80 to prevent libcurl from
        /// sending a request a second time.
        static let supportsHTTP2 = version >= 0x075000 && features & CInt(LH_CURL_HTTP2) != 0

        /// Whether an HTTP/2 connection without TLS can be reused. In 7.88.0 and 7.88.1, the second request on such a
        /// connection fails (libcurl's issue 10634, fixed in 8.0.0).
        static let reusesHTTP2WithoutTLS = !(0x075800..<0x080000).contains(version)

        /// Whether HTTP/3 may be offered. Before 7.88, libcurl does not try another version if the server has no
        /// HTTP/3.
        static let offersHTTP3 = offersHTTP2 && version >= 0x075800 && features & CInt(LH_CURL_HTTP3) != 0

        /// Whether the DNS lookups of a request end with the request if they use DNS over HTTPS.
        ///
        /// Before 8.10.0, libcurl keeps the connection of a cancelled lookup, and may deliver the answer to a later
        /// lookup of another name.
        static let endsLookups = version >= 0x080A00

        /// Whether HTTP/2 may be offered over TLS.
        ///
        /// libcurl treats a connection as HTTP/2 if a status line claims HTTP/2. The transport therefore compares the
        /// claim with the protocol that TLS negotiated, which it must read from the TLS library. If the connection did
        /// not negotiate HTTP/2, the transport also stops a second request before it is sent on that connection. This
        /// needs the callback of 7.80.
        static let offersHTTP2 = supportsHTTP2 && tlsLibrary != LH_TLS_OTHER

        /// Whether libcurl reports an error if a connection ends without close_notify, as it does with GnuTLS. With
        /// OpenSSL and its derivatives, the transport observes close_notify instead.
        static let reportsMissingCloseNotify = tlsLibrary == LH_TLS_GNUTLS

        /// The result of `curl_global_init`. It is called once in the process, under the lock of this static
        /// initializer. Before 7.84, no other libcurl function may be called at the same time. `curl_global_cleanup` is
        /// never called, because Foundation uses libcurl too.
        static let initialization = curl_global_init(everything)
        private static let everything = 3
    }
#endif
