#if os(Linux)
    import CLibcurl

    /// Behavior of libcurl that depends on its version. The documentation page "The transport" lists the reasons.
    enum CurlQuirks {
        private static let version = lh_curl_version()
        private static let tlsLibrary = lh_curl_tls_library()

        /// Whether an easy handle may carry a second transfer.
        ///
        /// Before 8.1.0 a reused handle keeps a pointer to the last header field of its previous response, which a response
        /// that begins with a folded line then writes to after it was freed (libcurl's issue 11101). A reused handle may
        /// also read the body of a POST from the callback of the previous PUT (CVE-2023-28322).
        static let reusesHandles = version >= 0x080100

        /// Whether libcurl percent-decodes the user and the password of a proxy, which it did before 8.8.0.
        static let decodesProxyCredentials = version < 0x080800

        /// Whether a parsed URL can be handed over together with a request target.
        ///
        /// Before 7.65 libcurl keeps the parsed URL itself and not a copy of it, and before 7.75 a proxy is asked for that
        /// URL and not for the request's target.
        static let takesParsedURLs = version >= 0x074B00

        /// Whether HTTP/2 may be offered over TLS.
        ///
        /// libcurl takes a connection for HTTP/2 when the status line claims it. The claim is compared with what TLS
        /// negotiated, which needs the TLS library's own account, and a connection that two requests would share is refused
        /// before the second request is sent, which needs the callback of 7.80.
        static let offersHTTP2 = version >= 0x075000 && tlsLibrary != LH_TLS_OTHER

        /// Whether libcurl reports a connection that ended without close_notify as an error, which GnuTLS has it do. With OpenSSL
        /// and its relatives, close_notify is observed instead.
        static let reportsMissingCloseNotify = tlsLibrary == LH_TLS_GNUTLS

        /// The result of `curl_global_init`. It is called once in the process, under the lock of this initializer, because libcurl
        /// allows no other call at that time before 7.84. It is never undone: Foundation uses libcurl too.
        static let initialization = curl_global_init(everything)
        private static let everything = 3
    }
#endif
