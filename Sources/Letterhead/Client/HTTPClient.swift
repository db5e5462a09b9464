// SPDX-License-Identifier: MIT
public import LetterheadFoundation

/// Sends requests to an API, with the environment, authentication, cookies, cache and retries that you choose.
///
/// ```swift
/// let client = HTTPClient(environment: .production)
/// let user = try await client.send(GetUser(login: "ada"))
/// for try await user in client.items(of: ListFollowers(login: "ada").paginated()) { … }
/// ```
///
/// Create one client for each API and keep it, because a client holds the tokens, the cookies and the cache of its
/// requests. Copies of a client share all of them. When a user signs out, call ``reset()``.
///
/// ## Derive clients
///
/// To change settings for some requests, derive a client with modifiers. The derived client uses the same connections,
/// tokens and cache:
///
/// ```swift
/// let quick = client.timeout(.seconds(5)).header("X-Trace", "1")
/// ```
///
/// ## Add links
///
/// A client is a chain of links: each link receives a request, passes it on, and receives the response. Pass your own
/// links as `links` to run them once for each request, or as `attemptLinks` to run them for each attempt. Join several
/// links with `-->`:
///
/// ```swift
/// let client = HTTPClient(
///     environment: .production, links: PrintLoader() --> CountLoads(), attemptLinks: SignEachAttempt())
/// ```
///
/// ## The chain
///
/// `print(client)` prints the links of a client, the outermost first:
///
/// 1. your `links`: run once for each request
/// 2. reset guard, ``ResetGuard``: refuses requests during a reset
/// 3. deadline, ``Deadline``: limits the time of everything below
/// 4. retry, ``Retry``: calls the transformers and the validators, and retries
/// 5. redirects, ``FollowRedirects``: follows them safely
/// 6. environment, ``ApplyEnvironment``: adds the base URL, the headers and the query
/// 7. authentication, ``Authenticate``: signs requests to the allowed origins
/// 8. cookies, ``CookieJar``: if you pass a jar
/// 9. cache: if you pass one
/// 10. autocancel, ``Autocancel``: if there are `attemptLinks`, or a transport that can't end its requests
/// 11. your `attemptLinks`: run for each attempt and redirect, unless the cache has the response
/// 12. recording: if there are observers or a trace
/// 13. transport: libcurl, or `URLSession` on Apple platforms
///
/// <doc:OrderingALoaderChain> explains this order. To send a template over a chain that you compose yourself, use a
/// ``SendableRequest``.
public struct HTTPClient: Sendable {
    private(set) var chain: any HTTPLoader
    let parts: Parts
    private(set) var sharedDefaults: CopyOnWrite<ClientDefaults>
    /// The series that the client sends requests for. Nil if its requests don't belong to a series.
    var sequence: Series?

