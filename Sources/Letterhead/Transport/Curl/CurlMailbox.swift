#if os(Linux)
    import CLibcurl
    import Dispatch
    import Glibc
    import Synchronization

    /// What callers ask of the thread that owns libcurl. A class: it is the one thing that both sides share.
    ///
    /// The thread is woken only when it sleeps, so that a busy thread costs its callers no system call. While nothing is
    /// under way it is parked, and a caller may borrow its loop for a transfer of its own. While one body arrives whose
    /// reader is busy with what it has got it is parked too, and the reader borrows the loop for more.
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

        fileprivate enum Phase {
            /// Somebody works the loop, and looks here again before it sleeps.
            case awake
            /// Somebody waits for the sockets.
            case asleep
            /// Nobody works the loop: the thread waits to be called. There is nothing to do, or only a body to receive
            /// whose reader is busy.
            case parked
        }

        /// `@unchecked`: it is read and written under the lock only. Its loop is used by the one alone who takes the step
        /// out of `.parked`, until it is parked again or the thread is called.
        fileprivate struct Rest: @unchecked Sendable {
            let loop: Unmanaged<CurlLoop>
            /// Where a body arrives that is left to its reader.
            var pipe: CurlReceivePipe?
        }

        fileprivate struct State {
            var commands: [Command] = []
            var phase = Phase.awake
            var rest: Rest?
            var isClosed = false
            var transferLoans = CurlLoans()
            var readerLoans = CurlLoans()
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
        /// What is still under way on a loop that is given back.
        enum Left {
            case nothing
            /// One body, whose reader is busy with what it has got.
            case body(CurlReceivePipe)
            case more
        }

        /// Lets the thread wait until it is called, with its loop at rest; false when there is something to do first.
        ///
        /// - Parameter pipe: where the one body arrives that is under way; its reader receives it when it comes back. Nil
        ///   when nothing is under way.
        func park(_ loop: CurlLoop, besides pipe: CurlReceivePipe? = nil) -> Bool {
            let isParked = state.withLock { state in
                guard state.commands.isEmpty, pipe == nil || state.readerLoans.mayBegin() else { return false }
                (state.phase, state.rest) = (.parked, Rest(loop: .passUnretained(loop), pipe: pipe))
                return true
            }
            guard isParked else { return false }
            // The reader came back meanwhile: either it sees that the thread is parked, or it is seen here.
            if let pipe, pipe.hasReader, takeBack(pipe) { return false }
            call.wait()
            return true
        }

        /// Calls the thread, if it leaves a body to its reader, who waits now.
        func callThread(for pipe: CurlReceivePipe) {
            if takeBack(pipe) { call.signal() }
        }

        private func takeBack(_ pipe: CurlReceivePipe) -> Bool {
            state.withLock { state in
                guard state.phase == .parked, state.rest?.pipe === pipe else { return false }
                state.phase = .awake
                return true
            }
        }

        /// Lends a loop at rest to the calling thread, which works it for a short while; false when there is none to lend,
        /// or when loans have not been worth their while lately.
        ///
        /// - Parameter pipe: where the body arrives whose reader asks; nil is for a new transfer.
        func lend(toReaderOf pipe: CurlReceivePipe? = nil, _ work: (CurlLoop) -> Void) -> Bool {
            let rest = state.withLock { state -> Rest? in
                guard state.phase == .parked, let rest = state.rest, rest.pipe === pipe else { return nil }
                guard pipe != nil || state.transferLoans.mayBegin() else { return nil }
                state.phase = .awake
                return rest
            }
            guard let rest else { return false }
            rest.loop._withUnsafeGuaranteedRef(work)
            return true
        }

        /// Ends the loan of a transfer. A loop that still has something to do goes to the thread, and the next transfers
        /// too: either their server needs longer than a caller should wait, or there are many callers.
        func giveBack(_ left: Left) {
            let mustCall = state.withLock { state in
                let isAtRest = state.giveBack(left)
                state.transferLoans.end(isAtRest)
                return !isAtRest
            }
            if mustCall { call.signal() }
        }

        /// Ends the loan of a reader. One that is still without bytes is going to wait, and calls the thread then.
        func giveBack(_ left: Left, afterReading pipe: CurlReceivePipe, wasWorthwhile: Bool) {
            let mustCall = state.withLock { state in
                state.readerLoans.end(wasWorthwhile)
                return !state.giveBack(left)
            }
            // As where the thread parks: a second reader may have come.
            if mustCall || pipe.hasReader && takeBack(pipe) { call.signal() }
        }
    }

    extension CurlMailbox.State {
        /// Puts the loop to rest; false when somebody must go on with it.
        fileprivate mutating func giveBack(_ left: CurlMailbox.Left) -> Bool {
            guard commands.isEmpty else { return false }
            switch left {
            case .nothing: rest?.pipe = nil
            case .body(let pipe): rest?.pipe = pipe
            case .more: return false
            }
            phase = .parked
            return true
        }
    }
#endif
