// SPDX-License-Identifier: MIT
public import Letterhead
import Synchronization

/// Sends a slow request a second time, and returns the response that arrives first.
///
/// A single slow server then doesn't determine how long your slowest calls take.
///
/// ```swift
/// let links = Hedge(after: .quantile(0.95, atLeast: .milliseconds(40)), share: 0.1)
///     --> Balance(among: ["https://a.example.com", "https://b.example.com"])
/// try await client.send(GetOrder(id: 7).hedging(.never))
/// ```
///
/// Pass it to a client in `attemptLinks`, above ``Balance``, which sends the hedge to a different replica. Use it if a
/// few responses are much slower than most. If a service is slow as a whole, hedges don't help.
///
/// - The first response that isn't a failure wins, and the other requests are cancelled. If all fail, the caller
///   receives the first result.
/// - At most the given share of the requests is hedged, so a slow service receives few additional requests. Each
///   request adds the share to a reserve, which is enough for at most ten hedges at once. Each failed request takes one
///   hedge from the reserve, so a service in trouble receives no hedges.
/// - Observers see a hedge as a separate exchange.
/// - A reset forgets the measured response times.
///
/// ## What is never hedged
///
/// - Requests with a method that isn't idempotent, unless they have an `Idempotency-Key`, with which the server
///   recognizes the second request. `.idempotent()` adds it.
/// - Requests with a signature that a server may accept only once (`HTTPRequest.isSignedOnce`), such as `.digest`.
/// - Requests with a one-shot body, and requests that report their progress.
/// - Downloads to a file. If a response is streamed, its head decides the race.
/// - Requests with `.hedging(.never)`.
public final class Hedge: LoaderLink {
    private struct State {
        var latencies: Latencies
        /// How many hedges may be sent, from the shares of earlier requests.
        var saved = 0.0
    }

    /// How many hedges can be saved up.
    private static let mostSaved = 10.0

    private let state: Mutex<State>
    private let delay: Delay
    private let (count, share): (Int, Double)
    private let condition: Retry.Condition?
    private let stopwatch: Stopwatch
    private let timer: HedgeTimer
    let executor: (any TaskExecutor)?

    /// Creates a link. All clients that contain it share its measured times and its reserve of hedges.
    ///
    /// - Parameters:
    ///   - delay: the time before the first hedge, and between one hedge and the next.
    ///   - count: the maximum number of hedges for one request.
    ///   - share: the maximum number of hedges in relation to the requests that can be hedged. With 0.1, there is at
    ///     most one hedge for ten requests.
    ///   - condition: the outcomes that count as failures. Default: nil (`.serverFailures`).
    ///   - clock: measures the delay.
    public convenience init(
        after delay: Delay, atMost count: Int = 1, share: Double = 0.1,
        counting condition: Retry.Condition? = nil, clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.init(after: delay, atMost: count, share: share, counting: condition, clock: clock, executor: nil)
    }

    /// Creates a link that sends its requests on an executor, for a simulation.
    init(
        after delay: Delay, atMost count: Int = 1, share: Double = 0.1,
        counting condition: Retry.Condition? = nil, clock: any Clock<Duration>,
        executor: (any TaskExecutor)?
    ) {
        state = Mutex(State(latencies: Latencies(quantile: delay.share ?? 1)))
        (self.delay, self.count, self.share) = (delay, max(0, count), share > 0 ? min(share, 1) : 0)
        (self.condition, self.executor) = (condition, executor)
        stopwatch = Stopwatch(clock)
        timer = HedgeTimer(clock: clock, stopwatch, executor: executor)
    }