    /// Creates a client and its chain. Usually, you pass only the environment.
    ///
    /// - Parameters:
    ///   - environment: the base URL, headers and query items for all requests. ``ServerEnvironment/provided(by:)``
    ///     calls a closure for each attempt. Default: nil (each request must have a complete URL).
    ///   - decoder: the decoder for requests that don't set one. Default: a `JSONDecoder` with its default settings.
    ///   - authentication: signs requests to the origins in its `allowedOrigins`. Without such a list, it signs
    ///     requests to the origin of the environment. With neither, it signs no requests. Default: nil (requests are
    ///     not signed).
    ///   - cookies: the jar that stores cookies from responses and adds them to later requests. Default: nil (cookies
    ///     are neither stored nor sent).
    ///   - cache: the cache that stores responses and reuses them as RFC 9111 allows. Default: nil (every request is
    ///     sent).
    ///   - transformers: change each response before it is validated. They run in order, before the transformers of the
    ///     request. Default: none.
    ///   - validators: judge the response or failure of each attempt. They run in order, after the validators of the
    ///     request. Default: ``DefaultValidator``.
    ///   - retrying: how often and when requests are retried, such as `.exponential`. Its clock also measures
    ///     deadlines. Default: only requests that set a maximum number of retries are retried.
    ///   - retryBudget: limits the retries to each origin, so that they don't overload a failing server. Default:
    ///     ``Retry/Budget/standard``.
    ///   - links: links that run once for each request, before all other links. Default: nil.
    ///   - attemptLinks: links that run for each attempt and redirect, directly before the transport. Default: nil.
    ///   - observers: receive the events of each request, in order. Default: none.
    ///   - tracing: sends the trace that a request belongs to. Default: nil (no trace is sent).
    ///   - transport: the loader at the end of the chain. Default: ``defaultTransport``.
    public init(
        environment: ServerEnvironment? = nil, decoder: any HTTPBodyDecoder = JSONDecoder(),
        authentication: HTTPAuthentication? = nil, cookies: CookieJar? = nil, cache: (any LoaderLink)? = nil,
        transformers: [ModifyResponse] = [], validators: [any HTTPValidator] = [DefaultValidator()],
        retrying: Backoff = Backoff(), retryBudget: Retry.Budget = .standard, links: (any LoaderLink)? = nil,
        attemptLinks: (any LoaderLink)? = nil, observers: [any HTTPObserver] = [],
        tracing: TraceContextPropagation? = nil, transport: any HTTPLoader = HTTPClient.defaultTransport
    ) {
        let hub = observers.isEmpty && tracing == nil ? nil : ObservationHub(observers, tracing: tracing)
        parts = Parts(
            applyEnvironment: ApplyEnvironment(environment), authenticate: Authenticate(authentication ?? .anonymous),
            cookies: cookies, retry: retrying, hub: hub)
        sharedDefaults = CopyOnWrite(wrappedValue: ClientDefaults(decoder: decoder))
        let endsItself = attemptLinks == nil && transport.endsItsRequests
        // This list is the order of the links. Documents and tests are compared with it. `JoinedChain` and
        // `ChainBelow` aren't links: they hold the links whose types the compiler knows, and the rest of the chain.
        chain =
            links
            --> JoinedChain(
                parts.resetGuard
                    ==> Deadline(clock: retrying.clock)
                    ==> Retry(transformers: transformers, validators: validators, retrying, budget: retryBudget)
                    ==> FollowRedirects()
                    ==> parts.applyEnvironment
                    ==> parts.authenticate
                    ==> ChainBelow(
                        cookies
                            --> cache
                            --> (endsItself ? nil : Autocancel())
                            --> attemptLinks
                            --> hub.map { ObserveExchanges(tracing: $0.tracing) }
                            --> transport))
    }

    /// Creates a client for the API at a base URL, such as `https://api.example.com/v2`. To set anything else, use the
    /// other initializer.
    ///
    /// ``ServerEnvironment/init(_:method:headers:query:)`` describes which URLs are valid.
    public init(baseURL: String) { self.init(environment: ServerEnvironment(baseURL)) }

    @available(*, unavailable, message: "write HTTPClient(environment: ServerEnvironment(baseURL: url))")
    public init(environment: URL) { self.init(environment: ServerEnvironment(baseURL: environment)) }

    /// Sends a template and returns its decoded value. This is the call for almost every request.
    ///
    /// - Throws: ``HTTPError``, or `CancellationError` if the calling task was cancelled.
    @discardableResult
    public func send<Template: RequestTemplate>(_ template: Template) async throws -> Template.Response {
        try await sendable(template).sendWithResponse().value
    }

    /// Sends a template and returns the decoded value with its response. Use the response for headers, metrics and
    /// attempts.
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

    /// Sends a plain request and returns its response. As with a template, a status that isn't accepted is an error.
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

