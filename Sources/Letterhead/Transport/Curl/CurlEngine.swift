// SPDX-License-Identifier: MIT
#if os(Linux)
    import CLibcurl
    import Dispatch
    import LetterheadFoundation
    import Synchronization

    /// Owns the thread that uses libcurl. Starts the thread before the first transfer, and stops it when the engine is
    /// released.
    final class CurlEngine: Sendable {
        private let configuration: TransportConfiguration
        /// The mailbox of the thread. Nil before a thread was started.
        private let current = Mutex<CurlMailbox?>(nil)

        init(_ configuration: TransportConfiguration) { self.configuration = configuration }

        deinit { mailbox?.post(.stop) }

        private var mailbox: CurlMailbox? { current.withLock { $0 } }

        /// Posts a command to the thread. Returns false if no thread accepts it.
        @discardableResult
        func post(_ command: CurlMailbox.Command) -> Bool { mailbox?.post(command) ?? false }

        /// Cancels the transfers of clients that have been reset, and waits until they have ended.
        ///
        /// - Parameter transfersWithoutClient: whether transfers without a client are cancelled, too.
        func sweep(transfersWithoutClient: Bool) async {
            guard let mailbox else { return }
            await withCheckedContinuation { continuation in
                if !mailbox.post(.sweep(transfersWithoutClient: transfersWithoutClient, continuation)) {
                    continuation.resume()
                }
            }
        }

        /// Starts a thread unless the current one accepts commands. Returns false if no thread can be started.
        func start() -> Bool {
            current.withLock { current in
                if let current, current.isOpen { return true }
                // The thread retains the mailbox and not the engine, which could otherwise never be released.
                current = CurlMailbox(configuration).flatMap { mailbox in
                    SystemThread.start("letterhead.curl") { Self.run(mailbox) } ? mailbox : nil
                }
                return current != nil
            }
        }

        private static func run(_ mailbox: CurlMailbox) {
            // This thread blocks all signals. The other threads of the process handle them, and a broken connection
            // causes an error instead of a SIGPIPE. The system uses the set only within the calls.
            var signals = sigset_t()
            unsafe sigfillset(&signals)
            unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
            let failure: TransportFailure
            CurlExit.enter(mailbox)
            do throws(TransportFailure) {
                try CurlLoop(mailbox).run()
                failure = .exhausted
            } catch {
                failure = error
            }
            for command in mailbox.close() { refuse(command, failure) }
            CurlExit.leave(mailbox)
        }

        private static func refuse(_ command: CurlMailbox.Command, _ failure: TransportFailure) {
            switch command {
            case .start(let transfer): transfer.finish(.failure(failure))
            case .sweep(_, let done): done.resume()
            case .park(let done): done()
            case .resume, .cancel, .stop: break
            }
        }
    }

    /// The commands from callers to the thread that owns libcurl.
    ///
    /// A command wakes the thread only if it sleeps. While the thread is busy, posting a command needs no system call.
    final class CurlMailbox: Sendable {
        enum Command: Sendable {
            case start(Exchange)
            case resume(Exchange)
            case cancel(Exchange)
            case sweep(transfersWithoutClient: Bool, CheckedContinuation<Void, Never>)
            case stop
            /// The process exits: the thread calls the closure, then pauses forever.
            case park(@Sendable () -> Void)
        }

        private struct State {
            var commands: [Command] = []
            /// Whether the thread waits for its sockets, or is about to.
            var isAsleep = false
            var isClosed = false
        }

        /// A descriptor that becomes readable to wake the thread. The thread polls it together with its sockets.
        let wakeDescriptor: CInt
        private let state = Mutex(State())
        /// The process that created the mailbox. In a fork of that process, the thread doesn't exist.
        private let lineage = ProcessLineage.current

        let configuration: TransportConfiguration

        /// Creates a mailbox. Returns nil if the process has no descriptor left.
        init?(_ configuration: TransportConfiguration) {
            self.configuration = configuration
            wakeDescriptor = eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK))
            guard wakeDescriptor >= 0 else { return nil }
        }

        deinit { if wakeDescriptor >= 0 { Glibc.close(wakeDescriptor) } }

        var isOpen: Bool { belongsToProcess && state.withLock { !$0.isClosed } }

        /// Whether this process created the mailbox. In a fork, the thread doesn't exist, and the descriptor would wake
        /// the thread of the parent process.
        var belongsToProcess: Bool { lineage == ProcessLineage.current }

        /// Adds a command, and wakes the thread if it sleeps. Returns false if the mailbox is closed or belongs to a
        /// parent process.
        @discardableResult
        func post(_ command: Command) -> Bool {
            guard belongsToProcess else { return false }
            let (isTaken, mustWake) = state.withLock { state in
                guard !state.isClosed else { return (false, false) }
                state.commands.append(command)
                defer { state.isAsleep = false }
                return (true, state.isAsleep)
            }
            if mustWake {
                var one: UInt64 = 1
                // The system reads the eight bytes. This fails only if the counter is full. In that case, earlier
                // writes have already made the descriptor readable.
                _ = unsafe write(wakeDescriptor, &one, MemoryLayout<UInt64>.size)
            }
            return isTaken
        }

        /// Moves all commands into `commands`, the oldest first. `commands` must be empty, because the mailbox reuses
        /// its memory.
        func take(into commands: inout [Command]) {
            state.withLock { swap(&$0.commands, &commands) }
        }

        /// Records that the thread is about to sleep. Returns false if there are commands to execute first.
        func fallAsleep() -> Bool {
            state.withLock { state in
                state.isAsleep = state.commands.isEmpty
                return state.isAsleep
            }
        }

        func wakeUp() {
            state.withLock { $0.isAsleep = false }
        }

        /// Closes the mailbox, and returns the commands that the thread hasn't taken.
        func close() -> [Command] {
            state.withLock { state in
                state.isClosed = true
                defer { state.commands = [] }
                return state.commands
            }
        }
    }

    /// Prevents a crash when the process exits. The TLS library frees its memory at the exit, while threads may still
    /// use it. All threads that use libcurl are therefore parked first.
    ///
    /// The state is global, because a process exits as a whole. A forked process doesn't have the threads, so its exit
    /// doesn't wait for them.
    enum CurlExit {
        private struct State {
            /// The mailboxes of the threads of this process and, in a forked process, also those of the parent process.
            var mailboxes: [ObjectIdentifier: CurlMailbox] = [:]
            /// The thread that left last. It must be joined: by the next thread that leaves, or at the exit.
            var last: pthread_t?
            var isExiting = false
        }

        private static let state = Mutex(State())

        /// Registers `parkAll` once, after libcurl has been initialized. Exit handlers run in reverse order, so the
        /// threads are parked before the TLS library frees its memory.
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

        /// Removes a thread. Call this on that thread, as its last action. The thread must be joinable and must have
        /// closed its mailbox.
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
        /// so that a thread that hangs doesn't prevent the exit.
        private static func parkAll() {
            guard let (all, last) = mailboxesAtExit() else { return }
            let done = DispatchSemaphore(value: 0)
            let awaited = all.count { $0.post(.park { done.signal() }) }
            let limit = DispatchTime.now() + .seconds(1)
            for _ in 0..<awaited where done.wait(timeout: limit) == .timedOut { return }
            if let last { pthread_join(last, nil) }
        }

        /// Returns the mailboxes and the thread that left last, or nil if the lock cannot be acquired. In a forked
        /// process, a thread that doesn't exist in the fork may hold the lock forever.
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

    /// Distinguishes a process from its forks. A fork has a copy of the memory, shares the descriptors, and lacks the
    /// threads.
    enum ProcessLineage {
        private static let forks = Atomic(0)
        private static let isRegistered: Bool =
            pthread_atfork(nil, nil, { ProcessLineage.forks.add(1, ordering: .relaxed) }) == 0

        /// The number of forks between this process and the first one that called this, where it is 0.
        static var current: Int {
            _ = isRegistered
            return forks.load(ordering: .relaxed)
        }
    }
#endif
