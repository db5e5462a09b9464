#if os(Linux)
    import Glibc
    import Synchronization

    /// Distinguishes a process from its forks. A fork has a copy of the memory, shares the descriptors, and has none of
    /// the threads.
    enum ProcessLineage {
        private static let forks = Atomic(0)
        private static let isRegistered: Bool =
            pthread_atfork(nil, nil, { ProcessLineage.forks.add(1, ordering: .relaxed) }) == 0

        /// The number of forks between this process and the process that called this first; 0 in that process.
        static var current: Int {
            _ = isRegistered
            return forks.load(ordering: .relaxed)
        }
    }
#endif
