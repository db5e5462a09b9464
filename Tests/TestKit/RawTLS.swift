// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    import Glibc

    /// The server's side of TLS for a ``RawServer``, by the system's OpenSSL, with the certificate for 127.0.0.1.
    ///
    /// A class, since it owns a context of OpenSSL's. `@unchecked`: nothing changes after `init`, and OpenSSL allows
    /// the use of a context by several threads.
    package final class RawTLS: @unchecked Sendable {
        typealias Object = OpaquePointer

        private let context: Object
        private let functions: Functions

        /// Nil when OpenSSL is not installed.
        ///
        /// - Parameters:
        ///   - choosesHTTP2: whether it chooses HTTP/2 by ALPN if the client offers it. Default: false, it chooses
        ///     nothing.
        ///   - maximumVersion: the newest version that it speaks. Default: 1.3.
        package init?(choosesHTTP2: Bool = false, maximumVersion: Version = .tls13) {
            guard let functions = Functions(), let context = functions.newContext(functions.serverMethod()) else {
                return nil
            }
            (self.functions, self.context) = (functions, context)
            let directory = FileManager.default.temporaryDirectory.appending(path: "raw-tls-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: directory) }
            let (certificate, key) = (directory.appending(path: "certificate"), directory.appending(path: "key"))
            do {
                try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
                try Data(Certificates.valid.utf8).write(to: certificate)
                try Data(Certificates.validKey.utf8).write(to: key)
            } catch { return nil }
            guard functions.useCertificate(context, certificate.path) == 1, functions.useKey(context, key.path, 1) == 1
            else {
                return nil
            }
            _ = functions.control(context, Self.setMaximumVersion, maximumVersion.rawValue, nil)
            if choosesHTTP2 { functions.setALPN(context, Self.chooseHTTP2, nil) }
        }

        /// The numbers of the versions on the wire.
        package enum Version: Int, Sendable {
            case tls12 = 0x0303
            case tls13 = 0x0304
        }

        private static let setMaximumVersion: CInt = 124

        private static let chooseHTTP2: Functions.ChooseALPN = { _, name, length, offered, count, _ in
            // Each name in the list has its length before it (RFC 7301, 3.1).
            let list = UnsafeBufferPointer(start: offered, count: Int(count))
            guard list.firstRange(of: [2, 0x68, 0x32]) != nil else { return RawTLS.choosesNothing }
            name?.pointee = RawTLS.http2
            length?.pointee = 2
            return 0
        }

        private static let choosesNothing: CInt = 3

        nonisolated(unsafe) private static let http2: UnsafePointer<UInt8> = {
            let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: 2)
            bytes.initialize(from: Array("h2".utf8), count: 2)
            return UnsafePointer(bytes)
        }()

        deinit { functions.freeContext(context) }

        /// Agrees on TLS on a socket. Returns nil when the client does not.
        func accept(_ descriptor: CInt) -> Session? {
            guard let session = functions.newSession(context) else { return nil }
            guard functions.setDescriptor(session, descriptor) == 1, functions.accept(session) == 1 else {
                functions.freeSession(session)
                return nil
            }
            return Session(session, self)
        }

        /// TLS on one socket. A class, since it owns a session of OpenSSL's. Only the thread of its connection uses it.
        final class Session {
            private let session: Object
            private let tls: RawTLS

            init(_ session: Object, _ tls: RawTLS) { (self.session, self.tls) = (session, tls) }

            deinit { tls.functions.freeSession(session) }

            func read(_ bytes: UnsafeMutableRawBufferPointer) -> Int {
                Int(tls.functions.read(session, bytes.baseAddress, CInt(clamping: bytes.count)))
            }

            func write(_ bytes: UnsafeRawBufferPointer) -> Int {
                Int(tls.functions.write(session, bytes.baseAddress, CInt(clamping: bytes.count)))
            }

            /// Sends close_notify.
            func end() { _ = tls.functions.shutDown(session) }
        }

        private struct Functions {
            typealias Free = @convention(c) (Object?) -> Void
            typealias Ask = @convention(c) (Object?) -> CInt

            let serverMethod: @convention(c) () -> Object?
            let newContext: @convention(c) (Object?) -> Object?
            let freeContext: Free
            let useCertificate: @convention(c) (Object?, UnsafePointer<CChar>) -> CInt
            let useKey: @convention(c) (Object?, UnsafePointer<CChar>, CInt) -> CInt
            typealias ChooseALPN =
                @convention(c) (
                    Object?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, UnsafeMutablePointer<UInt8>?,
                    UnsafePointer<UInt8>?, CUnsignedInt,
                    UnsafeMutableRawPointer?
                ) -> CInt
            let control: @convention(c) (Object?, CInt, Int, UnsafeMutableRawPointer?) -> Int
            let setALPN: @convention(c) (Object?, ChooseALPN, UnsafeMutableRawPointer?) -> Void
            let newSession: @convention(c) (Object?) -> Object?
            let freeSession: Free
            let setDescriptor: @convention(c) (Object?, CInt) -> CInt
            let accept: Ask
            let read: @convention(c) (Object?, UnsafeMutableRawPointer?, CInt) -> CInt
            let write: @convention(c) (Object?, UnsafeRawPointer?, CInt) -> CInt
            let shutDown: Ask

            init?() {
                guard let library = dlopen("libssl.so.3", RTLD_LAZY) ?? dlopen("libssl.so.1.1", RTLD_LAZY) else {
                    return nil
                }
                // Both versions have all functions.
                func load<Function>(_ name: String) -> Function {
                    unsafeBitCast(dlsym(library, name), to: Function.self)
                }
                (serverMethod, newContext) = (load("TLS_server_method"), load("SSL_CTX_new"))
                (freeContext, control) = (load("SSL_CTX_free"), load("SSL_CTX_ctrl"))
                (useCertificate, useKey) = (
                    load("SSL_CTX_use_certificate_chain_file"), load("SSL_CTX_use_PrivateKey_file")
                )
                (setALPN, newSession) = (load("SSL_CTX_set_alpn_select_cb"), load("SSL_new"))
                (freeSession, setDescriptor, accept) = (load("SSL_free"), load("SSL_set_fd"), load("SSL_accept"))
                (read, write, shutDown) = (load("SSL_read"), load("SSL_write"), load("SSL_shutdown"))
            }
        }
    }
#endif
