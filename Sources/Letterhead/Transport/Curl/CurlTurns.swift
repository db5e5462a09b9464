#if os(Linux)
    /// Whose turn it is of those that share a few threads, and how many threads that should be.
    ///
    /// Times are in nanoseconds, of a clock that never goes back.
    struct CurlTurns<Job> {
        private var jobs: [(job: Job, since: UInt64)] = []
        /// How many of them have had their turn, or have it now.
        private var begun = 0
        /// Since when those that come share; nil when each goes its own way.
        private var gathering: UInt64?
        private var threads = 0
        /// How many threads may be at it.
        private var roomForThreads = 1
        /// When there was made room for another one last.
        private var grownAt: UInt64 = 0
        /// Whether a thread has gone on to another turn since the last one joined.
        private var hasMoved = false

        /// Whether somebody waits for a turn.
        var isBehind: Bool { begun < jobs.count }

        mutating func beginGathering(at now: UInt64) { gathering = now }

        mutating func endGathering() { gathering = nil }

        /// Takes a job in; false when it goes its own way.
        mutating func take(_ job: Job) -> Bool {
            guard let gathering else { return false }
            jobs.append((job, gathering))
            return true
        }

        /// Gives one more thread its first turn; nil when there are enough.
        mutating func join() -> Job? {
            guard isBehind, threads < roomForThreads else { return nil }
            (threads, hasMoved) = (threads + 1, false)
            return begin()
        }

        /// Gives a thread its next turn; nil when it may rest.
        ///
        /// - Parameter turns: how many it has had. For one alone it need not have come, unless the others are all kept by
        ///   theirs.
        mutating func next(after turns: Int) -> Job? {
            if isBehind {
                hasMoved = true
                return begin()
            }
            threads -= 1
            if turns == 1, threads == 0 || hasMoved { roomForThreads = max(1, roomForThreads - 1) }
            return nil
        }

        /// Makes room for one more thread when the first in line has waited for long.
        ///
        /// - Returns: when to look again; nil when nobody waits.
        mutating func grow(at now: UInt64) -> UInt64? {
            guard isBehind else { return nil }
            if now >= patienceEnds { (grownAt, roomForThreads) = (now, threads + 1) }
            return patienceEnds
        }

        private var patienceEnds: UInt64 { max(jobs[begun].since, grownAt) + Self.patience }

        private mutating func begin() -> Job {
            let job = jobs[begun].job
            begun += 1
            if !isBehind {
                jobs.removeAll(keepingCapacity: jobs.capacity <= Self.mostKept)
                begun = 0
            } else if begun >= Self.mostKept, 2 * begun >= jobs.count {
                jobs.removeFirst(begun)
                begun = 0
            }
            return job
        }

        private static var patience: UInt64 { 200_000 }
        /// How many jobs there may be room for that nobody needs.
        private static var mostKept: Int { 256 }
    }
#endif
