// SPDX-License-Identifier: MIT
public import Letterhead
public import LetterheadFoundation

/// The limits, retries and circuits that most clients need, in the right order.
///
/// ```swift
/// let client = HTTPClient(environment: .production, resilience: .standard)
/// print(client)   // shows each of its parts
/// ```
///
/// A request passes these parts, the outermost first. Set a property to nil to leave its part out.
///
/// 1. ``deadline``, which limits all that follows
/// 2. ``retrying``, with the ``retryBudget``
/// 3. ``hedge`` and ``balance``
/// 4. ``breaker``, so that a request to a server in trouble neither waits for a slot nor is sent
/// 5. ``throttle``
/// 6. ``attemptTimeout``
///
/// Clients that are created from one value share its links: its hedge, balance, breaker and throttle. A circuit that
/// opens for one client is open for all, and the throttle limits their requests together, as you want it for several
/// clients of one service. Resetting one client also resets the links. The other settings, such as the retries with
/// their budget, apply to each client by itself.
///
/// For clients that share nothing, create a value for each. ``standard`` is new each time. A value's copies share its
/// links, too: to change a link in one copy only, replace it, such as
/// `slow.throttle = Throttle(limit: 8, streams: 8, per: .host)`.
public struct Resilience: Sendable {
    /// The total time for a request that sets no deadline. Default: 30 seconds.
    public var deadline: Duration? = .seconds(30)
    /// Default: at most 2 retries with exponential waits.
    public var retrying = Backoff(.exponential(base: .milliseconds(200)), maximumRetries: 2)
    /// Limits the retries to each origin. Default: the standard budget.
    public var retryBudget = Retry.Budget.standard
    /// Default: nil.
    public var hedge: Hedge?
    /// Default: nil.
    public var balance: Balance?
    /// Default: a circuit for each host.
    public var breaker: CircuitBreaker?
    /// Limits the requests that are in progress at the same time. Default: 64 to each host, and 64 streamed responses.
    public var throttle: Throttle?
    /// The time for one attempt. It applies to requests that set no timeout, unless their response is streamed or saved
    /// to a file. Default: 10 seconds.
    public var attemptTimeout: Duration? = .seconds(10)

    /// Creates the defaults.
    ///
    /// - Parameters:
    ///   - clock: measures all times.
    ///   - now: returns the current date, for a `Retry-After` that is a date.
    public init(
        clock: any Clock<Duration> = ContinuousClock(), now: @escaping @Sendable () -> Date = { Date() }
    ) {
        (retrying.clock, retrying.now) = (clock, now)
        breaker = CircuitBreaker(per: .host, backoff: retrying)
        throttle = Throttle(limit: 64, streams: 64, per: .host, clock: clock)
    }

    /// The defaults, with a separate breaker and throttle each time.
    public static var standard: Resilience { Resilience() }

    /// The links around the retries, for a client's parameter `links`.
    public var links: (any LoaderLink)? { deadline.map { Deadline($0, clock: retrying.clock) } }

    /// The links for each attempt, for a client's parameter `attemptLinks`.
    public var attemptLinks: (any LoaderLink)? {
        let links: [(any LoaderLink)?] = [hedge, balance, breaker, throttle, attemptTimeout.map { AttemptTimeout($0) }]
        return links.reduce(nil) { $0 --> $1 }
    }
}

extension HTTPClient {
    /// Creates a client that stays within limits and recovers from failures (see ``Resilience``). The other parameters
    /// are the same as in the client's own initializer. `links` run before all other links, and `attemptLinks` below
    /// the links in `resilience`.
    public init(
        environment: ServerEnvironment? = nil, resilience: Resilience, decoder: any HTTPBodyDecoder = JSONDecoder(),
        authentication: HTTPAuthentication? = nil, cookies: CookieJar? = nil, cache: (any LoaderLink)? = nil,
        transformers: [ModifyResponse] = [], validators: [any HTTPValidator] = [DefaultValidator()],
        links: (any LoaderLink)? = nil, attemptLinks: (any LoaderLink)? = nil, observers: [any HTTPObserver] = [],
        tracing: TraceContextPropagation? = nil, transport: any HTTPLoader = HTTPClient.defaultTransport
    ) {
        self.init(
            environment: environment, decoder: decoder, authentication: authentication, cookies: cookies, cache: cache,
            transformers: transformers, validators: validators, retrying: resilience.retrying,
            retryBudget: resilience.retryBudget, links: links --> resilience.links,
            attemptLinks: resilience.attemptLinks --> attemptLinks, observers: observers, tracing: tracing,
            transport: transport)
    }
}

/// Limits each attempt if its request sets no limit.
struct AttemptTimeout: LoaderLink, CustomStringConvertible {
    private let limit: Duration

    init(_ limit: Duration) { self.limit = limit }

    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        guard request.timeout == nil, request.responseDelivery == .buffered else { return try await next.load(request) }
        var request = request
        request.timeout = limit
        return try await next.load(request)
    }

    var description: String { "AttemptTimeout(\(limit.shown))" }
}
