// SPDX-License-Identifier: MIT
public import LetterheadFoundation

/// Sends templates and plain requests over one chain of links. Create one client for each API and keep it; derive
/// others from it with modifiers such as `client.timeout(.seconds(5))`. For a chain that you compose yourself, use a
/// ``SendableRequest``.
///
/// ```swift
/// let client = HTTPClient(environment: .production)
/// let user = try await client.send(GetUser(login: "ada"))
/// for try await user in client.items(of: ListFollowers(login: "ada").paginated()) { … }
/// ```
///
/// A client is a value whose copies share the chain and the connections. The chain contains these parts, the outermost
/// first:
///
/// 1. `links`, which run once for each load
/// 2. ``ResetGuard`` and ``Deadline``
/// 3. ``Retry``, which also calls the transformers and the validators
/// 4. ``FollowRedirects``
/// 5. ``ApplyEnvironment``
/// 6. ``Authenticate``
/// 7. `cookies`, if there is a jar
/// 8. `cache`, if there is one
/// 9. ``Autocancel``, if there are `attemptLinks` or a custom transport; and `attemptLinks`, which run for each attempt
///    and for each redirect within it, unless the cache has the response
/// 10. what the `observers` record of each exchange, if there are any
/// 11. the transport
///
/// `print(client)` prints the chain. Join several links of your own with `-->`:
///
/// ```swift
/// let client = HTTPClient(
///     environment: .production, links: PrintLoader() --> CountLoads(), attemptLinks: SignEachAttempt())
/// ```
public struct HTTPClient: Sendable {
    private(set) var chain: any HTTPLoader
    let parts: Parts
    @CopyOnWrite private(set) var defaults: ClientDefaults
    /// The sequence whose requests the client sends; nil for other requests.
    var sequence: Sequence?

    /// Creates a client and its chain. Only the environment is usually needed.
    ///
    /// - Parameters:
    ///   - environment: the base URL, headers and query items for all requests; ``ServerEnvironment/provided(by:)`` calls
    ///     a closure for each attempt. Default: nil (each request must have a complete URL).
    ///   - decoder: the decoder for requests that do not set one. Default: a `JSONDecoder` with its default settings.
    ///   - authentication: signs requests to the origins in its `allowedOrigins`, or, without such a list, to the
    ///     origin of the environment. With neither, it signs no requests. Default: nil (requests are not signed).
    ///   - cookies: the jar that stores the cookies of responses and adds them to later requests. Default: nil (cookies
    ///     are neither stored nor sent).
    ///   - cache: the cache that stores responses and reuses them as RFC 9111 allows. Default: nil (every request is
    ///     sent).
    ///   - transformers: change each response before it is validated. They run in order, before those of the request.
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
        authentication: HTTPAuthentication? = nil, cookies: CookieJar? = nil, cache: (any LoaderLink)? = nil,
        transformers: [ModifyResponse] = [], validators: [any HTTPValidator] = [DefaultValidator()],
        retrying: Retry.Settings = Retry.Settings(), links: (any LoaderLink)? = nil,
        attemptLinks: (any LoaderLink)? = nil, observers: [any HTTPObserver] = [],
        tracing: TraceContextPropagation? = nil, transport: any HTTPLoader = HTTPClient.defaultTransport
    ) {
        let provider = ApplyEnvironment(environment)
        let authenticate = Authenticate(authentication ?? .anonymous)
        let hub = observers.isEmpty && tracing == nil ? nil : ObservationHub(observers, tracing: tracing)
        let endsItself = attemptLinks == nil && transport.endsItsRequests
        let guarded: [(any LoaderLink)?] = [
            Deadline(clock: retrying.clock), Retry(transformers: transformers, validators: validators, retrying),
            FollowRedirects(), provider, authenticate, cookies, cache,
            endsItself ? nil : Autocancel(), attemptLinks, hub.map { ObserveExchanges(tracing: $0.tracing) },
        ]
        parts = Parts(
            provider: provider, authenticate: authenticate, cookies: cookies, hasCache: cache != nil, retry: retrying,
            hub: hub)
        defaults = ClientDefaults(decoder: decoder)
        chain = links --> parts.resetGuard --> (guarded.compactMap(\.self) --> transport)
    }

    /// Creates a client for the API at a base URL, such as `https://api.example.com/v2`; see
    /// ``ServerEnvironment/init(_:method:headers:query:)``. To set anything else, use the other initializer.
    public init(baseURL: String) { self.init(environment: ServerEnvironment(baseURL)) }

    @available(*, unavailable, message: "write HTTPClient(environment: ServerEnvironment(baseURL: url))")
    public init(environment: URL) { self.init(environment: ServerEnvironment(baseURL: environment)) }

    /// Sends a template and returns the decoded value of its response. This is the call for almost every request.
    ///
    /// - Throws: ``HTTPError``; and `CancellationError` if the calling task was cancelled.
    @discardableResult
    public func send<Template: RequestTemplate>(_ template: Template) async throws -> Template.Response {
        try await sendable(template).sendWithResponse().value
    }

    /// Sends a template and returns the decoded value with its response, for headers, metrics and attempts.
    ///
    /// - Throws: the errors of ``send(_:)-(Template)``.
    public func sendWithResponse<Template: RequestTemplate>(
        _ template: Template
    ) async throws -> (value: Template.Response, response: HTTPResponse) {
        try await sendable(template).sendWithResponse()
    }

    func sendable<Template: RequestTemplate>(_ template: Template) -> SendableRequest<Template> {
        SendableRequest(template, over: chain, for: self)
    }

    /// Sends a plain request and returns its response. As with a template, a status that is not accepted is an error.
    ///
    /// - Throws: the errors of ``send(_:)-(Template)``.
    @discardableResult
    @concurrent
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        var load = Load(over: chain, for: self)
        do {
            let begun = load.begin(request)
            return try load.end(try await load.response(to: begun) { try $0.get() })
        } catch {
            throw load.fail(error)
        }
    }

    /// Cancels all requests in flight, removes the state of all links, and returns when nothing of these requests is
    /// sent or received any longer. Call it when a user signs out.
    ///
    /// The requests of other clients over the same transport continue, and their connections stay open. If no other client
    /// uses the transport, later requests use new connections. Page sequences whose iteration has begun end with
    /// `.cancelled`, and each ``Pager`` starts again at its first page, because a cursor may be valid only for the previous
    /// user.
    ///
    /// The reset does not wait for your own code, such as a validator that is still running; when that code returns,
    /// its request ends with `.cancelled` and is not sent again. Only with `attemptLinks` or a custom transport, for which
    /// the client uses ``Autocancel``, the reset waits until the code of these has ended.
    public func reset() async {
        await parts.resetGuard.close { await chain.reset() }
    }
}

