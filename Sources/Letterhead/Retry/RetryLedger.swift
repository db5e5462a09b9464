import Synchronization

/// The budgets of all hosts with recent failures.
///
/// This type is a class because all loads of a link share the budgets. A host whose budget is full is removed.
final class RetryLedger: Sendable {
    /// The maximum number of hosts. Beyond it, the host with the fullest budget is removed.
    private static let mostHosts = 1_000

    private let budget: RetryBudget
    private let hosts = Mutex<[HTTPOrigin?: RetryTokens]>([:])

    init(_ budget: RetryBudget) { self.budget = budget }

    /// Takes the cost of a retry to a host. Returns nil if not enough tokens are left.
    func takeRetry(to host: HTTPOrigin?, afterTimeout isTimeout: Bool) -> Double? {
        guard budget != .unlimited else { return 0 }
        return change(host) { $0.takeRetry(afterTimeout: isTimeout) }
    }

    /// Counts a failure that deserved a retry but was not retried, for a reason other than the budget.
    func fail(at host: HTTPOrigin?) {
        guard case .ratio = budget.rule else { return }
        change(host) { $0.fail() }
    }

    /// Counts a load that succeeded.
    func succeed(to host: @autoclosure () -> HTTPOrigin?, cost: Double?) {
        guard budget != .unlimited, !hosts.withLock({ $0.isEmpty }) else { return }
        let host = host()
        hosts.withLock { hosts in
            guard var tokens = hosts[host] else { return }
            tokens.succeed(cost: cost)
            hosts[host] = tokens.tokens >= budget.capacity ? nil : tokens
        }
    }

    private func change<Answer>(_ host: HTTPOrigin?, _ change: (inout RetryTokens) -> Answer) -> Answer {
        hosts.withLock { hosts in
            var tokens = hosts[host] ?? RetryTokens(budget)
            let answer = change(&tokens)
            if hosts[host] == nil, hosts.count >= Self.mostHosts,
                let fullest = hosts.max(by: { $0.value.tokens < $1.value.tokens })?.key
            {
                hosts.removeValue(forKey: fullest)
            }
            hosts[host] = tokens
            return answer
        }
    }

    /// The tokens that are left for a host; nil if the budget has no limit.
    func tokensLeft(for host: HTTPOrigin?) -> Double? {
        budget == .unlimited ? nil : hosts.withLock { $0[host]?.tokens } ?? budget.capacity
    }

    /// The number of hosts with a budget that is not full.
    var hostCount: Int { hosts.withLock { $0.count } }

    /// Removes all hosts.
    func wipe() { hosts.withLock { $0.removeAll() } }
}
