// SPDX-License-Identifier: MIT
public import Letterhead
import Synchronization

/// Stops sending requests to a server that fails. The server can then recover, and your callers do not wait for it.
///
/// ```swift
/// let client = HTTPClient(environment: .production, attemptLinks: CircuitBreaker(per: .host))
/// ```
///
/// 1. When too many requests fail, a circuit opens. Further requests fail at once with `.circuitOpen` and aren't sent.
/// 2. After the open time, a few requests are sent as probes. If a probe is cancelled or doesn't reach the server, the
///    next request takes its place.
/// 3. If all probes succeed, the circuit closes. If one fails, it opens again.
///
/// Pass it to a client in `attemptLinks`, below ``Balance``. If a circuit refuses a request, the balance then sends it
/// to a different replica. `Retry` does not retry `.circuitOpen` by default, because the same circuit would refuse the
/// request again.
///
/// To stop all requests yourself, for example during maintenance, call ``isolate()``. To observe the circuits, read
/// ``changes()``.
///
/// - A response counts as soon as its head arrives, even if its body is streamed.
/// - If a request was sent before the circuit changed, its outcome doesn't count.
/// - A reset closes all circuits, except after ``isolate()``.
public final class CircuitBreaker: LoaderLink {
    private let table = Mutex(CircuitTable())
    private let scope: Scope
    private let rule: Rule
    private let openTime: Duration
    private let backoff: Backoff
    private let probes: Int
    private let condition: Retry.Condition?
    private let stopwatch: Stopwatch

    /// Creates a link. All clients that contain it share its circuits.
    ///
    /// - Parameters:
    ///   - scope: the requests that share a circuit.
    ///   - rule: when a circuit opens. Default: when half of at least 20 requests in 10 seconds have failed.
    ///   - openTime: the time until the first probe. A longer `Retry-After` from the server takes precedence.
    ///   - probes: how many probes may be sent at the same time, and how many successes close the circuit.
    ///   - condition: the outcomes that count as failures. Default: nil (`.serverFailures`).
    ///   - backoff: its `longestServerDelay` limits the `Retry-After`. With `honoringRateLimits()`, a rate limit reset
    ///     counts like a `Retry-After`. Its clock and its date are used as well, but neither its waits nor its number
    ///     of retries.
    public init(
        per scope: Scope, opening rule: Rule = .failureRatio(), openTime: Duration = .seconds(30),
        probes: Int = 1, counting condition: Retry.Condition? = nil, backoff: Backoff = Backoff()
    ) {
        (self.scope, self.rule, self.condition) = (scope, rule, condition)
        (self.openTime, self.probes, self.backoff) = (openTime, max(1, probes), backoff)
        stopwatch = Stopwatch(backoff.clock)
    }

    /// Sends the request if its circuit lets it pass, and counts the outcome.
    ///
    /// - Throws: `.circuitOpen` if the circuit refuses the request, `.invalidRequest` if the back-off has a negative
    ///   limit, and errors from the next loader. In the first two cases, nothing was sent.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        if let rule = backoff.brokenRule { throw HTTPError(.invalidRequest, request: request, message: rule) }
        let permit = try permit(for: request)
        let result = await next.result(of: request)
        if let permit { settle(permit, result, of: request) }
        return try result.get()
    }

    /// Closes all circuits, unless ``isolate()`` was called, and resets the links below.
    public func reset(next: any HTTPLoader) async {
        table.withLock { $0.closeAll(endingIsolation: false) }
        await next.reset()
    }

    /// Opens all circuits until ``close()``, for example while the server is being maintained.
    public func isolate() { table.withLock { $0.isolate() } }

    /// Closes all circuits, and ends ``isolate()``.
    public func close() { table.withLock { $0.closeAll(endingIsolation: true) } }

    /// The states by circuit name, for all circuits that are open, half-open or isolated.
    public var states: [String: State] { table.withLock { $0.states } }

    /// Whether all circuits are isolated, because ``isolate()`` was called after the last ``close()``.
    public var isIsolated: Bool { table.withLock { $0.isIsolated } }

    /// Returns all circuit changes from now on, in order. If a reader is slow, it misses changes: the stream keeps the
    /// newest 100.
    public func changes() -> AsyncStream<Change> {
        let (stream, continuation) = AsyncStream.makeStream(of: Change.self, bufferingPolicy: .bufferingNewest(100))
        let number = table.withLock { $0.watch(continuation) }
        continuation.onTermination = { [weak self] _ in
            self?.table.withLock { $0.unwatch(number) }
        }
        return stream
    }

    deinit { table.withLock { $0 }.endWatching() }
}

extension CircuitBreaker: CustomStringConvertible {
    public var description: String { "CircuitBreaker" }
}

extension CircuitBreaker {
    /// Returns a permit from a circuit, or nil if the circuit table is full and the request is sent without a circuit.
    /// Throws if the circuit is open.
    private func permit(for request: HTTPRequest) throws(HTTPError) -> CircuitTable.Permit? {
        let key = scope.key(request)
        let now = stopwatch.now
        let (admission, change) = table.withLock { table in
            (table.admission(key, rule, probes: probes, at: now), table.takeChange())
        }
        if let change { request.record(change) }
        switch admission {
        case .permit(let permit): return permit
        case .untracked: return nil
        case .refused(let reason):
            throw HTTPError(.circuitOpen, request: request, message: reason, mayHaveBeenSent: false)
        }
    }

    private func settle(
        _ permit: CircuitTable.Permit, _ result: Result<HTTPResponse, HTTPError>, of request: HTTPRequest
    ) {
        let health = result.health(of: request, counting: condition)
        let now = stopwatch.now
        let asked = health == .bad ? backoff.serverDelay(in: try? result.get()) : nil
        let openTime = max(openTime, asked ?? .zero)
        let change = table.withLock { table in
            table.settle(permit, health, at: now, probes: probes, openTime: openTime)
            return table.takeChange()
        }
        if let change { request.record(change) }
    }
}

extension HTTPRequest {
    fileprivate func record(_ change: CircuitBreaker.Change) {
        record(.circuitChanged) { event in
            event[.circuit] = change.circuit
            event[.state] = change.state.rawValue
        }
    }
}
