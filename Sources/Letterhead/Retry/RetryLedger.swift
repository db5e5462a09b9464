import Synchronization

/// The budgets of all hosts that have failed lately.
///
/// A class, because all loads of a link draw on the same budgets. A host whose budget is full is not kept.
final class RetryLedger: Sendable {
    /// How many hosts are kept; of more, the one with the fullest budget is forgotten.
    private static let mostHosts = 1_000

    private let budget: RetryBudget
    private let hosts = Mutex<[HTTPOrigin?: RetryTokens]>([:])

    init(_ budget: RetryBudget) { self.budget = budget }

    /// Takes what a retry to a host costs; nil when it cannot be afforded.
    func takeRetry(to host: HTTPOrigin?, afterTimeout isTimeout: Bool) -> Double? {
        guard budget != .unlimited else { return 0 }
        return change(host) { $0.takeRetry(afterTimeout: isTimeout) }
    }

    /// Notes a failure that was worth a retry and has none, though the budget would have paid.
    func fail(at host: HTTPOrigin?) {
        guard case .ratio = budget.rule else { return }
        change(host) { $0.fail() }
    }

    /// Notes a load that ended well.
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

    /// How many hosts are kept.
    var hostCount: Int { hosts.withLock { $0.count } }

    /// Forgets all hosts.
    func wipe() { hosts.withLock { $0.removeAll() } }
}
