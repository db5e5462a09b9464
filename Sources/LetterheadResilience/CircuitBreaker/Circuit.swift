// SPDX-License-Identifier: MIT

/// One circuit of a ``CircuitBreaker``, without a clock or a lock.
struct Circuit {
    enum Phase: Equatable {
        case closed
        case open(until: Duration)
        case halfOpen(probing: Int, succeeded: Int)
    }

    /// The outcomes that are counted while the circuit is closed.
    private var window: FailureWindow
    private(set) var phase = Phase.closed
    /// Identifies the current phase. If a request was sent in an earlier phase, its outcome doesn't count.
    private(set) var epoch: UInt64

    init(_ rule: CircuitBreaker.Rule, epoch: UInt64) {
        window = FailureWindow(rule)
        self.epoch = epoch
    }

    /// Returns whether a request may pass. The first call after the open time begins the probes.
    ///
    /// - Parameter newEpoch: a number that no phase had before, for the case that a new phase begins.
    mutating func admits(at now: Duration, probes: Int, newEpoch: UInt64) -> Bool {
        if case .open(let end) = phase, end <= now {
            phase = .halfOpen(probing: 0, succeeded: 0)
            epoch = newEpoch
        }
        switch phase {
        case .closed: return true
        case .open: return false
        case .halfOpen(let probing, let succeeded):
            guard probing + succeeded < probes else { return false }
            phase = .halfOpen(probing: probing + 1, succeeded: succeeded)
            return true
        }
    }

    /// Counts an outcome, for a request that was let through in this phase.
    mutating func settle(
        _ health: ServerHealth, at now: Duration, probes: Int, openTime: Duration, newEpoch: UInt64
    ) {
        switch (phase, health) {
        case (.closed, .unknown), (.open, _): return
        case (.closed, _):
            guard window.counts(isFailure: health == .bad, at: now) else { return }
            phase = .open(until: now + openTime)
        case (.halfOpen(let probing, let succeeded), .unknown):
            // The cancelled probe makes room for a new one.
            phase = .halfOpen(probing: max(0, probing - 1), succeeded: succeeded)
            return
        case (.halfOpen, .bad): phase = .open(until: now + openTime)
        case (.halfOpen(let probing, let succeeded), .good):
            guard succeeded + 1 >= probes else {
                phase = .halfOpen(probing: max(0, probing - 1), succeeded: succeeded + 1)
                return
            }
            window.clear()
            phase = .closed
        }
        epoch = newEpoch
    }

    /// Whether the table must keep the circuit: it refuses requests, or it waits for a probe in progress.
    func isNeeded(at now: Duration) -> Bool {
        switch phase {
        case .closed: false
        case .open(let end): end > now
        case .halfOpen(let probing, _): probing > 0
        }
    }

    var state: CircuitBreaker.State {
        switch phase {
        case .closed: .closed
        case .open: .open
        case .halfOpen: .halfOpen
        }
    }
}

/// Counts outcomes while a circuit is closed.
struct FailureWindow {
    private struct Bucket {
        var number: Int64 = -1
        var count: Int32 = 0
        var failures: Int32 = 0
    }

    /// The window consists of this many buckets, and moves by one bucket at a time.
    private static let bucketCount = 10

    private let rule: CircuitBreaker.Rule
    private var inARow = 0
    private var buckets: [Bucket] = []

    init(_ rule: CircuitBreaker.Rule) { self.rule = rule }

    mutating func clear() { (inARow, buckets) = (0, []) }

    /// Counts an outcome. Returns whether the circuit opens.
    mutating func counts(isFailure: Bool, at now: Duration) -> Bool {
        switch rule.kind {
        case .consecutive(let limit):
            inARow = isFailure ? inARow + 1 : 0
            return inARow >= limit
        case .ratio(let share, let minimum, let window):
            if buckets.isEmpty { buckets = Array(repeating: Bucket(), count: Self.bucketCount) }
            let number = Int64(now / window * Double(Self.bucketCount))
            let place = Int(number % Int64(Self.bucketCount))
            if buckets[place].number != number { buckets[place] = Bucket(number: number) }
            buckets[place].count += 1
            if isFailure { buckets[place].failures += 1 }
            return isFailure && isOver(share, minimum, at: number)
        }
    }

    private func isOver(_ share: Double, _ minimum: Int, at number: Int64) -> Bool {
        var (count, failures) = (0, 0)
        for bucket in buckets where bucket.number > number - Int64(Self.bucketCount) {
            count += Int(bucket.count)
            failures += Int(bucket.failures)
        }
        return count >= minimum && Double(failures) >= share * Double(count)
    }
}
