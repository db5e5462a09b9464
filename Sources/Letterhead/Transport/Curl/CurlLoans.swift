#if os(Linux)
    /// Whether it has been worth its while to lend the loop.
    struct CurlLoans {
        /// How many more go by way of the thread, and how many will when the next loan turns out badly.
        private var restraint = 0
        private var nextRestraint = 1

        mutating func mayBegin() -> Bool {
            guard restraint > 0 else { return true }
            restraint -= 1
            return false
        }

        mutating func end(_ isGood: Bool) {
            guard !isGood else { return nextRestraint = 1 }
            restraint = nextRestraint
            nextRestraint = min(2 * nextRestraint, Self.mostRestraint)
        }

        private static let mostRestraint = 256
    }
#endif
