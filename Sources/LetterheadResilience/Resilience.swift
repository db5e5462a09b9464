// SPDX-License-Identifier: MIT
public import Letterhead
public import LetterheadFoundation

/// The time limits, retries and circuits that most clients need, in the right order.
///
/// ```swift
/// let client = HTTPClient(environment: .production, resilience: .standard)
/// print(client)   // shows each of its parts
/// ```
///
/// Begin with the defaults. When you know the times and limits of your service, change the properties.
///
/// ```swift
/// var resilience = Resilience.standard
/// resilience.deadline = .seconds(10)
/// ```
///
/// A request passes these parts, the outermost first. Set a property to nil to leave its part out.
///
/// 1. ``deadline``, which limits all other parts
/// 2. ``retrying``, with the ``retryBudget``
/// 3. ``hedge`` and ``balance``
/// 4. ``breaker``, so that a request to a server in trouble neither waits for a slot nor is sent
/// 5. ``throttle``
/// 6. ``attemptTimeout``
///
/// ## Share a value between clients
///
/// Clients that are created from one value share its links: the hedge, the balance, the breaker and the throttle. A
/// circuit that opens for one client is open for all, and the throttle limits their requests together. Use this for
/// several clients of one service. A reset of one client also resets the shared links. The other settings, such as the
/// retries with their budget, apply to each client separately.
///
/// For clients that share nothing, use ``standard`` for each: it returns a new value each time. Copies of a value share
/// its links as well. To change a link in one copy only, replace it, such as
/// `slow.throttle = Throttle(limit: 8, streams: 8, per: .host)`.
///
/// <doc:StayingUp> shows what each part does to a service in trouble.
public struct Resilience: Sendable {
    /// The time limit for a whole request with all its retries, unless the request sets a deadline. Default: 30
    /// seconds.
    public var deadline: Duration? = .seconds(30)
    /// When and how often a failed request is retried. Default: at most 2 retries with exponential waits.
    public var retrying = Backoff(.exponential(base: .milliseconds(200)), maximumRetries: 2)
    /// Limits the retries to each origin, so that they don't multiply the requests to a service in trouble. Default:
    /// the standard budget.
    public var retryBudget = Retry.Budget.standard
    /// Sends slow requests a second time. Default: nil (no hedges).
    public var hedge: Hedge?
    /// Spreads requests over several replicas. Default: nil (no replicas).
    public var balance: Balance?
    /// Stops sending requests to a server that fails. Default: a circuit for each host.
    public var breaker: CircuitBreaker?
    /// Limits the requests that are in progress at the same time. Default: 64 requests and 64 streamed responses for
    /// each host.
    public var throttle: Throttle?
    /// The time limit for one attempt. It applies to requests that set no timeout, unless their response is streamed or
    /// saved to a file. Default: 10 seconds.
    public var attemptTimeout: Duration? = .seconds(10)

    /// Creates a value with the defaults.
    ///
    /// - Parameters:
    ///   - clock: measures all times. Pass a test clock in a test.
    ///   - now: returns the current date. It's needed for a `Retry-After` that contains a date.
    public init(
        clock: any Clock<Duration> = ContinuousClock(), now: @escaping @Sendable () -> Date = { Date() }
    ) {
        (retrying.clock, retrying.now) = (clock, now)
        breaker = CircuitBreaker(per: .host, backoff: retrying)
        throttle = Throttle(limit: 64, streams: 64, per: .host, clock: clock)
    }

    /// A new value with the defaults, which has a separate breaker and throttle.
    public static var standard: Resilience { Resilience() }

    /// The links that run once for each request, around its retries. Pass them to a client in `links`.
    public var links: (any LoaderLink)? { deadline.map { Deadline($0, clock: retrying.clock) } }

    /// The links that run for each attempt. Pass them to a client in `attemptLinks`.
    public var attemptLinks: (any LoaderLink)? {
        let links: [(any LoaderLink)?] = [hedge, balance, breaker, throttle, attemptTimeout.map { AttemptTimeout($0) }]
        return links.reduce(nil) { $0 --> $1 }
    }
}

extension HTTPClient {
    /// Creates a client that stays within limits and recovers from failures (see ``Resilience``).
    ///
    /// The other parameters are the same as in the standard client initializer. `links` run before all other links, and
    /// `attemptLinks` below the links in `resilience`.
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

/// Limits the time for each attempt, if its request sets no timeout.
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
