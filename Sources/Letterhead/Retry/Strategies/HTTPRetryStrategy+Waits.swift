extension HTTPRetryStrategy {
    /// Retries without a wait.
    public static let immediate = HTTPRetryStrategy("immediate") { _, _ in Wait(duration: .zero, jitter: .none) }

    /// Always waits for the same time; a negative wait counts as zero.
    public static func delayed(_ delay: Duration) -> HTTPRetryStrategy {
        HTTPRetryStrategy("delayed by \(delay)") { _, _ in Wait(duration: delay, jitter: .none) }
    }

    /// Multiplies the wait by a factor for each further retry, with full jitter: a random time between zero and the
    /// wait.
    ///
    /// - Parameters:
    ///   - base: the first wait, before jitter; a negative wait counts as zero.
    ///   - factor: the growth from one wait to the next. Default: 2; a factor below 1 or NaN counts as 1.
    ///   - cap: the longest wait. Default: 30 seconds; a negative cap counts as zero.
    public static func exponential(
        base: Duration, factor: Double = 2, cap: Duration = .seconds(30)
    ) -> HTTPRetryStrategy {
        HTTPRetryStrategy("exponential from \(base)") { retry, _ in
            Wait(
                duration: BackOff.exponential(retry, base: base, factor: factor, cap: cap), jitter: .full)
        }
    }

    /// Exponential back-off from one second: ``exponential(base:factor:cap:)`` with its defaults.
    public static let exponential = exponential(base: .seconds(1))

    /// Waits for 1, 1, 2, 3, 5 … seconds: ``fibonacci(unit:cap:)`` with its defaults.
    public static let fibonacci = fibonacci(unit: .seconds(1))

    /// Waits for 1, 1, 2, 3, 5 … units, with full jitter: a random time between zero and the wait.
    ///
    /// - Parameters:
    ///   - unit: the first wait, before jitter; a negative wait counts as zero.
    ///   - cap: the longest wait. Default: 30 seconds; a negative cap counts as zero.
    public static func fibonacci(unit: Duration, cap: Duration = .seconds(30)) -> HTTPRetryStrategy {
        HTTPRetryStrategy("fibonacci by \(unit)") { retry, _ in
            Wait(duration: BackOff.fibonacci(retry, unit: unit, cap: cap), jitter: .full)
        }
    }

    /// Waits for these times in order, and ends the retries after the last one. Negative waits count as zero.
    public static func delays(_ delays: [Duration]) -> HTTPRetryStrategy {
        HTTPRetryStrategy("\(delays.count) delays", count: delays.count) { retry, _ in
            retry <= delays.count ? Wait(duration: delays[retry - 1], jitter: .none) : nil
        }
    }

    /// Waits for the time that a closure returns. The closure receives the number of the retry, starting at 1, and the
    /// result of the last attempt. If it returns nil, the request is not retried; a negative wait counts as zero.
    ///
    /// ```swift
    /// .custom { _, result in  // a service that sends the time in seconds since 1970
    ///     let reset = (try? result.get())?.headers["X-RateLimit-Reset"].flatMap { UInt32($0) }
    ///     return reset.map { .seconds(Double($0) - Date().timeIntervalSince1970) }
    /// }
    /// ```
    public static func custom(
        _ delay: @escaping @Sendable (_ retry: Int, _ result: Result<HTTPResponse, HTTPError>) -> Duration?
    ) -> HTTPRetryStrategy {
        HTTPRetryStrategy("custom") { retry, result in
            result.flatMap { delay(retry, $0) }.map { Wait(duration: $0, jitter: .none) }
        }
    }

    /// Varies the waits at random, so that clients that failed at the same time do not retry at the same time.
    ///
    /// - Parameter share: the random share of each wait: 0 keeps the wait, 0.2 waits for 80 to 100 % of it, 1 waits for
    ///   any time between zero and the whole. It is clamped to 0...1; NaN counts as 0. Default: 1 for
    ///   ``exponential(base:factor:cap:)`` and ``fibonacci(unit:cap:)``, and 0 for all others.
    public func jitter(_ share: Double) -> HTTPRetryStrategy {
        let jitter = RetryJitter.upTo(share)
        return replacingPlan(with: { [plan] retry, result in
            plan(retry, result).map { Wait(duration: $0.duration, jitter: jitter) }
        })
    }

    /// Limits the strategy to this number of waits; a negative count is zero.
    public func times(_ count: Int) -> HTTPRetryStrategy {
        let count = min(max(count, 0), self.count ?? .max)
        return replacingPlan("\(self), \(count) times", count: count) { [plan] retry, result in
            retry <= count ? plan(retry, result) : nil
        }
    }

    /// Continues with the waits of another strategy, whose retries are counted from 1.
    ///
    /// ```swift
    /// HTTPRetryStrategy.immediate.times(1).then(.exponential(base: .seconds(1)))  // 0, 1, 2, 4 … s, before jitter
    /// ```
    ///
    /// An unlimited strategy never reaches the next one: limit it with ``times(_:)``. The result has the alternate and
    /// the condition of this strategy; those of `next` are ignored.
    public func then(_ next: HTTPRetryStrategy) -> HTTPRetryStrategy {
        guard let count else { return self }
        let sum = next.count.map { count.addingReportingOverflow($0) }.map { $0.overflow ? .max : $0.partialValue }
        return replacingPlan("\(self), then \(next)", count: sum) { [plan] retry, result in
            retry <= count ? plan(retry, result) : next.plan(retry - count, result)
        }
    }
}
