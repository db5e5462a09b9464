import Foundation

#if os(Linux) || os(macOS)
    extension Process {
        private static let starts = NSLock()

        /// Runs the program; one start at a time, since on Linux the open files of this process are gone through for each.
        func start() throws { try Self.starts.withLock { try run() } }
    }
#endif
