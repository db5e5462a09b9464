// SPDX-License-Identifier: MIT
public import LetterheadFoundation

/// Chooses how often something is tried again, and how long to wait before. The retries of a client, streams that
/// reconnect, and transfers that continue take the same value.
///
/// ```swift
/// let patient = Backoff(.exponential, maximumRetries: 5, longestServerDelay: .seconds(600))
/// let client = HTTPClient(environment: .production, retrying: patient)
///
/// // With LetterheadStreaming:
/// for try await event in client.events(of: News(), reconnecting: .whenClosed(patient)) { print(event.data) }
/// // With LetterheadTransfers:
/// try await client.download(GetVideo(id: 3), to: file, resuming: .fromPart, continuing: patient)
/// ```
///
/// Set only what differs from the defaults, which depend on where you pass the value:
///
/// | Passed to | ``strategy`` | ``maximumRetries`` | Server delay over ``longestServerDelay`` |
/// |---|---|---|---|
/// | ``HTTPClient``, ``Retry`` | the waits that validators suggest | 3 with a strategy, else 0 | ends the retries |
/// | `Reconnection` | exponential | no limit | is shortened |
/// | `ContinueBodies`, downloads, uploads | exponential | 5 | is shortened |
/// | `CircuitBreaker` | only ``HTTPRetryStrategy/honoringRateLimits()`` | not used | is shortened |
/// | `LimitRate` | not used | not used | is shortened |
///
/// If a server asks for a wait over ``longestServerDelay``, a retry gives up, because a caller waits for the response.
/// A stream or a transfer would lose what it has received, so it continues after the longest delay instead.
public struct Backoff: Sendable {
    /// The waits before the retries. Default: nil (see the table).
    ///
    /// A condition of the strategy (``HTTPRetryStrategy/when(_:)``) applies only to retries of requests.
    public var strategy: HTTPRetryStrategy?
    /// The maximum number of retries in succession. The first attempt doesn't count. Default: nil (see the table).
    ///
    /// With a negative number, each request fails with `.invalidRequest`.
    public var maximumRetries: Int?
    /// The longest wait that a server may ask for. Default: 120 seconds.
    ///
    /// A server asks for a wait in `Retry-After`, with the reset of a rate limit, or with the reconnection time of a
    /// stream.
    public var longestServerDelay: Duration
    /// Measures the waits. Default: the continuous clock.
    ///
    /// In a client, this clock also measures the deadlines of requests and page sequences.
    public var clock: any Clock<Duration>
    /// Returns the current date, for comparison with a date that a server sends. Default: the system date.
    public var now: @Sendable () -> Date
    /// Returns numbers from 0 to 1, for jitter. 1 results in the longest wait. Default: the system random source.
    public var random: @Sendable () -> Double

    /// Exponential waits from one second, with the default number of retries.
    public static let exponential = Backoff(.exponential)

    /// Creates a value. The properties describe the defaults.
    public init(
        _ strategy: HTTPRetryStrategy? = nil, maximumRetries: Int? = nil, longestServerDelay: Duration = .seconds(120),
        clock: any Clock<Duration> = ContinuousClock(), now: @escaping @Sendable () -> Date = { Date() },
        random: @escaping @Sendable () -> Double = { .random(in: 0...1) }
    ) {
        (self.strategy, self.maximumRetries, self.clock) = (strategy, maximumRetries, clock)
        (self.longestServerDelay, self.now, self.random) = (longestServerDelay, now, random)
    }

    /// The maximum number of retries for requests that don't set one.
    var requestMaximum: Int { maximumRetries ?? (strategy == nil ? 0 : 3) }

    /// Why a setting is invalid, for the message of an error before anything is sent. Nil if all settings are valid.
    ///
    /// A strategy that sends a request or runs a task is valid only for retries.
    public var brokenRule: String? {
        brokenRule(maximumRetries: maximumRetries ?? 0)
            ?? (strategy?.alternate == nil
                ? nil : "a strategy that sends a request or runs a task can be used only for retries")
    }

