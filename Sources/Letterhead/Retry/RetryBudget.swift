/// How many retries there may be to one host, so that clients do not finish off a server that is failing.
///
/// First attempts are always sent; only retries are held back, and nothing waits for a budget. Each host (scheme, host and
/// port) has its own. A retry is counted when the attempt before it shows a server in trouble: a failure, a 5xx, 408, 425 or
/// 429. A validator that polls, such as one that waits for a 202 to become a 200, is limited only by the maximum of retries
/// and the deadline.
public struct RetryBudget: Sendable, Hashable {
    enum Rule: Hashable {
        case unlimited
        case quota(capacity: Double, cost: Double, timeoutCost: Double)
        case ratio(capacity: Double, perSuccess: Double)
    }

    let rule: Rule

    /// A quota of 500, of which a retry costs 5, and 10 behind a timeout.
    public static let standard = RetryBudget.quota()

    /// No limit.
    public static let unlimited = RetryBudget(rule: .unlimited)

    /// A store of tokens that retries use up: a retry that succeeds gives its cost back, a first attempt that succeeds
    /// one token. So a host that fails for good gets `capacity / cost` retries and no more.
    ///
    /// - Parameters:
    ///   - capacity: how many tokens there are at most, and at the beginning. Default: 500; less than zero is none.
    ///   - cost: how many a retry costs. Default: 5; less than zero is none.
    ///   - timeoutCost: how many a retry behind a timeout costs. Default: 10; less than zero is none.
    public static func quota(capacity: Int = 500, cost: Int = 5, timeoutCost: Int = 10) -> RetryBudget {
        RetryBudget(
            rule: .quota(
                capacity: Double(max(capacity, 0)), cost: Double(max(cost, 0)),
                timeoutCost: Double(max(timeoutCost, 0))))
    }

    /// A store of tokens that failures use up, one each, also those behind which no retry is left, and successes fill;
    /// there are retries while more than half is left. So retries stop when more than about one in `1 / perSuccess`
    /// attempts fails. A failure is what a retry was asked for.
    ///
    /// - Parameters:
    ///   - capacity: how many tokens there are at most, and at the beginning; less than zero is none.
    ///   - perSuccess: how many a success brings back. Less than zero and not a number is none.
    public static func ratio(capacity: Int, perSuccess: Double) -> RetryBudget {
        RetryBudget(rule: .ratio(capacity: Double(max(capacity, 0)), perSuccess: max(0, perSuccess)))
    }
}

/// The tokens of one host.
struct RetryTokens: Sendable {
    private let rule: RetryBudget.Rule
    private(set) var tokens: Double

    init(_ budget: RetryBudget) {
        rule = budget.rule
        tokens = budget.capacity
    }

    /// Notes a failure that is worth a retry, and takes what the retry costs; nil when it cannot be afforded.
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

    /// Notes a failure that is worth a retry, behind which there is none for another reason than the budget.
    mutating func fail() { if case .ratio = rule { tokens = max(0, tokens - 1) } }

    /// Notes a load that ended well; `cost` is what its last retry cost, nil when the first attempt was enough.
    mutating func succeed(cost: Double?) {
        switch rule {
        case .unlimited: break
        case .quota(let capacity, _, _): tokens = min(capacity, tokens + (cost ?? 1))
        case .ratio(let capacity, let perSuccess): tokens = min(capacity, tokens + perSuccess)
        }
    }
}

extension RetryBudget {
    /// How many tokens there are at most.
    var capacity: Double {
        switch rule {
        case .unlimited: .infinity
        case .quota(let capacity, _, _), .ratio(let capacity, _): capacity
        }
    }
}
