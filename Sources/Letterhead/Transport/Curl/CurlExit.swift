#if os(Linux)
    import Dispatch
    import Glibc
    import Synchronization

    /// Keeps a process from crashing as it exits: TLS frees what it holds while transfers still use it, and while threads
    /// that used it end, unless all of them stand still by then.
    ///
    /// What it knows is the process's, because its end is.
    enum CurlExit {
        private struct State {
            var mailboxes: [ObjectIdentifier: CurlMailbox] = [:]
            /// The thread that left last. It is ended when it has been joined: by the one that leaves next, or at the exit.
            var last: pthread_t?
            var isExiting = false
        }

        private static let state = Mutex(State())

        /// Registered once, and after libcurl has begun: what was registered last runs first.
        private static let isRegistered: Bool = atexit { CurlExit.standStill() } == 0

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

        /// Waits until all threads stand still, and for a second at most: one that hangs must not keep the process. The one
        /// that left last has nothing to do any more but to end.
        private static func standStill() {
            let (all, last) = state.withLock { state in
                state.isExiting = true
                defer { state.last = nil }
                return (Array(state.mailboxes.values), state.last)
            }
            let done = DispatchSemaphore(value: 0)
            let awaited = all.count { $0.post(.park { done.signal() }) }
            let limit = DispatchTime.now() + .seconds(1)
            for _ in 0..<awaited where done.wait(timeout: limit) == .timedOut { return }
            if let last { pthread_join(last, nil) }
        }
    }
#endif
