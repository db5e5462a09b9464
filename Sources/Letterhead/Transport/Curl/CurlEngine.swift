#if os(Linux)
    import CLibcurl
    import Foundation
    import Synchronization

    /// Starts the thread that owns libcurl with the first transfer, and stops it when nobody holds the engine any more.
    /// A class, since it is the thread's owner.
    final class CurlEngine: Sendable {
        private let configuration: TransportConfiguration
        /// Where those go on that have waited for an answer.
        let pool = CurlPool()
        /// The thread's; nil before the first transfer.
        private let current = Mutex<CurlMailbox?>(nil)

        init(_ configuration: TransportConfiguration) { self.configuration = configuration }

        deinit { mailbox?.post(.stop) }

        private var mailbox: CurlMailbox? { current.withLock { $0 } }

        /// Leaves a command for the thread; false when it has ended.
        @discardableResult
        func post(_ command: CurlMailbox.Command) -> Bool { mailbox?.post(command) ?? false }

        /// Works at a transfer on the calling thread, for a short while, if there is nothing else to do; false when it has
        /// not begun with it.
        func drive(_ transfer: CurlTransfer) -> Bool {
            guard transfer.isQuick, let mailbox else { return false }
            return mailbox.lend { $0.drive(transfer) }
        }

        /// Receives a body on its reader's thread, for a short while, if that body is all that is under way; false when it
        /// has not.
        func drive(reading pipe: CurlReceivePipe) -> Bool {
            mailbox?.lend(toReaderOf: pipe) { $0.drive(reading: pipe) } ?? false
        }

        /// Goes on with a body for which there is room again: on its reader's thread, or else on the loop's own.
        func resume(reading transfer: CurlTransfer, _ pipe: CurlReceivePipe) {
            guard let mailbox else { return }
            if !mailbox.lend(toReaderOf: pipe, { $0.resume(reading: pipe) }) { mailbox.post(.resume(transfer)) }
        }

        /// Calls the thread, if it leaves a body to its reader, who waits now.
        func callThread(for pipe: CurlReceivePipe) { mailbox?.callThread(for: pipe) }

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
                current = CurlMailbox().flatMap { mailbox in
                    Self.startThread(Work(configuration, mailbox, pool)) ? mailbox : nil
                }
                return current != nil
            }
        }

        private static func startThread(_ work: Work) -> Bool {
            let context = Unmanaged.passRetained(work)
            var thread = pthread_t()
            guard pthread_create(&thread, nil, { CurlEngine.run($0) }, context.toOpaque()) == 0 else {
                context.release()
                return false
            }
            return true
        }

        /// What the thread works at: the mailbox and not the engine, which could else never end. A class, since its address is
        /// handed over.
        private final class Work {
            let configuration: TransportConfiguration
            let mailbox: CurlMailbox
            let pool: CurlPool

            init(_ configuration: TransportConfiguration, _ mailbox: CurlMailbox, _ pool: CurlPool) {
                (self.configuration, self.mailbox, self.pool) = (configuration, mailbox, pool)
            }
        }

        private static func run(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
            guard let context else { return nil }
            let work = Unmanaged<Work>.fromOpaque(context).takeRetainedValue()
            Thread.current.name = "letterhead.curl"
            // Signals are for the program's own threads, and a broken connection is an error here, not a SIGPIPE.
            var signals = sigset_t()
            sigfillset(&signals)
            pthread_sigmask(SIG_BLOCK, &signals, nil)
            var failure = TransportFailure.unsupported
            if curl_global_init(everything) == 0 {
                CurlExit.enter(work.mailbox)
                do throws(TransportFailure) {
                    try CurlLoop(work.configuration, mailbox: work.mailbox, pool: work.pool).run()
                    failure = .exhausted
                } catch {
                    failure = error
                }
            }
            for command in work.mailbox.close() { refuse(command, failure) }
            CurlExit.leave(work.mailbox)
            return nil
        }

        private static func refuse(_ command: CurlMailbox.Command, _ failure: TransportFailure) {
            switch command {
            case .start(let transfer): transfer.finish(.failure(failure))
            case .reset(let done): done.resume()
            case .standStill(let done): done()
            case .resume, .cancel, .stop: break
            }
        }

        private static let everything = 3
    }
#endif
