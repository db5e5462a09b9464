#if os(Linux)
    import CLibcurl
    import Glibc
    import Synchronization

    /// What callers ask of the thread that owns libcurl. A class: it is the one thing that both sides share.
    ///
    /// The thread is woken only when it sleeps, so that a busy thread costs its callers no system call.
    final class CurlMailbox: Sendable {
        enum Command: Sendable {
            case start(CurlTransfer)
            case resume(CurlTransfer)
            case cancel(CurlTransfer)
            case reset(CheckedContinuation<Void, Never>)
            case stop
            /// The process ends: call the closure, and never touch anything again.
            case park(@Sendable () -> Void)
        }

        private struct State {
            var commands: [Command] = []
            /// Whether the thread waits for its sockets, or is about to.
            var isAsleep = false
            var isClosed = false
        }

        /// Becomes readable when there is a command; the thread polls it beside its sockets.
        let wakeDescriptor: CInt
        private let state = Mutex(State())
        /// The thread belongs to the process that started it.
        private let lineage = ProcessLineage.current

        /// Nil when the process has no descriptor left.
        init?() {
            wakeDescriptor = eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK))
            guard wakeDescriptor >= 0 else { return nil }
        }

        deinit { if wakeDescriptor >= 0 { Glibc.close(wakeDescriptor) } }

        /// Whether commands are taken.
        var isOpen: Bool { belongsToProcess && state.withLock { !$0.isClosed } }

        /// False in a process that was forked: the thread is not there, and the descriptor wakes that of the parent.
        var belongsToProcess: Bool { lineage == ProcessLineage.current }

        /// Leaves a command; false when the thread has ended.
        @discardableResult
        func post(_ command: Command) -> Bool {
            guard belongsToProcess else { return false }
            let (isTaken, mustWake) = state.withLock { state in
                guard !state.isClosed else { return (false, false) }
                state.commands.append(command)
                defer { state.isAsleep = false }
                return (true, state.isAsleep)
            }
            if mustWake { wake() }
            return isTaken
        }

        /// Takes all commands, in order; `commands` must be empty, and its memory is used in exchange.
        func take(into commands: inout [Command]) {
            state.withLock { swap(&$0.commands, &commands) }
        }

        /// Notes that the thread is about to sleep; false when there is a command to take first.
        func fallAsleep() -> Bool {
            state.withLock { state in
                state.isAsleep = state.commands.isEmpty
                return state.isAsleep
            }
        }

        func wakeUp() {
            state.withLock { $0.isAsleep = false }
        }

        /// Refuses commands from now on, and returns those that came too late to be taken.
        func close() -> [Command] {
            state.withLock { state in
                state.isClosed = true
                defer { state.commands = [] }
                return state.commands
            }
        }

        private func wake() {
            var one: UInt64 = 1
            // It can only fail when the counter is full, and then the thread is being woken anyway.
            _ = write(wakeDescriptor, &one, MemoryLayout<UInt64>.size)
        }
    }
#endif
