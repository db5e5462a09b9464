// SPDX-License-Identifier: MIT
public import Letterhead
import Synchronization

/// Keeps your requests below a rate: your own limit, or the limits that servers report.
///
/// ```swift
/// LimitRate(10, per: .seconds(1))        // ten per second to each host, and up to ten at once after a pause
/// LimitRate()                            // as many as the server allows
/// LimitRate(40_000, per: .seconds(60)) { tokens(in: $0) }   // 40,000 tokens per minute
/// ```
///
/// Use it if a server allows a number of requests in a period. To limit the requests in progress at the same time, use
/// `Throttle`.
///
/// - Requests over the limit wait in a queue, ordered by priority.
/// - A response can report that a window is exhausted (`RateLimit`, `X-RateLimit-Remaining` and `-Reset`, and the
///   variants that `honoringRateLimits()` reads) or ask for a pause (`Retry-After` in a 403, 429, 503 or 529). All
///   requests in the same scope then wait until the window or the pause ends, including requests already in the queue.
/// - With `cost`, the limit applies to units that only a response reports, such as the tokens of a model. A request
///   starts as long as a unit is left. If its response costs more than was left, the next request waits until the rate
///   has made up for it. If a waiting request is cancelled, it costs nothing.
/// - If a request would have to wait longer than its deadline, it fails at once with `.timedOut`. If its task is
///   cancelled, it leaves the queue.
/// - A client reset removes the reported limits, and cancels the waiting requests of that client.
/// - Requests with `Throttle.Settings.never` aren't limited.
///
/// Put it above `Throttle`, so that a waiting request occupies no slot, and below the environment, which sets the host.
/// All clients that contain the same link share its limits.
public final class LimitRate: LoaderLink {
    private typealias Key = String?

    private let state: Mutex<RateState<QueuedRequest>>
    private let scope: Throttle.Settings.Scope
    private let queueLimit: Int
    private let backoff: Backoff
    private let timeline: Timeline
    private let cost: (@Sendable (HTTPResponse) -> Int?)?
    private let brokenRule: String?

    /// Creates a link. If a setting is out of range, each request fails with `.invalidRequest`.
    ///
    /// - Parameters:
    ///   - count: the number of requests in a window, at least 1. After a pause, that many requests may be sent at
    ///     once. With `cost`, it is the number of units in a window. Default: no limit, except for the limits that
    ///     servers report.
    ///   - window: the period, more than zero and at most one year.
    ///   - scope: the requests that share a limit.
    ///   - queueLimit: the maximum number of requests that wait in one queue. With the default scope, each host has a
    ///     queue. Further requests fail with `.queueFull`.
    ///   - backoff: its `longestServerDelay` is the longest pause that a server can cause. A window or a `Retry-After`
    ///     that ends later is shortened to this time. If the `Retry` above has a shorter `longestServerDelay` than by
    ///     default, the shorter of both applies to the responses to its requests. The clock and the date of the
    ///     back-off are used as well. Its strategy and its number of retries are not.
    ///   - cost: returns the units that a response has cost, in addition to the 1 that each request takes, or nil if
    ///     they aren't known. It requires a count. The link calls it for each response, including those that are
    ///     retried, before the caller receives the response. A streamed body isn't in memory, so `body.buffered` is
    ///     nil: call ``take(_:for:)`` when the cost has arrived. Default: nil (each request costs 1).
    public init(
        _ count: Int = .max, per window: Duration = .seconds(1), by scope: Throttle.Settings.Scope = .host,
        queueLimit: Int = .max, backoff: Backoff = Backoff(), cost: (@Sendable (HTTPResponse) -> Int?)? = nil
    ) {
        let year = Duration.seconds(366 * 86_400)
        let isBroken = count < 1 || window <= .zero || window > year || queueLimit < 0
        let outOfRange: String? =
            isBroken || backoff.longestServerDelay < .zero || backoff.longestServerDelay > year
            ? "a setting of LimitRate is out of range: the count must be at least 1, the window more than zero, the "
                + "limits not negative, and every duration at most one year" : nil
        brokenRule =
            cost != nil && count == .max ? "cost requires a count of LimitRate (the units in a window)" : outOfRange
        let bucket = isBroken ? RateBucket(count: .max, per: .seconds(1)) : RateBucket(count: count, per: window)
        state = Mutex(RateState(bucket))
        (self.scope, self.queueLimit, self.backoff, self.cost) = (scope, queueLimit, backoff, cost)
        timeline = Timeline(backoff.clock)
    }

    /// The number of requests that wait in all queues at the moment.
    public var waiting: Int { state.withLock { $0.waiting } }

