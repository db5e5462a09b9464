// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

#if canImport(CryptoKit)
    import CryptoKit

    /// A CryptoKit key.
    struct PlatformKey: Sendable {
        private typealias Ed25519 = Curve25519.Signing
        private let format: KeyFormat
        let publicBytes: [UInt8]

        init(_ format: KeyFormat) throws {
            let bytes = format.bytes
            self.format = format
            do {
                let key: Data =
                    switch (format.algorithm, format.isPrivate) {
                    case (.ed25519, true): try Ed25519.PrivateKey(rawRepresentation: bytes).publicKey.rawRepresentation
                    case (.ed25519, false): try Ed25519.PublicKey(rawRepresentation: bytes).rawRepresentation
                    case (_, true): try P256.Signing.PrivateKey(rawRepresentation: bytes).publicKey.x963Representation
                    case (_, false): try P256.Signing.PublicKey(x963Representation: bytes).x963Representation
                    }
                publicBytes = Array(key)
            } catch { throw Failure(.misconfigured, "the key is not valid") }
        }

        func sign(_ message: [UInt8]) throws -> [UInt8] {
            guard format.algorithm == .ed25519 else {
                let key = try P256.Signing.PrivateKey(rawRepresentation: format.bytes)
                return Array(try key.signature(for: message).rawRepresentation)
            }
            return Array(try Ed25519.PrivateKey(rawRepresentation: format.bytes).signature(for: message))
        }

        func verifies(_ signature: [UInt8], of message: [UInt8]) throws -> Bool {
            guard format.algorithm == .ed25519 else {
                let key = try P256.Signing.PublicKey(x963Representation: publicBytes)
                let signature = try? P256.Signing.ECDSASignature(rawRepresentation: signature)
                return signature.map { key.isValidSignature($0, for: message) } ?? false
            }
            return try Ed25519.PublicKey(rawRepresentation: publicBytes).isValidSignature(signature, for: message)
        }
    }
