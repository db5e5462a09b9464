public import Foundation

/// A client that sends templates and plain requests over one chain.
///
/// ```swift
/// let client = HTTPClient(environment: .production)
/// let user = try await client.send(GetUser(login: "ada"))
/// for try await user in client.items(of: ListFollowers(login: "ada").paginated()) { … }
/// ```
///
/// A client is a value. Its copies share the chain and the connections. The chain contains these parts, the outermost
/// first:
///
/// 1. `links`, which run once for each load
/// 2. ``ResetGuard``; ``Autocancel``, if there are `attemptLinks` or a custom transport; and ``Deadline``
/// 3. ``Retry``, which also calls the transformers and the validators
/// 4. ``FollowRedirects``
/// 5. ``ApplyEnvironment``
/// 6. `cookies`, if there is a jar
/// 7. ``Authenticate``
/// 8. `cache`, if there is one
/// 9. `attemptLinks`, which run for each attempt and for each redirect within it, unless the cache has the response
/// 10. the transport
///
/// `print(client)` prints the chain. To use several links, join them with `-->`:
///
/// ```swift
/// let client = HTTPClient(
///     environment: .production, links: PrintLoader() --> CountLoads(), attemptLinks: SignEachAttempt())
/// ```
public struct HTTPClient: Sendable {
    private let chain: any HTTPLoader
    /// What the client adds to each load.
    var context: ClientContext

    /// Creates a client and its chain.
    ///
    /// - Parameters:
    ///   - environment: the base URL, headers and query items for all requests. Default: nil (each request must have a
    ///     complete URL).
    ///   - decoder: the decoder for requests that do not set one. Default: a `JSONDecoder` with its default settings.
    ///   - authentication: signs requests to the origins in its `allowedOrigins`, or, without such a list, to the
    ///     origin of the environment. With neither, it signs no requests. Default: nil (requests are not signed).
    ///   - cookies: the jar that stores the cookies of responses and adds them to later requests. Default: nil (cookies
    ///     are neither stored nor sent).
    ///   - cache: the cache that stores responses and reuses them as RFC 9111 allows. Default: nil (every request is
    ///     sent).
    ///   - transformers: change each response before it is validated. They run in order, before those of the request.
    ///     Default: none.
    ///   - validators: check the result of each attempt. They run in order, after those of the request. Default:
    ///     ``DefaultValidator``.
    ///   - retrying: the settings for retries. Its clock also measures deadlines. Default: only requests that set a
    ///     maximum number of retries are retried.
    ///   - links: links that run once for each load, before all other links. Default: nil.
    ///   - attemptLinks: links that run for each attempt and redirect, directly before the transport. Default: nil.
    ///   - observers: receive the events of each load, in order. Default: none.
    ///   - tracing: sends the trace that a request belongs to. Default: nil (no trace is sent).
    ///   - transport: the loader at the end of the chain. Default: ``defaultTransport``.
    public init(
        environment: ServerEnvironment? = nil, decoder: any HTTPBodyDecoder = JSONDecoder(),
        authentication: HTTPAuthentication? = nil, cookies: CookieJar? = nil, cache: ResponseCache? = nil,
        transformers: [ModifyResponse] = [], validators: [any HTTPValidator] = [DefaultValidator()],
        retrying: RetrySettings = RetrySettings(), links: (any LoaderLink)? = nil,
        attemptLinks: (any LoaderLink)? = nil, observers: [any HTTPObserver] = [],
        tracing: TraceContextPropagation? = nil, transport: any HTTPLoader = HTTPClient.defaultTransport
    ) {
        self.init(
            environment, provider: environment.map { ApplyEnvironment($0) } ?? ApplyEnvironment(), decoder: decoder,
            authentication: authentication, cookies: cookies, cache: cache,
            retry: Retry(transformers: transformers, validators: validators, retrying), links: links,
            attemptLinks: attemptLinks, observing: ClientObserving(observers, tracing), transport: transport)
    }

