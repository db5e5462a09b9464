// SPDX-License-Identifier: MIT
import LetterheadFoundation

#if os(Linux)
    import CLibcurl
#endif

/// A thread for code that blocks, which tasks must not do.
package enum SystemThread {
    /// Starts a thread that runs a closure and ends. Returns false if the system cannot start one.
    ///
    /// - Parameter name: shown by debuggers, at most 15 bytes.
    package static func start(_ name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
        let work = Unmanaged.passRetained(Work(name: name, body: body))
        #if canImport(Darwin)
            var thread: pthread_t?
        #else
            var thread = pthread_t()
        #endif
        guard pthread_create(&thread, nil, { SystemThread.run($0) }, work.toOpaque()) == 0 else {
            work.release()
            return false
        }
        #if canImport(Darwin)
            if let thread { pthread_detach(thread) }
        #else
            pthread_detach(thread)
        #endif
        return true
    }

    /// What a new thread receives: an object, because the system passes one pointer.
    private final class Work: Sendable {
        let name: String
        let body: @Sendable () -> Void

        init(name: String, body: @escaping @Sendable () -> Void) { (self.name, self.body) = (name, body) }
    }

    private static func run(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let pointer else { return nil }
        let work = Unmanaged<Work>.fromOpaque(pointer).takeRetainedValue()
        #if os(Linux)
            lh_name_thread(work.name)
        #elseif canImport(Darwin)
            pthread_setname_np(work.name)
        #endif
        work.body()
        return nil
    }
}
