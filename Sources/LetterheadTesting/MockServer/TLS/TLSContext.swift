// SPDX-License-Identifier: MIT
/// The server's TLS settings in OpenSSL's form. It creates each connection's session.
///
/// `@unchecked Sendable`: it is created on one thread and used only by the loop's thread to create sessions. Nothing
/// changes after `init`, and OpenSSL allows contexts to be used on any thread.
///
/// It owns the context. OpenSSL copies or retains what it keeps.
@safe final class TLSContext: @unchecked Sendable {
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
        guard let context = unsafe library.newContext(library.serverMethod()) else {
            throw library.failure("no TLS context")
        }
        unsafe self.context = context
        try use(certificate: tls.certificate)
        try use(key: tls.key)
        _ = unsafe library.controlContext(context, Self.setMinimumVersion, tls.versions.lowerBound.rawValue, nil)
        _ = unsafe library.controlContext(context, Self.setMaximumVersion, tls.versions.upperBound.rawValue, nil)
        // OpenSSL's default security level excludes versions before 1.2. A test that sets one requests it on purpose.
        if tls.versions.lowerBound < .v1_2 { _ = unsafe library.setCiphers(context, "DEFAULT:@SECLEVEL=0") }
        if let authority = tls.clientAuthority { try requireClients(signedBy: authority) }
    }

    deinit { unsafe library.freeContext(context) }

    /// Creates one connection's session, in the server's role.
    func makeSession() throws -> OpenSSL.Object {
        guard let session = unsafe library.newSession(context) else { throw library.failure("no TLS session") }
        unsafe library.setAcceptState(session)
        return unsafe session
    }

    private func use(certificate: String) throws {
        try withCertificates(certificate) { certificates in
            guard let first = unsafe certificates.first, unsafe library.useCertificate(context, first) == 1 else {
                throw library.failure("MockServer.TLS.certificate is not a usable certificate in PEM format")
            }
            unsafe certificates.dropFirst().forEach {
                _ = unsafe library.controlContext(context, Self.addChainCertificate, 1, UnsafeMutableRawPointer($0))
            }
        }
    }

    private func use(key: String) throws {
        guard let key = try withBuffer(key, { unsafe library.readKey($0, nil, nil, nil) }) else {
            throw library.failure("MockServer.TLS.key is not a private key in PEM format")
        }
        defer { unsafe library.freeKey(key) }
        guard unsafe library.useKey(context, key) == 1 else {
            throw library.failure("MockServer.TLS.key is not the key of the certificate")
        }
    }

    private func requireClients(signedBy authority: String) throws {
        try withCertificates(authority) { certificates in
            guard unsafe !certificates.isEmpty else {
                throw library.failure("MockServer.TLS.clientAuthority is not a certificate in PEM format")
            }
            unsafe certificates.forEach { _ = unsafe library.addToStore(library.certificateStore(context), $0) }
        }
        unsafe library.setVerify(context, Self.requireClientCertificate, nil)
        _ = unsafe library.setSessionContext(context, "MockServer", 10)
    }

    /// Calls a function with all certificates in a PEM string, and frees them afterwards.
    @safe private func withCertificates(_ text: String, _ body: ([OpenSSL.Object]) throws -> Void) throws {
        var certificates: [OpenSSL.Object] = unsafe []
        try withBuffer(text) { buffer in
            while let next = unsafe library.readCertificate(buffer, nil, nil, nil) { unsafe certificates.append(next) }
        }
        // OpenSSL reports the text's end as an error.
        library.clearErrors()
        defer { unsafe certificates.forEach { unsafe library.freeCertificate($0) } }
        try unsafe body(certificates)
    }

    @safe private func withBuffer<Result>(_ text: String, _ body: (OpenSSL.Object) throws -> Result) throws -> Result {
        var text = text
        return try text.withUTF8 { bytes in
            guard let buffer = unsafe library.newReadBuffer(bytes.baseAddress, Int32(clamping: bytes.count)) else {
                throw library.failure("no buffer")
            }
            defer { _ = unsafe library.freeBuffer(buffer) }
            return try unsafe body(buffer)
        }
    }
}
