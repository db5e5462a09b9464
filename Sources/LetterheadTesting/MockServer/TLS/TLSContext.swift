// SPDX-License-Identifier: MIT
/// The server's TLS settings in OpenSSL's form. It creates each connection's session.
///
/// `@unchecked Sendable`: it is created on one thread and used only by the loop's thread to create sessions. Nothing
/// changes after `init`, and OpenSSL allows contexts to be used on any thread.
final class TLSContext: @unchecked Sendable {
    // This type is a class because it owns an OpenSSL object and frees it.
    let library: OpenSSL
    private let context: OpenSSL.Object

    // Constants in OpenSSL's stable ABI.
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
        // OpenSSL's default security level excludes versions before 1.2. A test that sets one requests it on purpose.
        if tls.versions.lowerBound < .v1_2 { _ = library.setCiphers(context, "DEFAULT:@SECLEVEL=0") }
        if let authority = tls.clientAuthority { try requireClients(signedBy: authority) }
    }

    deinit { library.freeContext(context) }

    /// Creates one connection's session, in the server's role.
    func makeSession() throws -> OpenSSL.Object {
        guard let session = library.newSession(context) else { throw library.failure("no TLS session") }
        library.setAcceptState(session)
        return session
    }

    private func use(certificate: String) throws {
        try withCertificates(certificate) { certificates in
            guard let first = certificates.first, library.useCertificate(context, first) == 1 else {
                throw library.failure("MockServer.TLS.certificate is not a usable certificate in PEM format")
            }
            for next in certificates.dropFirst() {
                _ = library.controlContext(context, Self.addChainCertificate, 1, UnsafeMutableRawPointer(next))
            }
        }
    }

    private func use(key: String) throws {
        guard let key = try withBuffer(key, { library.readKey($0, nil, nil, nil) }) else {
            throw library.failure("MockServer.TLS.key is not a private key in PEM format")
        }
        defer { library.freeKey(key) }
        guard library.useKey(context, key) == 1 else {
            throw library.failure("MockServer.TLS.key is not the key of the certificate")
        }
    }

    private func requireClients(signedBy authority: String) throws {
        try withCertificates(authority) { certificates in
            guard !certificates.isEmpty else {
                throw library.failure("MockServer.TLS.clientAuthority is not a certificate in PEM format")
            }
            for certificate in certificates {
                _ = library.addToStore(library.certificateStore(context), certificate)
            }
        }
        library.setVerify(context, Self.requireClientCertificate, nil)
        _ = library.setSessionContext(context, "MockServer", 10)
    }

    /// Calls a function with all certificates in a PEM string, and frees them afterwards.
    private func withCertificates(_ text: String, _ body: ([OpenSSL.Object]) throws -> Void) throws {
        var certificates: [OpenSSL.Object] = []
        try withBuffer(text) { buffer in
            while let certificate = library.readCertificate(buffer, nil, nil, nil) { certificates.append(certificate) }
        }
        // OpenSSL reports the text's end as an error.
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