    /// Cancels all requests of this client, and removes what its links have stored, such as tokens, cookies and a
    /// cache. Call it when a user signs out.
    ///
    /// When the call returns, none of the cancelled requests sends or receives anything any longer.
    ///
    /// - Requests of other clients over the same transport continue, and their connections stay open. Requests that
    ///   were sent without a client end too, except over ``defaultTransport``.
    /// - If no other client uses the transport, later requests use new connections.
    /// - A page sequence that has begun ends with `.cancelled`. A ``Pager`` starts again at its first page, because a
    ///   cursor may be valid only for the previous user.
    /// - The reset doesn't wait for your own code, such as a validator that is still running. When that code returns,
    ///   its request ends with `.cancelled` and isn't sent again. With `attemptLinks` or a custom transport, the client
    ///   uses ``Autocancel``, and the reset waits until their code has ended.
    public func reset() async {
        await parts.resetGuard.close { await chain.reset() }
    }
}

extension HTTPClient {
    var defaults: ClientDefaults { sharedDefaults.wrappedValue }
}

extension HTTPClient: CustomStringConvertible {
    public var description: String { "HTTPClient(\(chain))" }
}

/// These functions derive a client with different settings. The derived client shares the chain, connections, tokens
/// and cache of the original.
///
/// ```swift
/// let admin = client.header("X-Admin", "1").timeout(.seconds(5)).validated(by: Audit())
/// let user = try await admin.send(GetUser(login: "ada"))
/// ```
///
/// The modifiers of ``RequestConfigurable`` set limits, decoders, retries and all other options. If a setting is made
/// in several places, the first of these counts: the template or request, the client, the environment. Validators,
/// transformers and closures are different: those in the client run in addition to those in the request. The request in
/// a response contains the settings of the client that sent it.
extension HTTPClient: RequestConfigurable {
    /// Returns a client that adds settings to requests that don't set them. The closure makes the settings.
    public func configured(_ change: (inout HTTPRequestOptions) -> Void) -> HTTPClient {
        var options = HTTPRequestOptions()
        change(&options)
        return changing { $0.options.replace(with: options) }
    }

    /// Sets a header for requests that don't set it. Pass nil to remove it from the client.
    ///
    /// The client sends the header to every host. It doesn't add a secret header to a request with
    /// ``HTTPRequest/removedHeaders``, whose URL a different server has chosen. Put a header that only one server may see
    /// into ``ServerEnvironment/headers``, and credentials into an ``HTTPAuthentication``. See
    /// ``RequestTemplate/header(_:_:)``.
    public func header(_ name: HTTPHeaders.Name, _ value: String?) -> HTTPClient {
        changing { $0.headers[name] = value }
    }

    /// Sets several headers for requests that don't set them. See ``header(_:_:)``.
    public func headers(_ headers: HTTPHeaders) -> HTTPClient { changing { $0.headers.replace(with: headers) } }

    /// Prevents this client, its environment and the bodies from adding a header. If a request sets the header itself,
    /// it is sent nevertheless. See ``RequestTemplate/omittingHeader(_:)``.
    public func omittingHeader(_ name: HTTPHeaders.Name) -> HTTPClient {
        changing { $0.options.omittedHeaders.insert(name) }
    }

    /// Sets a query parameter for requests that don't set it. Pass nil to remove it from the client.
    ///
    /// The parameter isn't added to a URL that a server has chosen, such as the link to a next page. See
    /// ``RequestTemplate/query(_:_:)``.
    public func query(_ name: String, _ value: (any QueryValue)?) -> HTTPClient {
        changing { $0.query.set(name, to: value) }
    }

    /// Adds validators. They run after the validators of a request and before those that the client was created with.
    public func validated(by validators: any HTTPValidator...) -> HTTPClient {
        changing { $0.additions.validators += validators }
    }

    /// Adds transformers. They run after those that the client was created with and before the transformers of a
    /// request.
    public func transformed(by transformers: ModifyResponse...) -> HTTPClient {
        changing { $0.additions.responseTransformers += transformers }
    }

    /// Adds a closure that is called for each retry, before the closures that a request sets.
    public func onRetry(_ observer: @escaping @Sendable (Retry.Context) async -> Void) -> HTTPClient {
        changing { $0.additions.onRetry = joined($0.additions.onRetry, observer) }
    }

