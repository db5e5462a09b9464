public import Foundation
import Synchronization

/// Lets only so many requests go in a time, and learns from the server when fewer may.
///
/// ```swift
/// LimitRate(10, per: .seconds(1))        // to each host ten a second, ten at once when none went before
/// LimitRate()                            // as many as the server allows
/// ```
///
/// Who comes too early waits in line, the higher priority first. When a response says that nothing is left of a window
/// (`RateLimit`, `X-RateLimit-Remaining` and `-Reset`, and their variants), or asks for a pause (`Retry-After` of a 403, 429
/// or 503), the whole host, or whatever is counted together, is held back until then, those in line and those who come later.
/// A wait that would pass the deadline fails at once with `.timedOut`; a cancelled one ends at once. A reset forgets what
/// was learned and sends away who waits, with `.cancelled`. ``Throttling/never`` passes by.
///
/// Put it before ``Throttle``, so that a request that waits for its time holds no slot, and behind the environment, which
/// names the host. A throttle of all requests before a limit for each host is refused with `.invalidRequest`.
public final class LimitRate: LoaderLink {
    // A class, because all chains that it stands in share its buckets.

    private typealias Turn = OneShot<TurnOutcome>

    private let state: Mutex<RateState<Turn>>
    let scope: ThrottleScope
    private let queueLimit: Int
    private let clock: any Clock<Duration>
    private let timeline: Timeline
    private let now: @Sendable () -> Date
    private let brokenRule: String?

    /// Makes the link. A setting out of its range fails each load with `.invalidRequest`.
    ///
    /// - Parameters:
    ///   - count: how many may go in a window, and how many at once; at least 1. Default: as many as the server allows.
    ///   - window: the time, more than zero and at most a year. Default: a second.
    ///   - scope: what is counted together. Default: each host.
    ///   - queueLimit: how many may wait in one scope; one more fails with `.queueFull`. Default: no limit.
    ///   - longestHold: the longest pause that a server can ask for. Default: an hour.
    ///   - clock: the time. Default: the continuous clock.
    ///   - now: the date, for headers that name one. Default: the system's.
    public init(
        _ count: Int = .max, per window: Duration = .seconds(1), by scope: ThrottleScope = .host,
        queueLimit: Int = .max, longestHold: Duration = .seconds(3_600),
        clock: any Clock<Duration> = ContinuousClock(), now: @escaping @Sendable () -> Date = { Date() }
    ) {
        let year = Duration.seconds(366 * 86_400)
        let isBroken = count < 1 || window <= .zero || window > year || queueLimit < 0
        brokenRule =
            isBroken || longestHold < .zero || longestHold > year
            ? "a setting of LimitRate is out of its range: a count of 1 or more, a window of more than zero, no limit "
                + "below zero, nothing longer than a year" : nil
        let bucket = isBroken ? RateBucket(count: .max, per: .seconds(1)) : RateBucket(count: count, per: window)
        state = Mutex(RateState(bucket, longestHold: longestHold))
        self.scope = scope
        self.queueLimit = queueLimit
        self.clock = clock
        timeline = Timeline(clock)
        self.now = now
    }

    /// How many wait now.
    public var waiting: Int { state.withLock { $0.waiting } }

    /// Has the request answered when it is its time, and learns from the answer.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        guard let priority = request.throttling.priority else { return try await next.load(request) }
        if let brokenRule { throw HTTPError(.invalidRequest, request: request, message: brokenRule) }
        // While nobody is held back the key of a host is not needed; a caller's own is asked for, since it may refuse.
        let isOpen = state.withLock { $0.isOpen }
        let key = isOpen && !scope.isOwn ? nil : try scope.key(of: request)
        if !isOpen, let key {
            let time = timeline.now
            if !state.withLock({ $0.pass(key, at: time) }) { try await waitTurn(of: request, key, priority: priority) }
        }
        let response = try await next.load(request)
        if let report = RateReport(response, now: { now().timeIntervalSince1970 }) {
            let learned = if let key { key } else { try scope.key(of: request) }
            learn(report, learned)
        }
        return response
    }

    /// Forgets what was learned, sends away who waits, and resets what is below.
    public func reset(next: any HTTPLoader) async {
        for turn in state.withLock({ $0.clear() }) { turn.set(.reset) }
        await next.reset()
    }

    private static func error(_ outcome: TurnOutcome, _ request: HTTPRequest) -> HTTPError {
        outcome.error(for: request, waitingFor: "the rate limit")
    }

    private func waitTurn(of request: HTTPRequest, _ key: ThrottleKey, priority: Int) async throws(HTTPError) {
        let turn = Turn()
        let (time, left) = (timeline.now, request.timeLeft)
        let arrival = state.withLock {
            $0.arrive(key, priority: priority, queueLimit: queueLimit, timeLeft: left, turn: turn, at: time)
        }
        switch arrival {
        case .passes: return
        case .full: throw Self.error(.full(queueLimit), request)
        case .tooLate: throw Self.error(.tooLate, request)
        case .waits(let place, let isFirst):
            if !isFirst {
                let leave = { @Sendable [self] (outcome: TurnOutcome) -> Void in
                    state.withLock { $0.leaveLine(key, place: place) }?.set(outcome)
                }
                let outcome = await turn.value(
                    within: left, on: clock, onTimeout: { leave(.tooLate) }, onCancel: { leave(.cancelled) })
                guard case .turn = outcome else { throw Self.error(outcome, request) }
            }
            try await waitAsFirst(key, place, request)
        }
    }

    /// Sleeps until the bucket lets go, and again as long as the server has asked for more meanwhile.
    private func waitAsFirst(_ key: ThrottleKey, _ place: UInt64, _ request: HTTPRequest) async throws(HTTPError) {
        while true {
            let turn = Turn()
            let time = timeline.now
            switch state.withLock({ $0.step(key, place: place, turn: turn, at: time) }) {
            case .passes(let next):
                next?.set(.turn)
                return
            case .gone: throw Self.error(.reset, request)
            case .sleeps(let wait):
                var outcome = TurnOutcome.tooLate
                if request.timeLeft.map({ wait <= $0 }) ?? true {
                    outcome = await turn.value(
                        within: wait, on: clock, onTimeout: { turn.set(.turn) }, onCancel: { turn.set(.cancelled) })
                }
                if case .turn = outcome { continue }
                state.withLock { $0.leaveFirst(key, place: place) }?.set(.turn)
                throw Self.error(outcome, request)
            }
        }
    }

    private func learn(_ report: RateReport, _ key: ThrottleKey) {
        let time = timeline.now
        for turn in state.withLock({ $0.learn(report, key, at: time) }) { turn.set(.tooLate) }
    }
}

extension LimitRate: ScopedLimit {}