    /// Creates a client whose environment is provided by a closure.
    ///
    /// The closure is called for each attempt and redirect, so a change of the environment applies to the next one. It
    /// is not called for a request that sets its own environment.
    ///
    /// Credentials without `allowedOrigins` are bound to the first origin for which they are used. If the environment
    /// changes, call ``reset()`` to remove stored credentials, or list the origins in `allowedOrigins`.
    public init(
        environment: @escaping @Sendable (HTTPRequest) async throws -> ServerEnvironment,
        decoder: any HTTPBodyDecoder = JSONDecoder(), authentication: HTTPAuthentication? = nil,
        cookies: CookieJar? = nil, cache: ResponseCache? = nil, transformers: [ModifyResponse] = [],
        validators: [any HTTPValidator] = [DefaultValidator()], retrying: RetrySettings = RetrySettings(),
        links: (any LoaderLink)? = nil, attemptLinks: (any LoaderLink)? = nil, observers: [any HTTPObserver] = [],
        tracing: TraceContextPropagation? = nil, transport: any HTTPLoader = HTTPClient.defaultTransport
    ) {
        self.init(
            nil, provider: ApplyEnvironment(environment), decoder: decoder, authentication: authentication,
            cookies: cookies, cache: cache, retry: Retry(transformers: transformers, validators: validators, retrying),
            links: links, attemptLinks: attemptLinks, observing: ClientObserving(observers, tracing),
            transport: transport)
    }

    private init(
        _ environment: ServerEnvironment?, provider: ApplyEnvironment, decoder: any HTTPBodyDecoder,
        authentication: HTTPAuthentication?, cookies: CookieJar?, cache: ResponseCache?, retry: Retry,
        links: (any LoaderLink)?, attemptLinks: (any LoaderLink)?, observing: ClientObserving?,
        transport: any HTTPLoader
    ) {
        let load: [(any LoaderLink)?] = [
            Deadline(clock: retry.settings.clock), retry, FollowRedirects(),
            provider, cookies, Authenticate(authentication ?? .anonymous), cache,
            attemptLinks, observing?.link,
        ]
        let endsItself = attemptLinks == nil && Self.endsItsRequests(transport)
        let sent = (endsItself ? nil : Autocancel()) --> (load.compactMap(\.self) --> transport)
        context = ClientContext(
            decoder: decoder, environment: environment, isEnvironmentAsked: provider.isAsked, observing: observing)
        chain = links --> ResetGuard(of: context.identity) --> sent
    }

    /// Returns the client for the requests of one page sequence.
    var forPages: HTTPClient {
        var client = self
        client.context = context.forPages()
        return client
    }

    /// The generation to which new requests belong. Sequences detect by it that they belong to the previous user.
    var generation: ClientGeneration { context.generation }

    /// The observers and the trace; nil if the client has neither.
    var observing: ClientObserving? { context.observing }

    /// Sends a template and returns the decoded value of its response.
    ///
    /// - Throws: ``HTTPError``; and `CancellationError` if the calling task was cancelled.
    @discardableResult
    public func send<Template: RequestTemplate>(_ template: Template) async throws -> Template.Response {
        try await sendable(template).sendWithResponse().value
    }

    /// Sends a template and returns the decoded value with its response.
    ///
    /// - Throws: ``HTTPError``; and `CancellationError` if the calling task was cancelled.
    public func sendWithResponse<Template: RequestTemplate>(
        _ template: Template
    ) async throws -> (value: Template.Response, response: HTTPResponse) {
        try await sendable(template).sendWithResponse()
    }

    /// Returns a template with the chain of this client.
    func sendable<Template: RequestTemplate>(_ template: Template) -> SendableRequest<Template> {
        SendableRequest(template, over: chain, for: context)
    }

    /// Sends a plain request and returns its response. As with a template, a status that is not accepted is an error.
    ///
    /// - Throws: ``HTTPError``; and `CancellationError` if the calling task was cancelled.
    @discardableResult
    @concurrent
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        var load = Load(over: chain, for: context)
        do {
            let begun = load.begin(request)
            return try load.end(try await load.response(to: begun) { try $0.get() })
        } catch {
            throw load.fail(error)
        }
    }

    /// The statistics of the first ``StatisticsRecorder`` among the observers; nil if there is no such observer.
    public var statistics: HTTPStatistics? {
        observing?.hub.observers.lazy.compactMap { $0 as? StatisticsRecorder }.first?.statistics
    }

    /// Cancels all requests in flight, removes the state of all links, and returns when nothing of these requests is sent
    /// or received any longer.
    ///
    /// Later requests use new connections. The requests of other clients over the same transport continue. The reset does
    /// not wait for your own code, such as a validator that is still running; when it returns, its request ends with
    /// `.cancelled` and is not sent again. Only with `attemptLinks` or a custom transport, for which the client uses
    /// ``Autocancel``, the reset waits until this code has ended as well.
    ///
    /// Call it when a user signs out. Page sequences whose iteration has begun end with `.cancelled`, and each
    /// ``Pager`` starts again at its first page, because a cursor may be valid only for the previous user.
    public func reset() async {
        context.identity.endGeneration()
        await chain.reset()
    }
}

extension HTTPClient: CustomStringConvertible {
    /// The links and the transport of the chain, in order.
    public var description: String { "HTTPClient(\(chain))" }
}