    /// Adds a link above all others, as the first of `links`, for example to print one request:
    /// `client.addingLink(PrintLoader()).send(GetUser(login: "ada"))`.
    ///
    /// Resetting either client ends the requests of both. Only resetting the returned client resets the link itself.
    public func addingLink(_ link: some LoaderLink) -> HTTPClient {
        changed(self) { $0.chain = link --> chain }
    }

    private func changing(_ change: (inout ClientDefaults) -> Void) -> HTTPClient {
        changed(self) { $0.sharedDefaults.wrappedValue.change(change) }
    }
}

extension HTTPClient {
    /// The default transport, which all clients of a process share with its connections. It is libcurl on Linux and
    /// URLSession on Apple platforms.
    ///
    /// Resetting a client ends only the requests of this client. If you send requests without a client, add
    /// ``Autocancel`` to their chain, so that a reset of the chain cancels them.
    public static var defaultTransport: any HTTPLoader {
        #if os(Linux)
            CurlLoader.shared
        #else
            URLSessionLoader.shared
        #endif
    }

    /// Creates a transport with a configuration: libcurl on Linux, URLSession on Apple platforms.
    ///
    /// Keep the transport and use it for several clients: when it is released, its connections close.
    ///
    /// Resetting one of these clients ends its own requests and all requests that were sent without a client. The
    /// requests of other clients continue. If you have a chain without a client that must survive a reset, create a
    /// separate transport for it, or use ``defaultTransport``.
    ///
    /// - Parameter configuration: the transport settings. If the transport of this platform doesn't support a setting,
    ///   each request fails with `.invalidRequest`, and the message names the setting.
    public static func makeTransport(_ configuration: TransportConfiguration) -> any HTTPLoader {
        #if os(Linux)
            CurlLoader(configuration)
        #else
            URLSessionLoader(configuration)
        #endif
    }

    #if canImport(Darwin)
        /// Creates a transport that uses `URLSession` of Foundation with a session configuration.
        ///
        /// Use it to set proxies, protocol classes, TLS settings or service types. To share the cache, cookies and
        /// credentials of an existing session, write `makeTransport(sessionConfiguration: session.configuration)`.
        ///
        /// - The transport creates a separate session with a copy of the configuration.
        /// - `timeoutIntervalForRequest` is the idle timeout, unless a request sets ``RequestSettings/idleTimeout``.
        /// - The session doesn't follow redirects, because a link of the chain follows them.
        /// - The session manages its cache, cookies and credentials itself. A response may come from its cache, and
        ///   ``reset()`` doesn't remove what it has stored.
        /// - A reset ends requests as described for ``makeTransport(_:)``.
        ///
        /// <doc:TheTransport> lists what `URLSession` doesn't support.
        public static func makeTransport(sessionConfiguration: URLSessionConfiguration) -> any HTTPLoader {
            URLSessionLoader(sessionConfiguration: sessionConfiguration)
        }
    #endif
}

extension HTTPClient {
    /// Sends a template and returns the response as soon as its status and headers have arrived. The body arrives as
    /// you read it.
    ///
    /// ```swift
    /// let response = try await client.stream(Export())
    /// for try await chunk in response.body { … }
    /// ```
    ///
    /// Use it for a body that is too large for memory, or to process a body while it arrives. The response isn't
    /// decoded. You can iterate the body once. If you release it before its end, its connection closes.
    ///
    /// - Throws: the errors of ``send(_:)-(Template)``, also for a status that isn't accepted.
    public func stream<Template: RequestTemplate>(_ template: Template) async throws -> HTTPResponse {
        try await sendable(template.option(ResponseDeliveryOption.self, .streamed)).response()
    }

