// SPDX-License-Identifier: MIT
import LetterheadFoundation

#if os(Linux)
    import CLibcurl
#endif

/// A thread for code that blocks, which tasks must not do.
package enum SystemThread {
    /// Starts a thread that runs a closure and ends. Returns false if the system cannot start one. Call
    /// `pthread_detach(pthread_self())` in the closure, unless a different thread joins it.
    ///
    /// - Parameter name: shown by debuggers, at most 15 bytes.
    package static func start(_ name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
        // If the thread starts, it owns the reference.
        let work = unsafe Unmanaged.passRetained(Work(name: name, body: body))
        #if canImport(Darwin)
            var thread: pthread_t?
        #else
            var thread = pthread_t()
        #endif
        guard unsafe pthread_create(&thread, nil, { unsafe SystemThread.run($0) }, work.toOpaque()) == 0 else {
            unsafe work.release()
            return false
        }
        return true
    }

    /// The name and the closure that a new thread receives. It is an object, because the system passes one pointer.
    private final class Work: Sendable {
        let name: String
        let body: @Sendable () -> Void

        init(name: String, body: @escaping @Sendable () -> Void) { (self.name, self.body) = (name, body) }
    }

    private static func run(_ pointer: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let pointer = unsafe pointer else { return nil }
        let work = unsafe Unmanaged<Work>.fromOpaque(pointer).takeRetainedValue()
        #if os(Linux)
            unsafe lh_name_thread(work.name)
        #elseif canImport(Darwin)
            unsafe pthread_setname_np(work.name)
        #endif
        work.body()
        return nil
    }
}
