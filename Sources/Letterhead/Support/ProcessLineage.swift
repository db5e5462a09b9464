#if os(Linux)
    import Glibc
    import Synchronization

    /// Tells a process from one that was forked from it, which has a copy of its memory, shares its descriptors, and has none of
    /// its threads.
    enum ProcessLineage {
        private static let forks = Atomic(0)
        private static let isRegistered: Bool =
            pthread_atfork(nil, nil, { ProcessLineage.forks.add(1, ordering: .relaxed) }) == 0

        /// How many forks lie between this process and the one that first asked; 0 in that one.
        static var current: Int {
            _ = isRegistered
            return forks.load(ordering: .relaxed)
        }
    }
#endif