    /// Sends a template and saves the response body to a file. Only a small part of the body is in memory at any time.
    ///
    /// The file is created or replaced when the body is complete and the response has passed the validators, the status
    /// check and ``RequestTemplate/finish(_:)``. Until then, an existing file stays unchanged.
    ///
    /// - The size is limited to 16 GiB, or to ``RequestConfigurable/responseLimit(_:)``.
    /// - The response isn't decoded. The body of the returned response is empty, and ``HTTPResponse/savedFile`` is the
    ///   URL of the file.
    /// - If a conditional request gets a 304, the file remains unchanged and `savedFile` is nil.
    ///
    /// - Throws: the errors of ``send(_:)-(Template)``. ``HTTPError/Code/unacceptableStatus`` without saving the body.
    ///   ``HTTPError/Code/cannotSaveResponse`` if the file cannot be written.
    @discardableResult
    public func download<Template: RequestTemplate>(_ template: Template, to file: URL) async throws -> HTTPResponse {
        try await sendable(template.option(ResponseDeliveryOption.self, .file(file))).response()
    }

    /// Sends a template and saves the response body in a folder, under the name that the server suggests.
    ///
    /// ```swift
    /// let file = try await client.download(GetInvoice(id: 3), into: folder)  // …/invoice-3.pdf
    /// ```
    ///
    /// The name is ``HTTPResponse/suggestedFilename``, or `download` if the server suggests none. An existing file is
    /// never replaced: the name then gets a number, as in `invoice-3-1.pdf`, even if a different process creates the
    /// file at the same moment. Everything else is as in ``download(_:to:)-(Template,_)``.
    ///
    /// - Parameters:
    ///   - template: the template to send.
    ///   - folder: an existing folder.
    /// - Returns: the URL of the file.
    /// - Throws: the errors of ``download(_:to:)-(Template,_)``, and ``HTTPError/Code/cannotSaveResponse`` for a 304.
    @discardableResult
    public func download<Template: RequestTemplate>(_ template: Template, into folder: URL) async throws -> URL {
        try await sendable(template.configured { $0.deliver(into: folder) }).response().file()
    }

    /// Sends a plain request and returns the response as soon as its status and headers have arrived. See
    /// ``stream(_:)-(Template)``.
    public func stream(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await send(request, delivered: .streamed)
    }

    /// Sends a plain request and saves the response body to a file. See ``download(_:to:)-(Template,_)``.
    @discardableResult
    public func download(_ request: HTTPRequest, to file: URL) async throws -> HTTPResponse {
        try await send(request, delivered: .file(file))
    }

    /// Sends a plain request and saves the response body in a folder. See ``download(_:into:)-(Template,_)``.
    @discardableResult
    public func download(_ request: HTTPRequest, into folder: URL) async throws -> URL {
        var request = request
        request.deliver(into: folder)
        return try await send(request).file()
    }

    private func send(_ request: HTTPRequest, delivered delivery: HTTPResponse.Delivery) async throws -> HTTPResponse {
        var request = request
        request.responseDelivery = delivery
        // The request may be from an earlier download into a folder, for example from an error.
        request.options.remove(FolderDownloadOption.self)
        return try await send(request)
    }
}

extension HTTPResponse {
    fileprivate func file() throws(HTTPError) -> URL {
        guard let savedFile else {
            throw HTTPError(
                .cannotSaveResponse, request: request, response: self,
                message: "no file was saved, because the response is \(status)")
        }
        return savedFile
    }
}

/// A chain of links with types that the compiler knows. It joins their functions, so that a request needs no
/// asynchronous call between them.
private final class JoinedChain: HTTPLoader, CustomStringConvertible {
    private let chain: any HTTPLoader
    private let answer: @Sendable (HTTPRequest) async throws(HTTPError) -> HTTPResponse

    @inline(__always)
    init(_ chain: some HTTPLoader) {
        self.chain = chain
        answer = { (request) async throws(HTTPError) in try await chain.load(request) }
    }

    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse { try await answer(request) }

    func reset() async { await chain.reset() }

    var description: String { chainName(of: chain) }
}

/// The rest of a joined chain, which is known only at run time. It's a class, so that passing it on copies a reference.
private final class ChainBelow: HTTPLoader, CustomStringConvertible {
    private let loader: any HTTPLoader

    init(_ loader: any HTTPLoader) { self.loader = loader }

    @inline(__always)
    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse { try await loader.load(request) }

    func reset() async { await loader.reset() }

    var description: String { chainName(of: loader) }
}
