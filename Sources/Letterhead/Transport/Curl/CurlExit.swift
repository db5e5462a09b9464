#if os(Linux)
    import Dispatch
    import Glibc
    import Synchronization

    /// Prevents a crash when the process exits. The TLS library frees its memory at the exit, while threads may still
    /// use it. All threads that use libcurl are therefore parked first.
    ///
    /// The state is global, because a process exits as a whole. A forked process has none of the threads, so its exit
    /// does not wait for them.
    enum CurlExit {
        private struct State {
            /// The mailboxes of the threads of this process and, in a forked process, those of the parent.
            var mailboxes: [ObjectIdentifier: CurlMailbox] = [:]
            /// The thread that left last. It must be joined: by the next thread that leaves, or at the exit.
            var last: pthread_t?
            var isExiting = false
        }

        private static let state = Mutex(State())

        /// Registers `parkAll` once, after libcurl has been initialized. Exit handlers run in reverse order of their
        /// registration, so the threads are parked before the TLS library frees its memory.
        private static let isRegistered: Bool = atexit { CurlExit.parkAll() } == 0

        /// Records a thread that uses libcurl. Call this on that thread, after libcurl has been initialized.
        static func enter(_ mailbox: CurlMailbox) {
            _ = isRegistered
            let isExiting = state.withLock { state in
                state.mailboxes[ObjectIdentifier(mailbox)] = mailbox
                return state.isExiting
            }
            while isExiting { pause() }
        }

        /// Removes a thread. Call this as the last action of the thread, which must be joinable and must have closed
        /// its mailbox.
        static func leave(_ mailbox: CurlMailbox) {
            let (isExiting, previous) = state.withLock { state in
                state.mailboxes[ObjectIdentifier(mailbox)] = nil
                guard !state.isExiting else { return (true, nil as pthread_t?) }
                defer { state.last = pthread_self() }
                return (false, state.last)
            }
            while isExiting { pause() }
            if let previous { pthread_join(previous, nil) }
        }

        /// Parks all threads, and joins the one that left last, which only has to return. Waits for at most one second,
        /// so that a thread that hangs does not prevent the exit.
        private static func parkAll() {
            guard let (all, last) = mailboxesAtExit() else { return }
            let done = DispatchSemaphore(value: 0)
            let awaited = all.count { $0.post(.park { done.signal() }) }
            let limit = DispatchTime.now() + .seconds(1)
            for _ in 0..<awaited where done.wait(timeout: limit) == .timedOut { return }
            if let last { pthread_join(last, nil) }
        }

        /// Returns the mailboxes and the thread that left last; nil if the lock cannot be acquired. In a forked
        /// process, a thread that does not exist in the fork may hold the lock forever.
        private static func mailboxesAtExit() -> (all: [CurlMailbox], last: pthread_t?)? {
            for _ in 0..<100 {
                let found = state.withLockIfAvailable { state -> ([CurlMailbox], pthread_t?) in
                    state.isExiting = true
                    defer { state.last = nil }
                    let isForked = ProcessLineage.current != 0
                    return (state.mailboxes.values.filter(\.belongsToProcess), isForked ? nil : state.last)
                }
                if let found { return found }
                if ProcessLineage.current != 0 { return nil }
                usleep(1000)
            }
            return nil
        }
    }
#endif
