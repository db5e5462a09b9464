#if os(Linux)
    import CLibcurl
    import Dispatch
    import Glibc
    import Synchronization

    /// What callers ask of the thread that owns libcurl. A class: it is the one thing that both sides share.
    ///
    /// The thread is woken only when it sleeps, so that a busy thread costs its callers no system call. While nothing is
    /// under way it is parked, and a caller may borrow its loop for a transfer of its own.
    final class CurlMailbox: Sendable {
        enum Command: Sendable {
            case start(CurlTransfer)
            case resume(CurlTransfer)
            case cancel(CurlTransfer)
            case reset(CheckedContinuation<Void, Never>)
            case stop
            /// The process ends: say so, and never touch anything again.
            case standStill(@Sendable () -> Void)
        }

        private enum Phase {
            /// Somebody works the loop, and looks here again before it sleeps.
            case awake
            /// Somebody waits for the sockets.
            case asleep
            /// Nobody works the loop: the thread waits to be called.
            case parked
        }

        /// `@unchecked`: it is read under the lock only, in the step out of `.parked`, and whoever takes that step is the
        /// only one to touch the loop until it is parked again or the thread is called.
        private struct Rest: @unchecked Sendable {
            let loop: Unmanaged<CurlLoop>
        }

        private struct State {
            var commands: [Command] = []
            var phase = Phase.awake
            var rest: Rest?
            var isClosed = false
            /// How many more transfers go by way of the thread, and how many will when the next loan turns out badly.
            var restraint = 0
            var nextRestraint = 1
        }

        /// Becomes readable when there is something to do; the thread polls it beside its sockets.
        let wakeDescriptor: CInt
        /// Calls a parked thread.
        private let call = DispatchSemaphore(value: 0)
        private let state = Mutex(State())

        /// Nil when the process has no descriptor left.
        init?() {
            wakeDescriptor = eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK))
            guard wakeDescriptor >= 0 else { return nil }
        }

        deinit { if wakeDescriptor >= 0 { Glibc.close(wakeDescriptor) } }

        /// Whether somebody takes commands, or will.
        var isOpen: Bool { state.withLock { !$0.isClosed } }

        /// Leaves a command; false when nobody will take it any more.
        @discardableResult
        func post(_ command: Command) -> Bool {
            let (isTaken, phase) = state.withLock { state in
                guard !state.isClosed else { return (false, Phase.awake) }
                state.commands.append(command)
                defer { state.phase = .awake }
                return (true, state.phase)
            }
            switch phase {
            case .awake: break
            case .asleep: wake()
            case .parked: call.signal()
            }
            return isTaken
        }

        /// Takes all commands, in order; `commands` must be empty, and gives its memory in exchange.
        func take(into commands: inout [Command]) {
            state.withLock { swap(&$0.commands, &commands) }
        }

        /// Says that the loop is about to sleep; false when there is something to do first.
        func fallAsleep() -> Bool {
            state.withLock { state in
                guard state.commands.isEmpty else { return false }
                state.phase = .asleep
                return true
            }
        }

        func awake() {
            state.withLock { $0.phase = .awake }
        }

        /// Refuses commands from now on, and gives those that came too late to be taken.
        func close() -> [Command] {
            state.withLock { state in
                (state.isClosed, state.rest) = (true, nil)
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

    // MARK: Lending the loop

    extension CurlMailbox {
        /// Lets the thread wait until it is called, with its loop at rest; returns at once when there is something to do.
        func park(_ loop: CurlLoop) {
            let isParked = state.withLock { state in
                guard state.commands.isEmpty else { return false }
                (state.phase, state.rest) = (.parked, Rest(loop: .passUnretained(loop)))
                return true
            }
            if isParked { call.wait() }
        }

        /// Lends a loop at rest to the calling thread, which works it for a short while; false when there is none to lend,
        /// or when loans have not been worth their while lately.
        func lend(_ work: (CurlLoop) -> Void) -> Bool {
            let rest = state.withLock { state -> Rest? in
                guard state.phase == .parked, let rest = state.rest else { return nil }
                guard state.restraint == 0 else {
                    state.restraint -= 1
                    return nil
                }
                state.phase = .awake
                return rest
            }
            guard let rest else { return false }
            rest.loop._withUnsafeGuaranteedRef(work)
            return true
        }

        /// Ends a loan. A loop that still has something to do goes to the thread, and the next transfers too: either
        /// their server needs longer than a caller should wait, or there are many callers.
        func giveBack(isAtRest: Bool) {
            let mustCall = state.withLock { state in
                if isAtRest, state.commands.isEmpty {
                    (state.phase, state.nextRestraint) = (.parked, 1)
                    return false
                }
                state.restraint = state.nextRestraint
                state.nextRestraint = min(2 * state.nextRestraint, Self.mostRestraint)
                return true
            }
            if mustCall { call.signal() }
        }

        private static let mostRestraint = 256
    }
#endif
