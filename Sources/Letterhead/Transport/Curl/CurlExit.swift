#if os(Linux)
    import Dispatch
    import Glibc
    import Synchronization

    /// Keeps a process from crashing as it exits: the TLS library frees its memory while threads still use it, unless all of
    /// them are parked by then.
    ///
    /// Its state is that of the process, because the exit is. A process that was forked has none of the threads, and its exit
    /// waits for none.
    enum CurlExit {
        private struct State {
            /// The threads of this process and, in a process that was forked, those of the parent.
            var mailboxes: [ObjectIdentifier: CurlMailbox] = [:]
            /// The thread that left last. It is ended when it has been joined: by the one that leaves next, or at the exit.
            var last: pthread_t?
            var isExiting = false
        }

        private static let state = Mutex(State())

        /// Registered once, and after libcurl has begun: what was registered last runs first.
        private static let isRegistered: Bool = atexit { CurlExit.parkAll() } == 0

        /// Remembers a thread that uses libcurl. Call it on that thread, once libcurl has begun.
        static func enter(_ mailbox: CurlMailbox) {
            _ = isRegistered
            let isExiting = state.withLock { state in
                state.mailboxes[ObjectIdentifier(mailbox)] = mailbox
                return state.isExiting
            }
            while isExiting { pause() }
        }

        /// The last that such a thread does, with its mailbox closed. It must be joinable.
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

        /// Parks all threads, and waits for a second at most: one that hangs must not keep the process. The one that left last
        /// only has to end.
        private static func parkAll() {
            guard let (all, last) = mailboxesAtExit() else { return }
            let done = DispatchSemaphore(value: 0)
            let awaited = all.count { $0.post(.park { done.signal() }) }
            let limit = DispatchTime.now() + .seconds(1)
            for _ in 0..<awaited where done.wait(timeout: limit) == .timedOut { return }
            if let last { pthread_join(last, nil) }
        }

        /// Nil when the lock stays taken: by a thread that was not forked with the process.
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
