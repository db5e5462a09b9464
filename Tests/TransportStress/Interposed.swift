// SPDX-License-Identifier: MIT
#if os(Linux) && DEBUG
    import Foundation
    import Synchronization

    // The functions of libcurl that this program replaces by symbol interposition: it counts the calls, and lets
    // libcurl appear to be another build. Each calls libcurl's own function.

    enum Interposed {
        struct Calls {
            var count = 0
            var isRunning = false
            var hasOverlapped = false
        }

        static let globalInits = Mutex(Calls())
        /// What `curl_global_init` returns instead of libcurl's result.
        static let failure = Mutex<CInt?>(nil)
        /// The library that libcurl appears to be linked with instead of its TLS library.
        static let library = Mutex<String?>(nil)

        static func original<Function>(_ name: String, as type: Function.Type) -> Function {
            let next = UnsafeMutableRawPointer(bitPattern: -1)
            guard let function = dlsym(next, name) else { fail("libcurl has no \(name)") }
            return unsafeBitCast(function, to: type)
        }
    }

    @_cdecl("curl_global_init")
    func interposedGlobalInit(_ flags: Int) -> CInt {
        Interposed.globalInits.withLock { calls in
            calls.hasOverlapped = calls.hasOverlapped || calls.isRunning
            calls.count += 1
            calls.isRunning = true
        }
        usleep(20_000)  // So that an overlapping call would be seen.
        defer { Interposed.globalInits.withLock { $0.isRunning = false } }
        if let failure = Interposed.failure.withLock({ $0 }) { return failure }
        return Interposed.original("curl_global_init", as: (@convention(c) (Int) -> CInt).self)(flags)
    }

    @_cdecl("curl_version_info")
    func interposedVersionInfo(_ age: CInt) -> UnsafeMutableRawPointer? {
        typealias Function = @convention(c) (CInt) -> UnsafeMutableRawPointer?
        guard let info = Interposed.original("curl_version_info", as: Function.self)(age) else { return nil }
        guard let library = Interposed.library.withLock({ $0 }) else { return info }
        // The name of the TLS library is the sixth word. What follows is not read here.
        let copy = UnsafeMutableRawPointer.allocate(byteCount: 48, alignment: 8)
        copy.copyMemory(from: info, byteCount: 48)
        copy.storeBytes(of: strdup(library), toByteOffset: 40, as: UnsafeMutablePointer<CChar>?.self)
        return copy
    }
#endif
