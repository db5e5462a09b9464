#if os(Linux)
    import CLibcurl
    import Foundation
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
                current = CurlMailbox().flatMap { mailbox in
                    Self.startThread(Work(configuration, mailbox)) ? mailbox : nil
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

            init(_ configuration: TransportConfiguration, _ mailbox: CurlMailbox) {
                (self.configuration, self.mailbox) = (configuration, mailbox)
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
                    try CurlLoop(work.configuration, mailbox: work.mailbox).run()
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
            case .park(let done): done()
            case .resume, .cancel, .stop: break
            }
        }

        private static let everything = 3
    }
#endif
