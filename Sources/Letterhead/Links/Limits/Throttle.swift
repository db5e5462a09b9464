// SPDX-License-Identifier: MIT
import Synchronization

/// Limits how many requests run at the same time. Further requests wait in a queue.
///
/// ```swift
/// let client = HTTPClient(environment: .production, attemptLinks: Throttle(limit: 4))
/// ```
///
/// Use it for a server that allows only a few simultaneous requests, or so that large transfers leave bandwidth to
/// other requests. For a limit on the number of requests in a time, use `LimitRate` of `LetterheadResilience`.
///
/// ## Choose the limit
///
/// ```swift
/// let throttle = Throttle(limit: 4)                     // all requests of this link
/// let throttle = Throttle(limit: 2, per: .host)         // to each host
/// let throttle = Throttle(limit: 4, streams: 2)         // 4 calls, and 2 streamed responses
/// throttle.limit = 0                                    // pause, while running requests continue
/// request.throttling = .priority(1)                     // before the others
/// request.throttling = .never                           // not throttled and not counted
/// ```
///
/// ## How requests wait
///
/// - Requests with a higher priority run first. Within a priority, the order of arrival counts.
/// - A request releases its slot when it ends. A streamed response releases it when its body has been read or dropped.
/// - A cancelled request leaves the queue at once. A request with a deadline leaves it at the deadline, with
///   `.timedOut`. A client reset ends the waits of its requests with `.cancelled`.
/// - All chains that contain the same link share its slots.
///
/// ## Choose the position
///
/// In `attemptLinks`, the throttle is at its usual position. In a chain of your own, put it below retry, so that a
/// request occupies no slot while it waits for a retry. Put it below a cache, so that a cache hit needs no slot. If a
/// chain has several throttles, put the one with the narrower scope first. Otherwise, requests that wait for one host
/// would occupy the slots of all hosts.
public final class Throttle: LoaderLink {
    private let state: Mutex<ThrottleState<QueuedRequest>>
    private let scope: Throttle.Settings.Scope
    private let queueLimit: Int
    private let separatesStreams: Bool
    /// Whether `queueLimit` or `streams` is negative.
    private let hasNegative: Bool
    private let clock: any Clock<Duration>

    /// Creates a throttle.
    ///
    /// With a limit of 0, all requests wait until you raise it. With a negative number, each request fails with
    /// `.invalidRequest`.
    ///
    /// A streamed response occupies its slot until its body ends, which can take hours. Set `streams` so that other
    /// requests don't wait for streamed responses.
    ///
    /// - Parameters:
    ///   - limit: the number of requests that run at the same time, in each scope. Default: no limit.
    ///   - streams: the number of separate slots in each scope for requests with ``HTTPResponse/Delivery/streamed``.
    ///     Default: nil (they count as all others).
    ///   - scope: the requests that share a limit. Default: all requests of the link.
    ///   - queueLimit: the number of requests that may wait in each queue. Further ones fail with `.queueFull`.
    ///     Default: no limit.
    ///   - clock: measures the deadlines of waiting requests. Default: the continuous clock.
    public init(
        limit: Int = .max, streams: Int? = nil, per scope: Throttle.Settings.Scope = .client, queueLimit: Int = .max,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        state = Mutex(ThrottleState(limit: limit, streams: streams))
        separatesStreams = streams != nil
        hasNegative = queueLimit < 0 || streams ?? 0 < 0
        self.scope = scope
        self.queueLimit = queueLimit
        self.clock = clock
    }

    /// The limit of each scope, not counting separate slots for streams.
    ///
    /// If you raise it, the next requests in the queue start at once. If you lower it, running requests continue, and
    /// further requests start when enough of them have ended. If you set a negative limit, all waiting requests fail
    /// with `.invalidRequest`.
    public var limit: Int {
        get { state.withLock { $0.limit } }
        set {
            let (woken, outcome) = state.withLock { state in
                let woken = state.setLimit(newValue)
                return newValue < 0 ? (state.clearLines(), Self.negative) : (woken, TurnOutcome.turn)
            }
            for queued in woken { queued.turn.set(outcome) }
        }
    }

    /// The number of requests with a slot, in all scopes.
    public var running: Int { state.withLock { $0.running } }

    /// The number of requests in the queues of all scopes.
    public var waiting: Int { state.withLock { $0.waiting } }