    /// Waits until the rate allows the request, and then sends it.
    ///
    /// - Throws: `.queueFull` or `.timedOut` if the request can't wait, `.cancelled` after a reset or a cancellation,
    ///   `.invalidRequest` if a setting is out of range, and errors from the next loader.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        guard let priority = request.throttling.priority else { return try await next.load(request) }
        if let brokenRule { throw HTTPError(.invalidRequest, request: request, message: brokenRule) }
        let key = try scope.key(of: request)
        let time = timeline.now
        if !state.withLock({ $0.isOpen || $0.pass(key, at: time) }) {
            try await waitTurn(of: request, key, priority: priority)
        }
        let response = try await next.load(request)
        let (report, cost) = (RateReport(response, now: backoff.now), cost?(response) ?? 0)
        if report != nil || cost > 0 { learn(report, cost: cost, key, from: request) }
        return response
    }

    /// Takes units from the budget, for a cost that arrives in a streamed body, for example in its last event.
    ///
    /// Later requests wait until the rate has refilled the budget, but at most for the `longestServerDelay` of the
    /// `backoff`. Requests in progress and their bodies don't wait. If the link has no count, the call does nothing.
    ///
    /// - Parameters:
    ///   - cost: the number of units. Zero or a negative number takes nothing.
    ///   - request: the request that caused the cost, which selects the budget. With the default scope, only its origin
    ///     counts.
    /// - Throws: the error of a custom scope that can't return a key.
    public func take(_ cost: Int, for request: HTTPRequest) throws(HTTPError) {
        learn(nil, cost: cost, try scope.key(of: request), from: request)
    }

    /// Removes the reported limits, cancels the waiting requests that belong to no client, and resets the links below.
    ///
    /// A client reset cancels the waiting requests of that client itself.
    public func reset(next: any HTTPLoader) async {
        let (ended, first) = state.withLock { $0.clear { $0.request.generation == nil } }
        for waiter in ended { waiter.turn.set(.reset) }
        for waiter in first { waiter.turn.set(.turn) }
        await next.reset()
    }

    private static func error(_ outcome: TurnOutcome, _ request: HTTPRequest) -> HTTPError {
        outcome.error(for: request, waitingFor: "the rate limit")
    }

    private func waitTurn(of request: HTTPRequest, _ key: Key, priority: Int) async throws(HTTPError) {
        let waiter = QueuedRequest(request)
        let (time, left) = (timeline.now, request.timeLeft)
        let arrival = state.withLock {
            $0.arrive(key, priority: priority, queueLimit: queueLimit, timeLeft: left, turn: waiter, at: time)
        }
        switch arrival {
        case .passes: return
        case .full: throw Self.error(.full(queueLimit), request)
        case .tooLate: throw Self.error(.tooLate, request)
        case .waits(let place, let isFirst):
            request.record(.queueEntered) { $0[.queue] = "rate limit" }
            defer {
                request.record(.queueLeft) { event in
                    event[.queue] = "rate limit"
                    event[.duration] = timeline.now - time
                }
            }
            if !isFirst {
                let outcome = await waiter.wait(atMost: left, on: backoff.clock) { [self] outcome in
                    state.withLock { $0.leaveLine(key, place: place) }?.turn.set(outcome)
                }
                guard case .turn = outcome else { throw Self.error(outcome, request) }
            }
            try await waitAsFirst(key, place, request)
        }
    }

    /// Sleeps until the bucket allows the request. If the server asks for a longer pause in the meantime, the sleep is
    /// extended.
    private func waitAsFirst(_ key: Key, _ place: UInt64, _ request: HTTPRequest) async throws(HTTPError) {
        while true {
            let waiter = QueuedRequest(request)
            let time = timeline.now
            switch state.withLock({ $0.step(key, place: place, turn: waiter, at: time) }) {
            case .passes(let next):
                next?.turn.set(.turn)
                return
            case .gone: throw Self.error(.reset, request)
            case .sleeps(let wait):
                var outcome = TurnOutcome.tooLate
                if request.timeLeft.map({ wait <= $0 }) ?? true {
                    outcome = await waiter.wait(atMost: wait, on: backoff.clock) { end in
                        if case .tooLate = end { waiter.turn.set(.turn) } else { waiter.turn.set(end) }
                    }
                }
                if case .turn = outcome { continue }
                state.withLock { $0.leaveFirst(key, place: place) }?.turn.set(.turn)
                throw Self.error(outcome, request)
            }
        }
    }

    private func learn(_ report: RateReport?, cost: Int, _ key: Key, from request: HTTPRequest) {
        let time = timeline.now
        let own = backoff.longestServerDelay
        let longest = min(own, request.loadValues[option: ServerDelayLimit.self] ?? own)
        let late = state.withLock { state in
            request.unlessReset { state.learn(report, cost: cost, key, at: time, longestServerDelay: longest) }
        }
        for waiter in late ?? [] { waiter.turn.set(.tooLate) }
    }
}
