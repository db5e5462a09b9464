// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// A connection with TLS. OpenSSL converts bytes in memory, and this type uses the socket, so no OpenSSL call blocks or
/// raises SIGPIPE.
///
/// The type owns the session. Session memory is used only within OpenSSL calls.
@safe final class TLSStream: ServerStream {
    // This type is a class because it owns an OpenSSL session and frees it. Only the loop thread uses it.
    let socket: SystemSocket
    private(set) var traffic = (received: 0, sent: 0)
    private(set) var security: MockServer.Security?

    private let context: TLSContext
    private let session: OpenSSL.Object
    // The session owns both buffers. One has the bytes from the client, and the other has the bytes to send.
    private let incoming: OpenSSL.Object
    private let outgoing: OpenSSL.Object
    private var cipher = [UInt8](repeating: 0, count: 32_768)
    private var unsent: ArraySlice<UInt8> = []

    // The results of SSL_get_error in the stable OpenSSL ABI.
    private static let wantsRead: Int32 = 2
    private static let wantsWrite: Int32 = 3
    private static let isClosed: Int32 = 6

    private var library: OpenSSL { context.library }

    init(_ socket: SystemSocket, context: TLSContext) throws {
        self.socket = socket
        self.context = context
        let library = context.library
        let session = try unsafe context.makeSession()
        guard let incoming = unsafe library.newBuffer(library.memory()),
            let outgoing = unsafe library.newBuffer(library.memory())
        else {
            unsafe library.freeSession(session)
            throw library.failure("no TLS buffers")
        }
        unsafe library.setBuffers(session, incoming, outgoing)
        unsafe (self.session, self.incoming, self.outgoing) = (session, incoming, outgoing)
    }

    deinit { unsafe library.freeSession(session) }

    var hasUnsentBytes: Bool { !unsent.isEmpty }

    func receive(into buffer: inout [UInt8], atMost limit: Int) throws -> Int? {
        while true {
            library.clearErrors()
            let count = unsafe library.read(session, &buffer, Int32(clamping: min(limit, buffer.count)))
            let error = unsafe count > 0 ? 0 : library.error(session, count)
            let failure = count > 0 || error == Self.wantsRead ? nil : library.failure("TLS")
            // Even a failed handshake may have produced output, such as an alert.
            try flush()
            noteSecurity()
            if count > 0 { return Int(count) }
            if error == Self.isClosed { return 0 }
            if let failure { throw failure }
            guard let received = try socket.receive(into: &cipher) else { return nil }
            guard received > 0 else { return 0 }
            traffic.received += received
            _ = unsafe library.writeBuffer(incoming, cipher, Int32(received))
        }
    }

    func transmit(_ bytes: Data) throws -> Int {
        try flush()
        guard !hasUnsentBytes else { return 0 }
        library.clearErrors()
        let part = bytes.prefix(262_144)
        let count = unsafe part.withUnsafeBytes { unsafe library.write(session, $0.baseAddress, Int32($0.count)) }
        guard count > 0 else {
            let error = unsafe library.error(session, count)
            guard error == Self.wantsRead || error == Self.wantsWrite else { throw library.failure("TLS") }
            return 0
        }
        try flush()
        return Int(count)
    }

    func flush() throws {
        while true {
            while hasUnsentBytes {
                let sent = try socket.transmit(unsent)
                traffic.sent += sent
                unsent = unsent.dropFirst(sent)
                if sent == 0 { return }
            }
            let waiting = unsafe library.pending(outgoing)
            guard waiting > 0 else { return }
            var bytes = [UInt8](repeating: 0, count: waiting)
            let count = unsafe library.readBuffer(outgoing, &bytes, Int32(clamping: waiting))
            unsent = bytes.prefix(max(0, Int(count)))
        }
    }

    func endOutput() {
        _ = unsafe library.shutDown(session)
        try? flush()
        socket.endOutput()
    }

    private func noteSecurity() {
        guard security == nil, unsafe library.isFinished(session) == 1 else { return }
        let version = unsafe library.version(session).map { unsafe String(cString: $0) } ?? ""
        security = unsafe MockServer.Security(
            version: version, serverName: library.serverName(session, 0).map { unsafe String(cString: $0) })
    }
}

/// The TLS settings for a server as an OpenSSL context. It creates the session for each connection.
///
/// `@unchecked Sendable`: the context is created on one thread, and only the loop thread uses it to create sessions.
/// Nothing changes after `init`, and OpenSSL allows contexts to be used on any thread.
///
/// The type owns the context. OpenSSL copies or retains everything that it keeps.
@safe final class TLSContext: @unchecked Sendable {
    // This type is a class because it owns an OpenSSL object and frees it.
    let library: OpenSSL
    private let context: OpenSSL.Object

    // Constants in the stable OpenSSL ABI.
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
        // By default, OpenSSL refuses versions before 1.2. A test that sets such a version needs it.
        if tls.versions.lowerBound < .v1_2 { _ = unsafe library.setCiphers(context, "DEFAULT:@SECLEVEL=0") }
        if let authority = tls.clientAuthority { try requireClients(signedBy: authority) }
    }

    deinit { unsafe library.freeContext(context) }

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

    /// Calls a function with all certificates in a PEM string, and frees them afterward.
    @safe private func withCertificates(_ text: String, _ body: ([OpenSSL.Object]) throws -> Void) throws {
        var certificates: [OpenSSL.Object] = unsafe []
        try withBuffer(text) { buffer in
            while let next = unsafe library.readCertificate(buffer, nil, nil, nil) { unsafe certificates.append(next) }
        }
        // OpenSSL reports the end of text as an error.
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
