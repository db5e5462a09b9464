/// A limit on the retries to each origin, so that clients do not overload a server that is already failing.
///
/// First attempts are always sent. A retry that exceeds the budget is not sent; it does not wait for the budget. Each
/// origin (scheme, host and port) has its own budget. A retry is counted if the attempt before it indicates a failing
/// server: the attempt failed, or received a 5xx, 408, 425 or 429. A validator that polls, such as one that waits for a
/// 202 to become a 200, is limited only by the maximum number of retries and the deadline.
public struct RetryBudget: Sendable, Hashable {
    enum Rule: Hashable {
        case unlimited
        case quota(capacity: Double, cost: Double, timeoutCost: Double)
        case ratio(capacity: Double, perSuccess: Double)
    }

    let rule: Rule

    /// A quota of 500 tokens: a retry costs 5, or 10 after a timeout.
    public static let standard = RetryBudget.quota()

    /// No limit.
    public static let unlimited = RetryBudget(rule: .unlimited)

    /// A budget of tokens that retries consume. A retry that succeeds returns the tokens that it has consumed. A
    /// success without such a retry adds one token. An origin that fails permanently receives `capacity / cost`
    /// retries.
    ///
    /// - Parameters:
    ///   - capacity: the maximum and initial number of tokens. Default: 500; a negative number counts as zero.
    ///   - cost: the tokens that a retry costs. Default: 5; a negative number counts as zero.
    ///   - timeoutCost: the tokens that a retry after a timeout costs. Default: 10; a negative number counts as zero.
    public static func quota(capacity: Int = 500, cost: Int = 5, timeoutCost: Int = 10) -> RetryBudget {
        RetryBudget(
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
    public static func ratio(capacity: Int, perSuccess: Double) -> RetryBudget {
        RetryBudget(rule: .ratio(capacity: Double(max(capacity, 0)), perSuccess: max(0, perSuccess)))
    }
}

/// The tokens of one origin.
struct RetryTokens: Sendable {
    private let rule: RetryBudget.Rule
    private(set) var tokens: Double

    init(_ budget: RetryBudget) {
        rule = budget.rule
        tokens = budget.capacity
    }

    /// Counts a failure that deserves a retry, and takes the cost of the retry. Returns nil if not enough tokens are
    /// left.
    mutating func takeRetry(afterTimeout isTimeout: Bool) -> Double? {
        switch rule {
        case .unlimited:
            return 0
        case .quota(_, let cost, let timeoutCost):
            let cost = isTimeout ? timeoutCost : cost
            guard tokens >= cost else { return nil }
            tokens -= cost
            return cost
        case .ratio(let capacity, _):
            tokens = max(0, tokens - 1)
            return tokens > capacity / 2 ? 1 : nil
        }
    }

    /// Counts a failure that deserves a retry but is not retried, for a reason other than the budget.
    mutating func fail() { if case .ratio = rule { tokens = max(0, tokens - 1) } }

    /// Counts a load that succeeded. `cost` is the cost of the last retry that took tokens; nil if none did.
    mutating func succeed(cost: Double?) {
        switch rule {
        case .unlimited: break
        case .quota(let capacity, _, _): tokens = min(capacity, tokens + (cost ?? 1))
        case .ratio(let capacity, let perSuccess): tokens = min(capacity, tokens + perSuccess)
        }
    }
}

extension RetryBudget {
    /// The maximum number of tokens.
    var capacity: Double {
        switch rule {
        case .unlimited: .infinity
        case .quota(let capacity, _, _), .ratio(let capacity, _): capacity
        }
    }
}