    func brokenRule(maximumRetries: Int) -> String? {
        if maximumRetries < 0 { return "maximumRetries is negative (use 0 for no retries)" }
        return longestServerDelay < .zero ? "longestServerDelay is negative (use zero or more)" : nil
    }
}

// MARK: Waits

extension Backoff {
    /// Returns the wait before a retry: the wait of the strategy, or a longer wait that the failed response asks for.
    ///
    /// - Parameters:
    ///   - retry: the number of the retry in succession, from 1.
    ///   - error: why the last attempt failed. Default: nil (it ended as expected, such as a stream).
    ///   - time: a wait that a server has set in advance, such as the reconnection time of a stream. The first retry
    ///     waits for this time. Each further retry waits for this time and for the next wait of the strategy. Default:
    ///     nil (each retry waits for the next wait of the strategy).
    /// - Returns: nil if no retry is left.
    public func wait(before retry: Int, after error: HTTPError? = nil, from time: Duration? = nil) -> Duration? {
        guard retry <= maximumRetries ?? .max else { return nil }
        var wait = min(time ?? .zero, longestServerDelay)
        let step = time == nil ? retry : retry - 1
        if step > 0 {
            let result = error.map { Result<HTTPResponse, HTTPError>.failure($0) }
            let next = (strategy ?? .exponential).delay(before: step, after: result, random: random)
            guard let next else { return nil }
            wait += next
        }
        return max(wait, serverDelay(in: error?.response) ?? .zero)
    }

    /// Returns the wait that a response asks for, at most ``longestServerDelay``. Nil if it asks for no valid wait.
    ///
    /// The wait is in `Retry-After`, or in the reset of a rate limit if the strategy has
    /// ``HTTPRetryStrategy/honoringRateLimits()``.
    public func serverDelay(in response: HTTPResponse?) -> Duration? {
        requestedDelay(in: response, for: strategy).map { min($0, longestServerDelay) }
    }

    /// Returns the wait that a response asks for, however long it is.
    func requestedDelay(in response: HTTPResponse?, for strategy: HTTPRetryStrategy?) -> Duration? {
        guard let response else { return nil }
        let date = now()
        if let delay = response.headers.retryAfter(now: date) { return delay }
        guard strategy?.honorsRateLimits == true, response.isLimited else { return nil }
        return response.headers.rateLimit(now: date).wait
    }

    /// Waits before a retry, on behalf of a request.
    ///
    /// - Throws: `.timedOut` at once if the deadline of the request leaves no time for the wait, and `.cancelled` if
    ///   the client is reset or the calling task is cancelled.
    public func pause(_ request: HTTPRequest, for wait: Duration) async throws(HTTPError) {
        guard request.hasTime(for: wait) else { throw request.deadlinePassed(while: "waiting to retry") }
        if wait > .zero { try await request.pause(for: wait, on: clock) }
    }
}

// MARK: Temporary failures

extension HTTPError {
    /// Returns whether the same request may succeed later: after a status of a temporary state, and after
    /// ``Retry/Condition/standardFailures``.
    ///
    /// - Parameters:
    ///   - statuses: the statuses of a temporary state. Default: ``Retry/Condition/standardStatuses``.
    ///   - isReading: whether the error ended a body. A connection that is lost inside a body results in an incomplete
    ///     response, so `.invalidResponse` is then temporary, too. Default: false.
    public func isTemporary(
        statuses: Set<HTTPStatus> = Retry.Condition.standardStatuses, whileReading isReading: Bool = false
    ) -> Bool {
        if let status = response?.status, code == .unacceptableStatus || code == .retriesExhausted {
            return statuses.contains(status)
        }
        return Retry.Condition.standardFailures.contains(code) || (isReading && code == .invalidResponse)
    }
}

extension HTTPResponse {
    /// Whether a rate limit refused the request. The response is a 429, or a 403 that has a `Retry-After` or reports
    /// that no request is left.
    var isLimited: Bool {
        if request.accepts(status) { return false }
        if status == .tooManyRequests { return true }
        return status == .forbidden && (headers.retryAfter() != nil || headers.rateLimit().isUsedUp)
    }
}