    /// Waits for a slot, and releases it when the response has ended.
    ///
    /// - Throws: `.invalidRequest`, before anything is sent, if a setting is invalid. `.queueFull` if the queue is
    ///   full. `.timedOut` or `.cancelled` if the request leaves the queue without a slot. The errors of the next
    ///   loader.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        guard let priority = request.throttling.priority else { return try await next.load(request) }
        guard !hasNegative else { throw Self.negative.error(for: request, waitingFor: Self.slot) }
        let isStream = separatesStreams && request.responseDelivery == .streamed
        let key = SlotKey(name: try scope.key(of: request), isStream: isStream)
        if !state.withLock({ $0.enter(key) }) { try await waitTurn(of: request, key: key, priority: priority) }
        let lease = ResourceLedger.lease("a slot of the Throttle for \(request.outline)")
        do throws(HTTPError) {
            let response = try await next.load(request)
            // A body that is still arriving keeps the slot.
            response.body.onEnd { [self] _ in leave(key, lease) }
            return response
        } catch {
            leave(key, lease)
            throw error
        }
    }

    /// Ends the waits of requests without a client, and resets the links below. The waits of a client end when that
    /// client is reset.
    public func reset(next: any HTTPLoader) async {
        for queued in state.withLock({ $0.clearLines { $0.request.client == nil } }) { queued.turn.set(.reset) }
        await next.reset()
    }

    private static let negative = TurnOutcome.refused(
        "streams, limit or queueLimit of the Throttle is negative (use 0 or more)")
    private static let slot = "a slot of the Throttle"

    private func waitTurn(of request: HTTPRequest, key: SlotKey, priority: Int)
        async throws(HTTPError)
    {
        let left = request.timeLeft
        if let left, left <= .zero { throw TurnOutcome.tooLate.error(for: request, waitingFor: Self.slot) }
        let waiter = QueuedRequest(request)
        switch state.withLock({ $0.arrive(key, priority: priority, queueLimit: queueLimit, waiter: waiter) }) {
        case .runs: return
        case .refused: throw Self.negative.error(for: request, waitingFor: Self.slot)
        case .full: throw TurnOutcome.full(queueLimit).error(for: request, waitingFor: Self.slot)
        case .waits(let place):
            let queued = request.observation?.enterQueue("throttle")
            defer { queued?.leave() }
            let outcome = await waiter.wait(atMost: left, on: clock) { [self] outcome in
                state.withLock { $0.leaveLine(key, place: place) }?.turn.set(outcome)
            }
            guard case .turn = outcome else { throw outcome.error(for: request, waitingFor: Self.slot) }
        }
    }

    private func leave(_ key: SlotKey, _ lease: ResourceLease?) {
        lease?.release()
        state.withLock { $0.leave(key) }?.turn.set(.turn)
    }
}

extension Throttle: CustomStringConvertible {
    public var description: String {
        let (limit, streams) = state.withLock { ($0.limit, $0.streams) }
        let parts = (limit == .max ? [] : ["\(limit)"]) + (streams.map { ["streams: \($0)"] } ?? [])
        return parts.isEmpty ? "Throttle" : "Throttle(\(parts.joined(separator: ", ")))"
    }
}

extension RequestConfigurable {
    /// Sets ``RequestSettings/throttling``, for example `.throttling(.priority(1))`.
    public func throttling(_ throttling: Throttle.Settings) -> Configured {
        configured { $0.throttling = throttling }
    }
}

enum ThrottlingOption: HTTPRequestOption {
    static let defaultOptionValue = Throttle.Settings.always
}

extension RequestSettings {
    /// Whether the request is throttled, and its priority in the queue. Default: ``Throttle/Settings/always``.
    public var throttling: Throttle.Settings {
        get { self[option: ThrottlingOption.self] }
        set { self[option: ThrottlingOption.self] = newValue }
    }
}

extension Throttle {
    /// Whether ``Throttle`` and `LimitRate` limit a request, and its priority in their queues.
    public struct Settings: Hashable, Sendable {
        /// Limits the request, with priority 0.
        public static let always = Throttle.Settings(priority: 0)

        /// Sends the request at once, without counting it.
        public static let never = Throttle.Settings(priority: nil)

        /// Limits the request, with a priority. Requests with a higher priority are sent first. Within a priority, the
        /// order of arrival counts.
        public static func priority(_ priority: Int) -> Throttle.Settings { Throttle.Settings(priority: priority) }

        /// The priority in the queue. Default: 0. Nil if the request isn't throttled.
        public let priority: Int?
    }
}

extension Throttle.Settings {
    /// Which requests share a limit of ``Throttle`` or `LimitRate`.
    public struct Scope: Sendable {
        private enum Kind: Sendable {
            case client, host
            case key(@Sendable (HTTPRequest) throws -> String)
        }

        private let kind: Kind

        /// All requests of the link.
        public static let client = Scope(kind: .client)

        /// The requests to the same scheme, host and port. Put the link below the environment, which sets the host of a
        /// request.
        public static let host = Scope(kind: .host)

        /// The requests for which a closure returns the same key. If the closure throws, the request fails and nothing
        /// is sent.
        public static func key(_ key: @escaping @Sendable (HTTPRequest) throws -> String) -> Scope {
            Scope(kind: .key(key))
        }

        /// Returns the key of a request. Requests with equal keys share a limit. The key is nil if all requests of the
        /// link share a limit, and for a request without a host.
        ///
        /// - Throws: `.invalidRequest`, or the error that a custom closure throws.
        public func key(of request: HTTPRequest) throws(HTTPError) -> String? {
            switch kind {
            case .client: return nil
            case .host: return request.origin?.description
            case .key(let key):
                do {
                    return try key(request)
                } catch {
                    let own = HTTPError(error, request: request)
                    throw HTTPError(
                        own.code == .unknown ? .invalidRequest : own.code, request: request, underlying: error,
                        message: "the closure that returns the key of the request threw \(type(of: error))",
                        mayHaveBeenSent: false)
                }
            }
        }
    }
}
