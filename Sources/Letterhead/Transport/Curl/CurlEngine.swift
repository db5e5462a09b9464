#if os(Linux)
    import CLibcurl
    import Foundation
    import Glibc
    import Synchronization

    /// Starts the thread that owns libcurl with the first transfer, and stops it when nobody holds the engine any more.
    /// A class, since it is the thread's owner.
    final class CurlEngine: Sendable {
        private let configuration: TransportConfiguration
        /// The thread's; nil before the first transfer.
        private let current = Mutex<CurlMailbox?>(nil)

        init(_ configuration: TransportConfiguration) { self.configuration = configuration }

        deinit { mailbox?.post(.stop) }

        private var mailbox: CurlMailbox? { current.withLock { $0 } }

        /// Leaves a command for the thread; false when it has ended.
        @discardableResult
        func post(_ command: CurlMailbox.Command) -> Bool { mailbox?.post(command) ?? false }

        /// Ends what is under way.
        func reset() async {
            guard let mailbox else { return }
            await withCheckedContinuation { continuation in
                if !mailbox.post(.reset(continuation)) { continuation.resume() }
            }
        }

        /// Makes sure that a thread runs, another when the last one could not; false when there can be none now.
        func start() -> Bool {
            current.withLock { current in
                if let current, current.isOpen { return true }
                current = CurlMailbox(configuration).flatMap { Self.startThread($0) ? $0 : nil }
                return current != nil
            }
        }

        /// The thread holds the mailbox and not the engine, which could otherwise never end.
        private static func startThread(_ mailbox: CurlMailbox) -> Bool {
            let context = Unmanaged.passRetained(mailbox)
            var thread = pthread_t()
            guard pthread_create(&thread, nil, { CurlEngine.run($0) }, context.toOpaque()) == 0 else {
                context.release()
                return false
            }
            return true
        }

        private static func run(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
            guard let context else { return nil }
            let mailbox = Unmanaged<CurlMailbox>.fromOpaque(context).takeRetainedValue()
            Thread.current.name = "letterhead.curl"
            // Signals are for the program's own threads, and a broken connection is an error here, not a SIGPIPE.
            var signals = sigset_t()
            sigfillset(&signals)
            pthread_sigmask(SIG_BLOCK, &signals, nil)
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
            return nil
        }

        private static func refuse(_ command: CurlMailbox.Command, _ failure: TransportFailure) {
            switch command {
            case .start(let transfer): transfer.finish(.failure(failure))
            case .reset(let done): done.resume()
            case .park(let done): done()
            case .resume, .cancel, .stop: break
            }
        }
    }

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

        let configuration: TransportConfiguration

        /// Nil when the process has no descriptor left.
        init?(_ configuration: TransportConfiguration) {
            self.configuration = configuration
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
