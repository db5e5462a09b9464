extension HTTPRetryStrategy {
    /// At once.
    public static let immediate = HTTPRetryStrategy("immediate") { _, _ in Wait(duration: .zero, jitter: .none) }

    /// Always after the same time; a negative one is zero.
    public static func delayed(_ delay: Duration) -> HTTPRetryStrategy {
        HTTPRetryStrategy("delayed by \(delay)") { _, _ in Wait(duration: delay, jitter: .none) }
    }

    /// Each time longer by a factor, with full jitter: anything between nothing and the wait.
    ///
    /// - Parameters:
    ///   - base: the longest first wait; a negative one is zero.
    ///   - factor: how much longer each time. Default: 2; below 1 or not a number is 1.
    ///   - cap: no wait is longer. Default: 30 seconds; a negative one is zero.
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

    /// 1, 1, 2, 3, 5 … seconds: ``fibonacci(unit:cap:)`` with its defaults.
    public static let fibonacci = fibonacci(unit: .seconds(1))

    /// 1, 1, 2, 3, 5 … units, with full jitter: anything between nothing and the wait.
    ///
    /// - Parameters:
    ///   - unit: the longest first wait; a negative one is zero.
    ///   - cap: no wait is longer. Default: 30 seconds; a negative one is zero.
    public static func fibonacci(unit: Duration, cap: Duration = .seconds(30)) -> HTTPRetryStrategy {
        HTTPRetryStrategy("fibonacci by \(unit)") { retry, _ in
            Wait(duration: BackOff.fibonacci(retry, unit: unit, cap: cap), jitter: .full)
        }
    }

    /// These waits in order, and no retry behind the last; negative ones are zero.
    public static func delays(_ delays: [Duration]) -> HTTPRetryStrategy {
        HTTPRetryStrategy("\(delays.count) delays", count: delays.count) { retry, _ in
            retry <= delays.count ? Wait(duration: delays[retry - 1], jitter: .none) : nil
        }
    }

    /// What a closure says of the number of the retry, from 1, and the result before it; nil is no retry, and less than
    /// zero is zero.
    ///
    /// ```swift
    /// .custom { _, result in  // a service that says when, as seconds since 1970
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

    /// The same waits, of which a share is left to chance, so that clients that failed together do not return together.
    ///
    /// - Parameter share: how much of each wait is random: 0 keeps the wait, 0.2 waits 80 to 100 % of it, 1 waits anything
    ///   between nothing and the whole. It is clamped to 0...1; a value that is not a number is 0. Default of
    ///   ``exponential(base:factor:cap:)`` and ``fibonacci(unit:cap:)``: 1; of all others: 0.
    public func jitter(_ share: Double) -> HTTPRetryStrategy {
        let jitter = RetryJitter.upTo(share)
        return replacingPlan(with: { [plan] retry, result in
            plan(retry, result).map { Wait(duration: $0.duration, jitter: jitter) }
        })
    }

    /// Only the first so many waits; a negative count is zero.
    public func times(_ count: Int) -> HTTPRetryStrategy {
        let count = min(max(count, 0), self.count ?? .max)
        return replacingPlan("\(self), \(count) times", count: count) { [plan] retry, result in
            retry <= count ? plan(retry, result) : nil
        }
    }

    /// Another strategy's waits behind these, counted from 1 again.
    ///
    /// ```swift
    /// HTTPRetryStrategy.immediate.times(1).then(.exponential(base: .seconds(1)))  // 0, 1, 2, 4 …
    /// ```
    ///
    /// Behind waits without an end nothing comes: bound them with ``times(_:)``. What is done before a retry, and when it
    /// applies, stay as they are here.
    public func then(_ next: HTTPRetryStrategy) -> HTTPRetryStrategy {
        guard let count else { return self }
        let sum = next.count.map { count.addingReportingOverflow($0) }.map { $0.overflow ? .max : $0.partialValue }
        return replacingPlan("\(self), then \(next)", count: sum) { [plan] retry, result in
            retry <= count ? plan(retry, result) : next.plan(retry - count, result)
        }
    }
}
