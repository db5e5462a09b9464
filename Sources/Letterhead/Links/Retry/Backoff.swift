// SPDX-License-Identifier: MIT
public import LetterheadFoundation

/// Choose how often something is tried again, and how long to wait before. A client's retries, streams that reconnect,
/// and transfers that continue take the same value.
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
/// Set only what differs from the defaults. They depend on the user of the value:
///
/// | User | ``strategy`` | ``maximumRetries`` | Server delay over ``longestServerDelay`` |
/// |---|---|---|---|
/// | ``HTTPClient``, ``Retry`` | the waits that validators suggest | 3 with a strategy, otherwise 0 | ends the retries |
/// | `Reconnection` | exponential | no limit | is shortened |
/// | `ContinueBodies`, downloads, uploads | exponential | 5 | is shortened |
/// | `CircuitBreaker` | only ``HTTPRetryStrategy/honoringRateLimits()`` | not used | is shortened |
/// | `LimitRate` | not used | not used | is shortened |
///
/// A retry gives up because the caller waits for the response. A stream or a transfer would lose what it has, so it
/// continues after the longest delay.
public struct Backoff: Sendable {
    /// The waits. A condition (``HTTPRetryStrategy/when(_:)``) applies only to retries. Default: nil (see the table).
    public var strategy: HTTPRetryStrategy?
    /// The maximum number of retries in succession. The first attempt doesn't count. A negative number is
    /// `.invalidRequest`. Default: nil (see the table).
    public var maximumRetries: Int?
    /// The longest wait that a server may ask for, in `Retry-After`, as the reset of a rate limit, or as the
    /// reconnection time of a stream. Default: 120 seconds.
    public var longestServerDelay: Duration
    /// Measures the waits. The clock of a client's retries also measures the deadlines of its requests and page
    /// sequences. Default: the continuous clock.
    public var clock: any Clock<Duration>
    /// Returns the current date, for comparison with a date that a server sends. Default: the system's date.
    public var now: @Sendable () -> Date
    /// Returns numbers from 0 to 1, for jitter. 1 results in the longest wait. Default: the system's random source.
    public var random: @Sendable () -> Double

    /// The waits of ``HTTPRetryStrategy/exponential``, and the default number of retries.
    public static let exponential = Backoff(.exponential)

    /// See the properties for the defaults.
    public init(
        _ strategy: HTTPRetryStrategy? = nil, maximumRetries: Int? = nil, longestServerDelay: Duration = .seconds(120),
        clock: any Clock<Duration> = ContinuousClock(), now: @escaping @Sendable () -> Date = { Date() },
        random: @escaping @Sendable () -> Double = { .random(in: 0...1) }
    ) {
        (self.strategy, self.maximumRetries, self.clock) = (strategy, maximumRetries, clock)
        (self.longestServerDelay, self.now, self.random) = (longestServerDelay, now, random)
    }

    /// The maximum for requests of a client that set none.
    var requestMaximum: Int { maximumRetries ?? (strategy == nil ? 0 : 3) }

    /// Why a setting is invalid, for the message of an error before anything is sent. Nil if all are valid. A strategy
    /// that sends a request or runs a task is valid only for retries.
    public var brokenRule: String? {
        brokenRule(maximumRetries: maximumRetries ?? 0)
            ?? (strategy?.alternate == nil ? nil : "a strategy that sends a request or runs a task is only for retries")
    }

    func brokenRule(maximumRetries: Int) -> String? {
        if maximumRetries < 0 { return "maximumRetries is negative (use 0 for no retries)" }
        return longestServerDelay < .zero ? "longestServerDelay is negative (use zero or more)" : nil
    }
}

// MARK: Waits

extension Backoff {
    /// Returns the wait of the strategy before a retry, or a longer server delay in the response that failed.
    ///
    /// - Parameters:
    ///   - retry: the number of the retry in succession, from 1.
    ///   - error: why the last attempt failed. Default: nil (it ended as expected, such as a stream).
    ///   - time: the wait that a server set for the first retry. Further retries wait for this time and for the next
    ///     wait of the strategy. Default: nil (each retry waits for the next wait of the strategy).
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

    /// Returns the wait that a response asks for, at most ``longestServerDelay``: its `Retry-After`, or the reset of its
    /// rate limit if the strategy has ``HTTPRetryStrategy/honoringRateLimits()``. Nil without a valid one.
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

    /// Waits before a retry, on behalf of the request.
    ///
    /// - Throws: `.timedOut` at once if the deadline leaves no time for the wait, and `.cancelled` if the client is reset
    ///   or the calling task is cancelled.
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
    ///   - statuses: the statuses of a temporary state.
    ///   - isReading: whether the error ended a body. A connection that is lost inside a body results in an incomplete
    ///     response, so `.invalidResponse` is then temporary, too.
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
    /// Whether a rate limit refused the request: 429, or 403 with `Retry-After` or without a request left.
    var isLimited: Bool {
        if request.accepts(status) { return false }
        if status == .tooManyRequests { return true }
        return status == .forbidden && (headers.retryAfter() != nil || headers.rateLimit().isUsedUp)
    }
}
