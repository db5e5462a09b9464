#if os(Linux)
    import CLibcurl
    import Foundation
    import Synchronization

    /// Starts the thread that owns libcurl with the first transfer, and stops it when nobody holds the engine any more.
    /// A class, since it is the thread's owner.
    final class CurlEngine: Sendable {
        private let mailbox = CurlMailbox()
        private let configuration: TransportConfiguration
        private let isStarted = Mutex(false)

        init(_ configuration: TransportConfiguration) { self.configuration = configuration }

        deinit { mailbox.post(.stop) }

        /// Leaves a command for the thread; false when it has ended.
        @discardableResult
        func post(_ command: CurlMailbox.Command) -> Bool { mailbox.post(command) }

        /// Works at a transfer on the calling thread, for a short while, if there is nothing else to do; false when it has
        /// not begun with it.
        func drive(_ transfer: CurlTransfer) -> Bool {
            guard transfer.isQuick else { return false }
            return mailbox.lend { $0.drive(transfer) }
        }

        /// Ends what is under way.
        func reset() async {
            guard isStarted.withLock({ $0 }) else { return }
            await withCheckedContinuation { continuation in
                if !mailbox.post(.reset(continuation)) { continuation.resume() }
            }
        }

        /// Makes sure that the thread runs.
        func start() {
            let isNew = isStarted.withLock { isStarted in
                defer { isStarted = true }
                return !isStarted
            }
            guard isNew else { return }
            // The thread holds the mailbox and not the engine, which could else never end.
            Thread.detachNewThread { [mailbox, configuration] in Self.work(configuration, mailbox) }
        }

        private static func work(_ configuration: TransportConfiguration, _ mailbox: CurlMailbox) {
            Thread.current.name = "letterhead.curl"
            // Signals are for the program's own threads, and a broken connection is an error here, not a SIGPIPE.
            var signals = sigset_t()
            sigfillset(&signals)
            pthread_sigmask(SIG_BLOCK, &signals, nil)
            if curl_global_init(Self.everything) == 0 {
                CurlExit.add(mailbox)
                CurlLoop(configuration, mailbox: mailbox)?.run()
                CurlExit.remove(mailbox)
            }
            for command in mailbox.close() { refuse(command) }
        }

        private static func refuse(_ command: CurlMailbox.Command) {
            switch command {
            case .start(let transfer): transfer.finish(.failure(.closed))
            case .reset(let done): done.resume()
            case .standStill(let done): done()
            case .resume, .cancel, .stop: break
            }
        }

        private static let everything = 3
    }
#endif