#else
    /// A libcrypto key. `Sendable` is unchecked: a libcrypto key doesn't change after it is read, and several threads
    /// may use it at the same time.
    ///
    /// This object owns the key. Arrays are passed with their counts, and libcrypto copies what it keeps.
    @safe final class PlatformKey: @unchecked Sendable {
        private let key: LibCrypto.Object
        private let library: LibCrypto
        private let isEd25519: Bool
        let publicBytes: [UInt8]

        init(_ format: KeyFormat) throws {
            let library = try LibCrypto.loaded.get()
            self.library = library
            isEd25519 = format.algorithm == .ed25519
            let key = unsafe format.der.withUnsafeBufferPointer { bytes in
                var start = bytes.baseAddress
                return unsafe (format.isPrivate ? library.readPrivate : library.readPublic)(nil, &start, bytes.count)
            }
            guard let key = unsafe key else {
                library.clearErrors()
                throw Failure(.misconfigured, "the key is not valid")
            }
            unsafe self.key = key
            var written = [UInt8](repeating: 0, count: max(0, Int(unsafe library.writePublic(key, nil))))
            unsafe written.withUnsafeMutableBufferPointer { bytes in
                var start = bytes.baseAddress
                _ = unsafe library.writePublic(key, &start)
            }
            publicBytes = written.suffix(isEd25519 ? 32 : 65)
            guard publicBytes.count == (isEd25519 ? 32 : 65) else {
                throw Failure(.misconfigured, "the key is not valid")
            }
        }

        deinit { unsafe library.freeKey(key) }

        func sign(_ message: [UInt8]) throws -> [UInt8] {
            let context = unsafe library.newContext()
            defer { unsafe library.end(context) }
            var signature = [UInt8](repeating: 0, count: 128)
            var count = signature.count
            guard unsafe library.beginSigning(context, nil, isEd25519 ? nil : library.sha256(), nil, key) == 1,
                unsafe library.sign(context, &signature, &count, message, message.count) == 1
            else { throw Failure(.misconfigured, "libcrypto could not sign with this key") }
            let written = Array(signature.prefix(count))
            return isEd25519 ? written : Self.numbers(of: written)
        }

        func verifies(_ signature: [UInt8], of message: [UInt8]) throws -> Bool {
            guard signature.count == 64 else { return false }
            let signature = isEd25519 ? signature : Self.sequence(of: signature)
            let context = unsafe library.newContext()
            defer { unsafe library.end(context) }
            guard unsafe library.beginVerifying(context, nil, isEd25519 ? nil : library.sha256(), nil, key) == 1,
                unsafe library.verify(context, signature, signature.count, message, message.count) == 1
            else { return false }
            return true
        }

        /// Converts a DER sequence of two numbers, as libcrypto writes it, to 32 bytes for each number.
        private static func numbers(of der: [UInt8]) -> [UInt8] {
            let middle = 4 + Int(der[3])
            return [der[4..<middle], der[(middle + 2)...]].flatMap {
                [UInt8](repeating: 0, count: max(0, 32 - $0.count)) + $0.suffix(32)
            }
        }

        private static func sequence(of numbers: [UInt8]) -> [UInt8] {
            let parts = [numbers.prefix(32), numbers.suffix(32)].flatMap { number -> [UInt8] in
                let short = number.drop { $0 == 0 }
                let positive = short.first.map { $0 >= 0x80 } ?? true ? [0] + short : Array(short)
                return [0x02, UInt8(positive.count)] + positive
            }
            return [0x30, UInt8(parts.count)] + parts
        }
    }

    /// Functions in the system libcrypto, which libcurl usually loads anyway. The library is loaded at run time, so
    /// programs without such keys don't require it. It is never unloaded.
    ///
    /// Creating and storing this struct is safe. Each function call is marked as unsafe.
    @safe struct LibCrypto: Sendable {
        typealias Object = OpaquePointer
        typealias Bytes = UnsafePointer<UInt8>
        typealias Output = UnsafeMutablePointer<UInt8>
        typealias Read = @convention(c) (Object?, UnsafeMutablePointer<Bytes?>?, Int) -> Object?
        typealias Begin = @convention(c) (Object?, Object?, Object?, Object?, Object?) -> Int32

        let readPrivate, readPublic: Read
        let writePublic: @convention(c) (Object?, UnsafeMutablePointer<Output?>?) -> Int32
        let freeKey, freeContext: @convention(c) (Object?) -> Void
        let newContext, sha256: @convention(c) () -> Object?
        let beginSigning, beginVerifying: Begin
        let sign: @convention(c) (Object?, Output?, UnsafeMutablePointer<Int>?, Bytes?, Int) -> Int32
        let verify: @convention(c) (Object?, Bytes?, Int, Bytes?, Int) -> Int32
        let clearErrors: @convention(c) () -> Void

        func end(_ context: Object?) {
            unsafe freeContext(context)
            clearErrors()
        }

        static let loaded = Result { () throws(Failure) in try LibCrypto() }

        private init() throws(Failure) {
            let names = ["libcrypto.so.3", "libcrypto.so.1.1"]
            guard let library = unsafe names.lazy.compactMap({ unsafe dlopen($0, RTLD_NOW | RTLD_LOCAL) }).first else {
                throw Failure(
                    .misconfigured, "keys for Ed25519 and P-256 need OpenSSL 1.1.1 or later, which isn't installed")
            }
            // The types that are declared above must match the library.
            func load<Function>(_ name: String) throws(Failure) -> Function {
                guard let symbol = unsafe dlsym(library, name) else {
                    throw Failure(.misconfigured, "the system's libcrypto lacks the function \(name)")
                }
                return unsafe unsafeBitCast(symbol, to: Function.self)
            }
            unsafe (readPrivate, readPublic) = (try load("d2i_AutoPrivateKey"), try load("d2i_PUBKEY"))
            unsafe (writePublic, freeKey) = (try load("i2d_PUBKEY"), try load("EVP_PKEY_free"))
            unsafe (newContext, freeContext) = (try load("EVP_MD_CTX_new"), try load("EVP_MD_CTX_free"))
            unsafe (sha256, beginSigning) = (try load("EVP_sha256"), try load("EVP_DigestSignInit"))
            unsafe (sign, beginVerifying) = (try load("EVP_DigestSign"), try load("EVP_DigestVerifyInit"))
            unsafe (verify, clearErrors) = (try load("EVP_DigestVerify"), try load("ERR_clear_error"))
        }
    }
#endif
