/// The server's side of TLS: its certificate, its key and its rules, from which each connection is made.
///
/// `@unchecked Sendable`: it is built on one thread, then only used to make sessions, by the loop's thread; nothing in
/// it changes after `init`, and OpenSSL lets contexts be used on any thread.
final class TLSContext: @unchecked Sendable {
    // A class, because it owns an object of OpenSSL's and frees it.
    let library: OpenSSL
    private let context: OpenSSL.Object

    // Numbers of OpenSSL's, which never change.
    private static let addChainCertificate: Int32 = 89
    private static let setMinimumVersion: Int32 = 123
    private static let setMaximumVersion: Int32 = 124
    private static let requireClientCertificate: Int32 = 3

    init(_ tls: MockServer.TLS) throws {
        library = try OpenSSL()
        guard let context = library.newContext(library.serverMethod()) else { throw library.failure("no TLS context") }
        self.context = context
        try use(certificate: tls.certificate)
        try use(key: tls.key)
        _ = library.controlContext(context, Self.setMinimumVersion, tls.versions.lowerBound.rawValue, nil)
        _ = library.controlContext(context, Self.setMaximumVersion, tls.versions.upperBound.rawValue, nil)
        // What is older than 1.2 is below OpenSSL's usual level; a test asks for it on purpose.
        if tls.versions.lowerBound < .v1_2 { _ = library.setCiphers(context, "DEFAULT:@SECLEVEL=0") }
        if let authority = tls.clientAuthority { try requireClients(signedBy: authority) }
    }

    deinit { library.freeContext(context) }

    /// A session for one connection, in the server's role.
    func makeSession() throws -> OpenSSL.Object {
        guard let session = library.newSession(context) else { throw library.failure("no TLS session") }
        library.setAcceptState(session)
        return session
    }

    private func use(certificate: String) throws {
        try withCertificates(certificate) { certificates in
            guard let first = certificates.first, library.useCertificate(context, first) == 1 else {
                throw library.failure("MockServer.TLS.certificate is no certificate in PEM that can be used")
            }
            for next in certificates.dropFirst() {
                _ = library.controlContext(context, Self.addChainCertificate, 1, UnsafeMutableRawPointer(next))
            }
        }
    }

    private func use(key: String) throws {
        guard let key = try withBuffer(key, { library.readKey($0, nil, nil, nil) }) else {
            throw library.failure("MockServer.TLS.key is no private key in PEM")
        }
        defer { library.freeKey(key) }
        guard library.useKey(context, key) == 1 else {
            throw library.failure("MockServer.TLS.key is not the key of the certificate")
        }
    }

    private func requireClients(signedBy authority: String) throws {
        try withCertificates(authority) { certificates in
            guard !certificates.isEmpty else {
                throw library.failure("MockServer.TLS.clientAuthority is no certificate in PEM")
            }
            for certificate in certificates {
                _ = library.addToStore(library.certificateStore(context), certificate)
            }
        }
        library.setVerify(context, Self.requireClientCertificate, nil)
        _ = library.setSessionContext(context, "MockServer", 10)
    }

    /// All certificates of a PEM text, which are freed afterwards.
    private func withCertificates(_ text: String, _ body: ([OpenSSL.Object]) throws -> Void) throws {
        var certificates: [OpenSSL.Object] = []
        try withBuffer(text) { buffer in
            while let certificate = library.readCertificate(buffer, nil, nil, nil) { certificates.append(certificate) }
        }
        // The end of the text is told as an error.
        library.clearErrors()
        defer { for certificate in certificates { library.freeCertificate(certificate) } }
        try body(certificates)
    }

    private func withBuffer<Result>(_ text: String, _ body: (OpenSSL.Object) throws -> Result) throws -> Result {
        var text = text
        return try text.withUTF8 { bytes in
            guard let buffer = library.newReadBuffer(bytes.baseAddress, Int32(clamping: bytes.count)) else {
                throw library.failure("no buffer")
            }
            defer { _ = library.freeBuffer(buffer) }
            return try body(buffer)
        }
    }
}
