// SPDX-License-Identifier: MIT
/// A connection with TLS. OpenSSL converts bytes in memory, and this type handles the socket, so no OpenSSL call blocks
/// or raises SIGPIPE.
final class TLSStream: ServerStream {
    // This type is a class because it owns an OpenSSL session and frees it. Only the loop's thread uses it.
    let socket: SystemSocket
    private(set) var traffic = (received: 0, sent: 0)
    private(set) var security: MockServer.Security?

    private let context: TLSContext
    private let session: OpenSSL.Object
    // Both buffers belong to the session: the bytes received from the client, and the bytes to send.
    private let incoming: OpenSSL.Object
    private let outgoing: OpenSSL.Object
    private let cipher = UnsafeMutableRawBufferPointer.allocate(byteCount: 32_768, alignment: 16)
    private var unsent: ArraySlice<UInt8> = []

    // What SSL_get_error returns in OpenSSL's stable ABI.
    private static let wantsRead: Int32 = 2
    private static let wantsWrite: Int32 = 3
    private static let isClosed: Int32 = 6

    private var library: OpenSSL { context.library }

    init(_ socket: SystemSocket, context: TLSContext) throws {
        self.socket = socket
        self.context = context
        let library = context.library
        let session = try context.makeSession()
        guard let incoming = library.newBuffer(library.memory()), let outgoing = library.newBuffer(library.memory())
        else {
            library.freeSession(session)
            throw library.failure("no TLS buffers")
        }
        library.setBuffers(session, incoming, outgoing)
        (self.session, self.incoming, self.outgoing) = (session, incoming, outgoing)
    }

    deinit {
        library.freeSession(session)
        cipher.deallocate()
    }

    var hasUnsentBytes: Bool { !unsent.isEmpty }

    func receive(into buffer: UnsafeMutableRawBufferPointer) throws -> Int? {
        while true {
            library.clearErrors()
            let count = library.read(session, buffer.baseAddress, Int32(clamping: buffer.count))
            let error = count > 0 ? 0 : library.error(session, count)
            let failure = count > 0 || error == Self.wantsRead ? nil : library.failure("TLS")
            // A handshake may have produced output even if it has failed, such as an alert.
            try flush()
            noteSecurity()
            if count > 0 { return Int(count) }
            if error == Self.isClosed { return 0 }
            if let failure { throw failure }
            guard let received = try socket.receive(into: cipher) else { return nil }
            guard received > 0 else { return 0 }
            traffic.received += received
            _ = library.writeBuffer(incoming, cipher.baseAddress, Int32(received))
        }
    }

    func transmit(_ bytes: UnsafeRawBufferPointer) throws -> Int {
        try flush()
        guard !hasUnsentBytes else { return 0 }
        library.clearErrors()
        let count = library.write(session, bytes.baseAddress, Int32(min(bytes.count, 262_144)))
        guard count > 0 else {
            let error = library.error(session, count)
            guard error == Self.wantsRead || error == Self.wantsWrite else { throw library.failure("TLS") }
            return 0
        }
        try flush()
        return Int(count)
    }

    func flush() throws {
        while true {
            while hasUnsentBytes {
                let sent = try unsent.withUnsafeBytes { try socket.transmit($0) }
                traffic.sent += sent
                unsent = unsent.dropFirst(sent)
                if sent == 0 { return }
            }
            let waiting = library.pending(outgoing)
            guard waiting > 0 else { return }
            unsent = ArraySlice(
                [UInt8](unsafeUninitializedCapacity: waiting) { bytes, count in
                    count = max(0, Int(library.readBuffer(outgoing, bytes.baseAddress, Int32(clamping: waiting))))
                })
        }
    }

    func endOutput() {
        _ = library.shutDown(session)
        try? flush()
        socket.endOutput()
    }

    private func noteSecurity() {
        guard security == nil, library.isFinished(session) == 1 else { return }
        let version = library.version(session).map { String(cString: $0) } ?? ""
        security = MockServer.Security(
            version: version, serverName: library.serverName(session, 0).map { String(cString: $0) })
    }
}