extension HTTPClient: CustomStringConvertible {
    public var description: String { "HTTPClient(\(chain))" }
}

/// A client is a value that can be derived: these functions return a client with the same chain, connections, tokens and
/// cache, whose requests begin with the settings.
///
/// ```swift
/// let admin = client.header("X-Admin", "1").timeout(.seconds(5)).validated(by: Audit())
/// let user = try await admin.send(GetUser(login: "ada"))
/// ```
///
/// The modifiers of ``RequestConfigurable`` set limits, decoders, retries and all other options. A setting of a template
/// or a request takes precedence over its client, and the client over the environment. Validators, transformers and
/// closures are added to the request's. The request of a response contains the settings of the client that sent it.
extension HTTPClient: RequestConfigurable {
    /// Returns a client whose requests begin with the settings that a closure sets.
    public func configured(_ change: (inout HTTPRequestOptions) -> Void) -> HTTPClient {
        var options = HTTPRequestOptions()
        change(&options)
        return changing { $0.options.replace(with: options) }
    }

    /// Sets a header for requests that do not set it; see ``RequestTemplate/header(_:_:)``. nil removes it from the
    /// client.
    ///
    /// The header is sent to each host to which the client sends a request. Put a header that only one server may see
    /// into ``ServerEnvironment/headers``, and credentials into an ``HTTPAuthentication``.
    public func header(_ name: HTTPHeaders.Name, _ value: String?) -> HTTPClient {
        changing { $0.headers[name] = value }
    }

    /// Sets headers for requests that do not set them; see ``header(_:_:)``.
    public func headers(_ headers: HTTPHeaders) -> HTTPClient { changing { $0.headers.replace(with: headers) } }

    /// Sets a query parameter for requests that do not set it; see ``RequestTemplate/query(_:_:)``. nil removes it from
    /// the client. It is not added to a URL that a server has chosen, such as that of a next page.
    public func query(_ name: String, _ value: (any QueryValue)?) -> HTTPClient {
        changing { $0.query.set(name, to: value) }
    }

    /// Adds validators, which run after those of a request and before those with which the client was created.
    public func validated(by validators: any HTTPValidator...) -> HTTPClient {
        changing { $0.additions.validators += validators }
    }

    /// Adds transformers, which run after those with which the client was created and before those of a request.
    public func transformed(by transformers: ModifyResponse...) -> HTTPClient {
        changing { $0.additions.responseTransformers += transformers }
    }

    /// Adds a closure that is called for each retry, before those of a request.
    public func onRetry(_ observer: @escaping @Sendable (Retry.Context) async -> Void) -> HTTPClient {
        changing { $0.additions.onRetry = joined($0.additions.onRetry, observer) }
    }

