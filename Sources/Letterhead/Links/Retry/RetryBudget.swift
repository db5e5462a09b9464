import Synchronization

extension Retry {
    /// A limit on the retries to each origin, so that clients do not overload a server that is already failing.
    ///
    /// Each origin (scheme, host and port) has its own budget. First attempts are always sent; a retry over the budget is
    /// not sent later either. A retry is counted if the attempt before it indicates a failing server: the attempt failed, or
    /// received a 5xx, 408, 425 or 429. A validator that polls until a 202 becomes a 200 is not limited by the budget.
    public struct Budget: Sendable, Hashable {
        private enum Rule: Hashable {
            case unlimited
            case quota(capacity: Double, cost: Double, timeoutCost: Double)
            case ratio(capacity: Double, perSuccess: Double)
        }

        private let rule: Rule

        /// A quota of 500 tokens: a retry costs 5, or 10 after a timeout.
        public static let standard = Retry.Budget.quota()

        /// No limit.
        public static let unlimited = Retry.Budget(rule: .unlimited)

        /// A budget of tokens that retries consume. A retry that succeeds returns the tokens that it has consumed. A
        /// success without such a retry adds one token. An origin that fails permanently receives `capacity / cost`
        /// retries.
        ///
        /// - Parameters:
        ///   - capacity: the maximum and initial number of tokens. Default: 500; a negative number counts as zero.
        ///   - cost: the tokens that a retry costs. Default: 5; a negative number counts as zero.
        ///   - timeoutCost: the tokens that a retry after a timeout costs. Default: 10; a negative number counts as zero.
        public static func quota(capacity: Int = 500, cost: Int = 5, timeoutCost: Int = 10) -> Retry.Budget {
            Retry.Budget(
                rule: .quota(
                    capacity: Double(max(capacity, 0)), cost: Double(max(cost, 0)),
                    timeoutCost: Double(max(timeoutCost, 0))))
        }

        /// A budget of tokens: each failure consumes one token, and each success adds `perSuccess` tokens. Retries are
        /// allowed while more than half of `capacity` is left, so they stop when there are more than `perSuccess` failures
        /// for each success. A failure also counts if it is not retried, for example because no retry is left.
        ///
        /// - Parameters:
        ///   - capacity: the maximum and initial number of tokens; a negative number counts as zero.
        ///   - perSuccess: the tokens that a success adds. A negative number or NaN counts as zero.
        public static func ratio(capacity: Int, perSuccess: Double) -> Retry.Budget {
            Retry.Budget(rule: .ratio(capacity: Double(max(capacity, 0)), perSuccess: max(0, perSuccess)))
        }
    }
}

extension Retry.Budget {
    /// The maximum number of tokens.
    private var capacity: Double {
        switch rule {
        case .unlimited: .infinity
        case .quota(let capacity, _, _), .ratio(let capacity, _): capacity
        }
    }

    /// The tokens of all origins with recent failures. An origin with all of its tokens is removed.
    ///
    /// All loads of a link share it.
    final class Accounts: Sendable {
        /// The maximum number of origins. Beyond it, the origin with the most tokens is removed.
        private static let mostOrigins = 1_000

        private let budget: Retry.Budget
        private let tokens = Mutex<[HTTPOrigin?: Double]>([:])

        init(_ budget: Retry.Budget) { self.budget = budget }

        /// The number of origins that lack tokens.
        var count: Int { tokens.withLock { $0.count } }

        /// The tokens that are left for an origin; nil if the budget has no limit.
        func tokensLeft(for origin: HTTPOrigin?) -> Double? {
            budget == .unlimited ? nil : tokens.withLock { $0[origin] } ?? budget.capacity
        }

        /// Takes the cost of a retry after a failure that deserves it. Returns nil if not enough tokens are left.
        func takeRetry(to origin: HTTPOrigin?, afterTimeout isTimeout: Bool) -> Double? {
            switch budget.rule {
            case .unlimited: 0
            case .quota(_, let cost, let timeoutCost):
                change(origin) { tokens in
                    let cost = isTimeout ? timeoutCost : cost
                    guard tokens >= cost else { return nil }
                    tokens -= cost
                    return cost
                }
            case .ratio(let capacity, _):
                change(origin) { tokens in
                    tokens = max(0, tokens - 1)
                    return tokens > capacity / 2 ? 1 : nil
                }
            }
        }

        /// Counts a failure that deserved a retry but was not retried, for a reason other than the budget.
        func fail(at origin: HTTPOrigin?) {
            if case .ratio = budget.rule { change(origin) { $0 = max(0, $0 - 1) } }
        }

        /// Counts a load that succeeded. `cost` is the cost of its last retry that took tokens; nil if none did.
        func succeed(to origin: @autoclosure () -> HTTPOrigin?, cost: Double?) {
            guard budget != .unlimited, !tokens.withLock({ $0.isEmpty }) else { return }
            let origin = origin()
            let gain = if case .ratio(_, let perSuccess) = budget.rule { perSuccess } else { cost ?? 1 }
            tokens.withLock { tokens in
                guard let left = tokens[origin] else { return }
                tokens[origin] = left + gain >= budget.capacity ? nil : left + gain
            }
        }

        /// Removes all origins.
        func wipe() { tokens.withLock { $0.removeAll() } }

        private func change<Answer>(_ origin: HTTPOrigin?, _ change: (inout Double) -> Answer) -> Answer {
            tokens.withLock { tokens in
                var left = tokens[origin] ?? budget.capacity
                let answer = change(&left)
                if tokens[origin] == nil, tokens.count >= Self.mostOrigins,
                    let fullest = tokens.max(by: { $0.value < $1.value })?.key
                {
                    tokens.removeValue(forKey: fullest)
                }
                tokens[origin] = left
                return answer
            }
        }
    }
}
