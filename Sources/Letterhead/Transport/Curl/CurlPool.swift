#if os(Linux)
    import Dispatch
    import Synchronization

    /// Where tasks go on that have waited for an answer: on threads of the system's pool, as ever, but those that are
    /// answered together share a thread, one after the other.
    ///
    /// To wake a thread costs about as much as to read an answer. The system wakes one for each, and others to help it;
    /// here one is woken for all, and others only when one is not enough. A task that takes its time holds nobody up for
    /// long: whoever works the ``CurlLoop`` sees to that with ``help(at:)``. The order is that of the answers, whatever
    /// the priorities of the tasks. A class, since the threads share it.
    final class CurlPool: Sendable {
        private let turns = Mutex(CurlTurns<UnownedJob>())

        /// Lets a task go on that was held. It goes on where any task may, not where it was held: it has nothing to do there,
        /// and would only have to leave again. One that prefers an executor moves there.
        func run(_ job: UnownedJob) {
            if turns.withLock({ $0.take(job) }) { return }
            Self.queue.async { Self.goOn(with: job) }
        }

        /// Lets those share a thread that are answered in `body`.
        func gather(at now: UInt64, _ body: () -> Void) {
            turns.withLock { $0.beginGathering(at: now) }
            body()
            turns.withLock { $0.endGathering() }
            wake()
        }

        /// Wakes another thread when tasks have waited for long.
        ///
        /// - Returns: when to call it again; nil when nobody waits.
        func help(at now: UInt64) -> UInt64? {
            guard let next = turns.withLock({ $0.grow(at: now) }) else { return nil }
            wake()
            return turns.withLock { $0.isBehind } ? next : nil
        }

        private func wake() {
            while let first = turns.withLock({ $0.join() }) { work(from: first) }
        }

        /// Has a thread go through those whose turn it is; now and then it leaves its thread to others for once.
        private func work(from first: UnownedJob, after count: Int = 0) {
            Self.queue.async {
                var (job, count) = (first, count)
                repeat {
                    Self.goOn(with: job)
                    count += 1
                    guard let next = self.turns.withLock({ $0.next(after: count) }) else { return }
                    job = next
                } while !count.isMultiple(of: Self.mostInARow)
                self.work(from: job, after: count)
            }
        }

        private static func goOn(with job: UnownedJob) { job.runSynchronously(on: pool) }

        /// What a thread of the ``queue`` is to the runtime: any task may go on there that prefers no executor.
        private static let pool = globalConcurrentExecutor.asUnownedTaskExecutor()
        private static let queue = DispatchQueue.global()
        private static let mostInARow = 64
    }
#endif