    /// Adds a link above all others, as the first of `links`, for example to print one request:
    /// `client.addingLink(PrintLoader()).send(GetUser(login: "ada"))`.
    ///
    /// A reset of either client ends the requests of both. The link itself is reset only with the returned client.
    public func addingLink(_ link: some LoaderLink) -> HTTPClient {
        var derived = self
        derived.chain = link --> chain
        return derived
    }

    private func changing(_ change: (inout ClientDefaults) -> Void) -> HTTPClient {
        var derived = self
        derived.defaults = defaults.changed(change)
        return derived
    }
}

extension HTTPClient {
    /// The default transport: libcurl on Linux, URLSession on Apple platforms. All clients of a process share it, so
    /// they share their connections.
    ///
    /// A reset of a client ends the requests of this client; requests of other clients continue. A chain without a
    /// client needs ``Autocancel`` for its requests to be cancelled by a reset.
    public static var defaultTransport: any HTTPLoader {
        #if os(Linux)
            CurlLoader.shared
        #else
            URLSessionLoader.shared
        #endif
    }

    /// Creates a transport with a configuration: libcurl on Linux, URLSession on Apple platforms.
    ///
    /// Keep the transport and use it for several clients: when it is released, its connections are closed.
    ///
    /// - Parameter configuration: the settings of the transport. If the transport of the platform does not support a
    ///   setting, each request fails with `.invalidRequest`, and the message names the setting.
    public static func makeTransport(_ configuration: TransportConfiguration) -> any HTTPLoader {
        #if os(Linux)
            CurlLoader(configuration)
        #else
            URLSessionLoader(configuration)
        #endif
    }

    #if canImport(Darwin)
        /// Creates a transport that uses Foundation's `URLSession` with a session configuration.
        ///
        /// Use it to set proxies, protocol classes, TLS settings or service types. To share the cache, the cookies and the
        /// credentials of an existing session, write `makeTransport(sessionConfiguration: session.configuration)`.
        ///
        /// The transport creates a separate session with a copy of the configuration. `timeoutIntervalForRequest` is the
        /// idle timeout, unless a request sets ``RequestSettings/idleTimeout``. The session does not follow redirects,
        /// because a link of the chain follows them. It manages its cache, cookies and credentials itself: a response may
        /// come from the cache, and ``reset()`` does not remove them. <doc:TheTransport> lists what `URLSession` does not
        /// support.
        public static func makeTransport(sessionConfiguration: URLSessionConfiguration) -> any HTTPLoader {
            URLSessionLoader(sessionConfiguration: sessionConfiguration)
        }
    #endif
}

extension HTTPClient {
    /// Sends a template and returns the response when its status and headers have arrived. Use it for a body that is
    /// too large for memory or that you want to process as it arrives.
    ///
    /// ```swift
    /// let response = try await client.stream(Export())
    /// for try await chunk in response.body { … }
    /// ```
    ///
    /// The response is not decoded. The body can be iterated once, and is received while you read it. If you release it
    /// before its end, its connection is closed.
    ///
    /// - Throws: the errors of ``send(_:)-(Template)``, also for a status that is not accepted.
    public func stream<Template: RequestTemplate>(_ template: Template) async throws -> HTTPResponse {
        try await sendable(template.option(ResponseDeliveryOption.self, .streamed)).response()
    }

    /// Sends a template and saves the body of its response to a file. Only a small part of the body is in memory at any
    /// time.
    ///
    /// The file is created or replaced when the body is complete and the response has passed the validators, the check
    /// of its status and the template's `finish`. The size is limited to 16 GiB, or to
    /// ``RequestConfigurable/responseLimit(_:)``. The response is not decoded, and the body of the returned response is
    /// empty; see ``HTTPResponse/savedFile``. If the response to a conditional request is 304, the file remains
    /// unchanged and `savedFile` is nil.
    ///
    /// - Throws: the errors of ``send(_:)-(Template)``; ``HTTPError/Code/unacceptableStatus``, in which case the body
    ///   is not saved; and ``HTTPError/Code/cannotSaveResponse`` if the file cannot be written.
    @discardableResult
    public func download<Template: RequestTemplate>(_ template: Template, to file: URL) async throws -> HTTPResponse {
        try await sendable(template.option(ResponseDeliveryOption.self, .file(file))).response()
    }

    /// Sends a plain request and returns the response when its status and headers have arrived; see
    /// ``stream(_:)-(Template)``.
    public func stream(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await send(request, delivered: .streamed)
    }

    /// Sends a plain request and saves the body of its response to a file; see ``download(_:to:)-(Template,_)``.
    @discardableResult
    public func download(_ request: HTTPRequest, to file: URL) async throws -> HTTPResponse {
        try await send(request, delivered: .file(file))
    }

    private func send(_ request: HTTPRequest, delivered delivery: HTTPResponse.Delivery) async throws -> HTTPResponse {
        var request = request
        request.responseDelivery = delivery
        return try await send(request)
    }
}