    /// Sends the request, and hedges after the delay. Returns when all of them have ended.
    ///
    /// - Throws: errors from the next loader. If all requests fail, it is the error of the first one.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        request.triedServers?.isOvertaken = false
        guard request.mayBeHedged, count > 0, share > 0 else { return try await next.load(request) }
        let key = delay.share == nil ? nil : RouteKey.route(of: request)
        let (place, delay) = state.withLock { state -> (Latencies.Place?, Duration?) in
            state.saved = min(Self.mostSaved, state.saved + share)
            guard let key else { return (nil, self.delay.duration) }
            let place = state.latencies.place(of: key)
            return (place, state.latencies.delay(at: place).map { max($0, self.delay.duration) })
        }
        let start = stopwatch.now
        let (result, health) = await send(request, to: next, hedgedAfter: delay, since: start)
        switch health {
        case .good:
            guard let place else { break }
            let time = stopwatch.now - start
            state.withLock { $0.latencies.add(time, at: place) }
        case .bad: state.withLock { $0.saved = max(0, $0.saved - 1) }
        case .unknown: break
        }
        return try result.get()
    }

    /// Forgets the measured response times and the reserve of hedges, and resets the links below.
    public func reset(next: any HTTPLoader) async {
        state.withLock { state in
            state.latencies.reset()
            state.saved = 0
        }
        await next.reset()
    }

    private func send(
        _ request: HTTPRequest, to next: any HTTPLoader, hedgedAfter delay: Duration?, since start: Duration
    ) async -> (Result<HTTPResponse, HTTPError>, ServerHealth) {
        guard let delay else {
            let result = await next.result(of: request)
            return (result, health(of: result, to: request))
        }
        var request = request
        // The requests share the list of tried servers, so that each is sent to a different server.
        if request.triedServers == nil { request.triedServers = TriedServers() }
        let race = HedgeRace(request, next, after: delay, for: self)
        return await race.result(atMost: count, on: timer, since: start)
    }

    func health(of result: Result<HTTPResponse, HTTPError>, to request: HTTPRequest) -> ServerHealth {
        result.health(of: request, counting: condition)
    }

    /// Takes a hedge from the share that requests have saved up. Returns false if none is left.
    func takeHedge() -> Bool {
        state.withLock { state in
            // A tenth that is added ten times is a little less than one.
            guard state.saved > 1 - 1e-9 else { return false }
            state.saved -= 1
            return true
        }
    }
}

extension Hedge: CustomStringConvertible {
    /// The delay and the share: `Hedge(0.04 seconds, share 0.1)`.
    public var description: String { "Hedge(\(delay), share \(share))" }
}

extension HTTPRequest {
    fileprivate var mayBeHedged: Bool {
        guard hedging == .standard, method.isIdempotent || isIdempotent && headers.contains("Idempotency-Key"),
            body.isEmpty || body.isReplayable, onProgress == nil, !isSignedOnce
        else { return false }
        if case .file = responseDelivery { return false }
        return true
    }
}

extension Hedge {
    /// Determines how long a request waits for its response before a hedge is sent.
    public struct Delay: Sendable, CustomStringConvertible {
        let share: Double?
        let duration: Duration

        /// The same time for all requests. A duration below zero counts as zero.
        public static func fixed(_ duration: Duration) -> Delay { Delay(share: nil, duration: max(.zero, duration)) }

        /// A time that the link measures for each route: this share of the last 128 responses arrived within it.
        ///
        /// With a share of 0.95, one request in twenty is slow enough to be hedged. The time is at least `duration`.
        /// Until 32 responses from a route are known, requests to it aren't hedged.
        public static func quantile(_ share: Double, atLeast duration: Duration = .milliseconds(1)) -> Delay {
            Delay(share: share.isNaN ? 0.95 : min(max(share, 0), 1), duration: max(.zero, duration))
        }

        /// The delay, such as `0.04 seconds` or `quantile 0.95, at least 0.001 seconds`.
        public var description: String { share.map { "quantile \($0), at least \(duration)" } ?? "\(duration)" }
    }

    /// Determines whether a request may be hedged.
    public enum Setting: Sendable, Hashable {
        /// The request may be hedged if it fulfills the conditions of ``Hedge``.
        case standard
        /// The request is never hedged.
        case never
    }
}

enum HedgingOption: HTTPRequestOption {
    static let defaultOptionValue = Hedge.Setting.standard
}

extension RequestSettings {
    /// Whether ``Hedge`` may send the request a second time before its response has arrived. Default:
    /// ``Hedge/Setting/standard``.
    public var hedging: Hedge.Setting {
        get { self[option: HedgingOption.self] }
        set { self[option: HedgingOption.self] = newValue }
    }
}

extension RequestConfigurable {
    /// Sets whether ``Hedge`` may send the request a second time before its response has arrived: `.hedging(.never)`.
    public func hedging(_ setting: Hedge.Setting) -> Configured { option(HedgingOption.self, setting) }
}

extension HTTPEvent.Name {
    /// A hedge was sent. The fact `count` contains its number, and `wait` the time since the first request was sent.
    public static let hedgeSent: Self = "hedge.sent"
    /// A hedge has received the first good response. The fact `count` contains its number.
    public static let hedgeWon: Self = "hedge.won"
}
