// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// The functions that a server needs from the system OpenSSL.
///
/// The library is loaded at run time, so tests without TLS don't require it. These functions have had the same ABI
/// since version 1.1. The library is never unloaded, because it may keep state for threads and for the process.
///
/// Creating and storing a value is safe. Each call of a function is marked as unsafe.
@safe package struct OpenSSL {
    typealias Object = OpaquePointer
    typealias Make = @convention(c) () -> Object?
    typealias Derive = @convention(c) (Object?) -> Object?
    typealias Free = @convention(c) (Object?) -> Void
    typealias Ask = @convention(c) (Object?) -> Int32
    typealias Join = @convention(c) (Object?, Object?) -> Int32
    typealias Read = @convention(c) (Object?, UnsafeMutableRawPointer?, Int32) -> Int32
    typealias Write = @convention(c) (Object?, UnsafeRawPointer?, Int32) -> Int32
    typealias Control = @convention(c) (Object?, Int32, Int, UnsafeMutableRawPointer?) -> Int
    typealias ReadPEM = @convention(c) (Object?, Object?, Object?, Object?) -> Object?
    typealias Text = @convention(c) (Object?) -> UnsafePointer<CChar>?

    let serverMethod: Make
    let newContext: Derive
    let freeContext: Free
    let controlContext: Control
    let useCertificate: Join
    let useKey: Join
    let setCiphers: @convention(c) (Object?, UnsafePointer<CChar>) -> Int32
    let setSessionContext: Write
    let setVerify: @convention(c) (Object?, Int32, Object?) -> Void
    let certificateStore: Derive
    let addToStore: Join

    let newSession: Derive
    let freeSession: Free
    let setBuffers: @convention(c) (Object?, Object?, Object?) -> Void
    let setAcceptState: Free
    let read: Read
    let write: Write
    let error: @convention(c) (Object?, Int32) -> Int32
    let shutDown: Ask
    let isFinished: Ask
    let version: Text
    let serverName: @convention(c) (Object?, Int32) -> UnsafePointer<CChar>?

    let memory: Make
    let newBuffer: Derive
    let newReadBuffer: @convention(c) (UnsafeRawPointer?, Int32) -> Object?
    let freeBuffer: Ask
    let readBuffer: Read
    let writeBuffer: Write
    let pending: @convention(c) (Object?) -> Int
    let readCertificate: ReadPEM
    let readKey: ReadPEM
    let freeCertificate: Free
    let freeKey: Free

    let lastError: @convention(c) () -> UInt
    let errorText: @convention(c) (UInt, UnsafeMutablePointer<CChar>?, Int) -> Void
    let clearErrors: @convention(c) () -> Void
}

extension OpenSSL {
    #if canImport(Darwin)
        private static let names = [
            "/opt/homebrew/lib/libssl.3.dylib", "/opt/homebrew/opt/openssl@3/lib/libssl.3.dylib",
            "/usr/local/lib/libssl.3.dylib", "/usr/local/opt/openssl@3/lib/libssl.3.dylib", "libssl.3.dylib",
        ]
    #else
        private static let names = ["libssl.so.3", "libssl.so.1.1"]
    #endif

    /// Whether the library can be loaded.
    package static var isInstalled: Bool { (try? OpenSSL()) != nil }

    /// Loads the library.
    ///
    /// - Throws: an error that names what is missing.
    init() throws {
        guard let library = unsafe Self.names.lazy.compactMap({ unsafe dlopen($0, RTLD_NOW | RTLD_LOCAL) }).first else {
            throw PlainFailure(
                "MockServer requires OpenSSL for TLS, but none of these could be opened: "
                    + Self.names.joined(separator: ", "))
        }
        func load<Function>(_ name: String) throws -> Function { try unsafe Self.load(name, library) }
        // The functions are loaded in the order of their declarations.
        unsafe serverMethod = try load("TLS_server_method")
        unsafe (newContext, freeContext) = try (load("SSL_CTX_new"), load("SSL_CTX_free"))
        unsafe (controlContext, useCertificate) = try (load("SSL_CTX_ctrl"), load("SSL_CTX_use_certificate"))
        unsafe (useKey, setCiphers) = try (load("SSL_CTX_use_PrivateKey"), load("SSL_CTX_set_cipher_list"))
        unsafe (setSessionContext, setVerify) = try (load("SSL_CTX_set_session_id_context"), load("SSL_CTX_set_verify"))
        unsafe (certificateStore, addToStore) = try (load("SSL_CTX_get_cert_store"), load("X509_STORE_add_cert"))
        unsafe (newSession, freeSession) = try (load("SSL_new"), load("SSL_free"))
        unsafe (setBuffers, setAcceptState) = try (load("SSL_set_bio"), load("SSL_set_accept_state"))
        unsafe (read, write, error) = try (load("SSL_read"), load("SSL_write"), load("SSL_get_error"))
        unsafe (shutDown, isFinished) = try (load("SSL_shutdown"), load("SSL_is_init_finished"))
        unsafe (version, serverName) = try (load("SSL_get_version"), load("SSL_get_servername"))
        unsafe (memory, newBuffer, newReadBuffer) = try (load("BIO_s_mem"), load("BIO_new"), load("BIO_new_mem_buf"))
        unsafe (freeBuffer, readBuffer, writeBuffer) = try (load("BIO_free"), load("BIO_read"), load("BIO_write"))
        unsafe (pending, readCertificate) = try (load("BIO_ctrl_pending"), load("PEM_read_bio_X509"))
        unsafe (readKey, freeCertificate) = try (load("PEM_read_bio_PrivateKey"), load("X509_free"))
        unsafe (freeKey, lastError) = try (load("EVP_PKEY_free"), load("ERR_get_error"))
        unsafe (errorText, clearErrors) = try (load("ERR_error_string_n"), load("ERR_clear_error"))
    }

    /// Returns an error with the OpenSSL reason for the last failure on this thread.
    func failure(_ what: String) -> PlainFailure {
        let code = lastError()
        defer { clearErrors() }
        guard code != 0 else { return PlainFailure(what) }
        var text = [CChar](repeating: 0, count: 256)
        unsafe errorText(code, &text, text.count)
        let reason = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return PlainFailure("\(what): \(reason)")
    }

    /// Returns a function by its name, with the declared type. The declarations above must match the library.
    private static func load<Function>(_ name: String, _ library: UnsafeMutableRawPointer) throws -> Function {
        guard let found = unsafe dlsym(library, name) else { throw PlainFailure("the system's OpenSSL has no \(name)") }
        return unsafe unsafeBitCast(found, to: Function.self)
    }
}
