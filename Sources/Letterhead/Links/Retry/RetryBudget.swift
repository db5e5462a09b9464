// SPDX-License-Identifier: MIT
import Synchronization

extension Retry {
    /// Limits the retries to each origin (scheme, host and port), so that clients don't overload a server that already
    /// fails.
    ///
    /// First attempts are always sent. A retry over the budget isn't sent, also not later. A retry takes tokens only if
    /// the attempt before it failed or received a 5xx, 408, 425 or 429. So the budget doesn't limit a validator that
    /// polls until a 202 becomes a 200.
    public struct Budget: Sendable, Hashable {
        /// The initial and maximum number of tokens.
        private var capacity = Double.infinity
        private var cost = 0.0
        private var timeoutCost = 0.0
        /// What each success adds to a ratio. Nil for a quota.
        private var perSuccess: Double?

        /// A quota of 500 tokens: a retry costs 5, or 10 after a timeout.
        public static let standard = Retry.Budget.quota()

        /// No limit, so retries are never refused for lack of budget.
        public static let unlimited = Retry.Budget()

        /// Retries consume tokens, and successes return them.
        ///
        /// A retry consumes `cost`, or `timeoutCost` after a timeout. If it succeeds, it returns what it consumed, and
        /// any other success adds one token. An origin that fails permanently receives `capacity / cost` retries.
        ///
        /// - Parameters:
        ///   - capacity: the initial and maximum number of tokens. A negative number counts as zero. Default: 500.
        ///   - cost: what a retry consumes. A negative number counts as zero. Default: 5.
        ///   - timeoutCost: what a retry after a timeout consumes. A negative number counts as zero. Default: 10.
        public static func quota(capacity: Int = 500, cost: Int = 5, timeoutCost: Int = 10) -> Retry.Budget {
            Retry.Budget(
                capacity: Double(max(capacity, 0)), cost: Double(max(cost, 0)), timeoutCost: Double(max(timeoutCost, 0))
            )
        }

        /// Allows retries while most requests succeed.
        ///
        /// Each failure consumes one token, even if no retry follows, and each success adds `perSuccess`. Retries are
        /// allowed while more than half of `capacity` is left. So they stop when there are more than `perSuccess`
        /// failures for each success.
        ///
        /// - Parameters:
        ///   - capacity: the initial and maximum number of tokens. A negative number counts as zero.
        ///   - perSuccess: what each success adds. A negative number and NaN count as zero.
        public static func ratio(capacity: Int, perSuccess: Double) -> Retry.Budget {
            Retry.Budget(
                capacity: Double(max(capacity, 0)), cost: 1, timeoutCost: 1, perSuccess: max(0, perSuccess))
        }
    }
}

extension Retry.Budget {
    /// The tokens of all origins with recent failures, for all loads of a link. An origin with full tokens has no
    /// entry.
    final class Accounts: Sendable {
        /// The maximum number of entries. If there would be more, the origin with the most tokens is removed.
        private static let mostOrigins = 1_000

        private let budget: Retry.Budget
        private let tokens = Mutex<[HTTPOrigin?: Double]>([:])

        init(_ budget: Retry.Budget) { self.budget = budget }

        var count: Int { tokens.withLock { $0.count } }

        /// The tokens left for an origin. Nil if the budget has no limit.
        func tokensLeft(for origin: HTTPOrigin?) -> Double? {
            budget == .unlimited ? nil : tokens.withLock { $0[origin] } ?? budget.capacity
        }

        /// Takes the cost of a retry after a failure that deserves one. Returns nil if too few tokens are left.
        ///
        /// Here and below, the request is the request of the load. If its client has been reset, the tokens do not
        /// change.
        func takeRetry(for request: HTTPRequest, to origin: HTTPOrigin?, afterTimeout isTimeout: Bool) -> Double? {
            if budget == .unlimited { return 0 }
            let cost = isTimeout ? budget.timeoutCost : budget.cost
            let isRatio = budget.perSuccess != nil
            return change(origin, for: request) { tokens in
                let left = tokens - cost
                let isGranted = isRatio ? left > budget.capacity / 2 : left >= 0
                // A ratio also counts failures without a granted retry.
                if isGranted || isRatio { tokens = max(0, left) }
                return isGranted ? cost : nil
            }
        }

        /// Counts a failure that deserved a retry but was not retried, for a reason other than the budget.
        func fail(for request: HTTPRequest, at origin: HTTPOrigin?) {
            if budget.perSuccess != nil { change(origin, for: request) { $0 = max(0, $0 - 1) } }
        }

        /// Counts a load that succeeded. `cost` is what the last retry of the load took, or nil if no retry took
        /// tokens.
        func succeed(for request: HTTPRequest, to origin: @autoclosure () -> HTTPOrigin?, cost: Double?) {
            guard budget != .unlimited, !tokens.withLock({ $0.isEmpty }) else { return }
            change(origin(), for: request) { $0 += budget.perSuccess ?? cost ?? 1 }
        }

        func wipe() { tokens.withLock { $0.removeAll() } }

        private func change<Answer>(
            _ origin: HTTPOrigin?, for request: HTTPRequest, _ change: (inout Double) -> Answer
        ) -> Answer {
            tokens.withLock { tokens in
                var left = tokens[origin] ?? budget.capacity
                let answer = change(&left)
                request.unlessReset {
                    let isFull = left >= budget.capacity
                    if !isFull, tokens[origin] == nil, tokens.count >= Self.mostOrigins,
                        let fullest = tokens.max(by: { $0.value < $1.value })
                    {
                        tokens[fullest.key] = nil
                    }
                    tokens[origin] = isFull ? nil : left
                }
                return answer
            }
        }
    }
}
