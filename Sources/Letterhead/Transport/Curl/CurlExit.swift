#if os(Linux)
    import Dispatch
    import Glibc
    import Synchronization

    /// Keeps a process from crashing as it exits: TLS frees what it holds while transfers still use it, unless their
    /// threads stand still by then.
    ///
    /// What it knows is the process's, because its end is.
    enum CurlExit {
        private static let mailboxes = Mutex<[ObjectIdentifier: CurlMailbox]>([:])

        /// Registered once, and after libcurl has begun: what was registered last runs first.
        private static let isRegistered: Bool = atexit { CurlExit.standStill() } == 0

        /// Remembers a thread that uses libcurl. Call it on that thread, once libcurl has begun.
        static func add(_ mailbox: CurlMailbox) {
            _ = isRegistered
            mailboxes.withLock { $0[ObjectIdentifier(mailbox)] = mailbox }
        }

        static func remove(_ mailbox: CurlMailbox) {
            mailboxes.withLock { $0[ObjectIdentifier(mailbox)] = nil }
        }

        /// Waits until all threads stand still, and for a second at most: one that hangs must not keep the process.
        private static func standStill() {
            let all = mailboxes.withLock { Array($0.values) }
            let done = DispatchSemaphore(value: 0)
            let awaited = all.count { $0.post(.standStill { done.signal() }) }
            let limit = DispatchTime.now() + .seconds(1)
            for _ in 0..<awaited where done.wait(timeout: limit) == .timedOut { return }
        }
    }
#endif
