public import Foundation

/// Sends templates and plain requests through one chain.
///
/// ```swift
/// let client = HTTPClient(environment: .production)
/// let user = try await client.send(GetUser(login: "ada"))
/// for try await user in client.items(of: ListFollowers(login: "ada").paginated()) { … }
/// ```
///
/// A client is a value; copies share the chain and its connections. The chain contains, outermost first: `links`, reset
/// guard, autocancel, deadline, validation and retry, redirects, the environment, the authentication, the `Accept`
/// header, `attemptLinks`, the transport. `links` run once for each load, `attemptLinks` for each attempt and each hop
/// of a redirect. Join several links with `-->`. `print(client)` shows the chain:
///
/// ```swift
/// let client = HTTPClient(environment: .production, links: PrintLoader() --> CountLoads(), attemptLinks: SignEachAttempt())
/// ```
public struct HTTPClient: Sendable {
    private let chain: any HTTPLoader
    private let decoder: any HTTPBodyDecoder
    private let environment: ClientEnvironment?
    private let isEnvironmentAsked: Bool
    /// The environment that descriptions show before it is applied. A closure resolves it for each request.
    private var shownEnvironment: ClientEnvironment? { isEnvironmentAsked ? ClientEnvironment(nil) : environment }
    /// Counts the resets of the client, so that page sequences detect that they belong to the previous user.
    let resets = ResetCount()

    /// Creates a client and its chain.
    ///
    /// - Parameters:
    ///   - environment: the base URL and the defaults for requests. Default: nil (each request has a complete URL).
    ///   - decoder: decodes responses of templates without a custom decoder. Default: a plain `JSONDecoder`.
    ///   - authentication: signs requests to the environment's origin, or to its own `allowedOrigins`. Without both, it
    ///     signs nothing. Default: nil (requests are not signed).
    ///   - transformers: change each response before validators run, in order, before those of the template. Default:
    ///     none.
    ///   - validators: judge each attempt, in order, after those of the template. Default: ``DefaultValidator``.
    ///   - retrying: the settings for retries. Default: requests are not retried unless they ask for it.
    ///   - links: run once for each load, outside of all other links. Default: nil.
    ///   - attemptLinks: run for each attempt, directly above the transport. Default: nil.
    ///   - transport: the end of the chain. Default: ``defaultTransport``.
    public init(
        environment: ServerEnvironment? = nil, decoder: any HTTPBodyDecoder = JSONDecoder(),
        authentication: HTTPAuthentication? = nil, transformers: [ModifyResponse] = [],
        validators: [any HTTPValidator] = [DefaultValidator()], retrying: RetrySettings = RetrySettings(),
        links: (any LoaderLink)? = nil, attemptLinks: (any LoaderLink)? = nil,
        transport: any HTTPLoader = HTTPClient.defaultTransport
    ) {
        self.init(
            environment, provider: environment.map { ApplyEnvironment($0) } ?? ApplyEnvironment(), decoder: decoder,
            authentication: authentication, retry: Retry(transformers: transformers, validators: validators, retrying),
            links: links, attemptLinks: attemptLinks, transport: transport)
    }

    /// Creates a client that calls a closure for the environment of each load, so that a change applies to the next
    /// load.
    ///
    /// Credentials without `allowedOrigins` are bound to the first origin for which they are used. If the environment
    /// changes, call ``reset()`` to remove stored credentials, or list the origins in `allowedOrigins`.
    public init(
        environment: @escaping @Sendable (HTTPRequest) async throws -> ServerEnvironment,
        decoder: any HTTPBodyDecoder = JSONDecoder(), authentication: HTTPAuthentication? = nil,
        transformers: [ModifyResponse] = [], validators: [any HTTPValidator] = [DefaultValidator()],
        retrying: RetrySettings = RetrySettings(), links: (any LoaderLink)? = nil,
        attemptLinks: (any LoaderLink)? = nil, transport: any HTTPLoader = HTTPClient.defaultTransport
    ) {
        self.init(
            nil, provider: ApplyEnvironment(environment), decoder: decoder, authentication: authentication,
            retry: Retry(transformers: transformers, validators: validators, retrying), links: links,
            attemptLinks: attemptLinks, transport: transport)
    }

    private init(
        _ environment: ServerEnvironment?, provider: ApplyEnvironment, decoder: any HTTPBodyDecoder,
        authentication: HTTPAuthentication?, retry: Retry, links: (any LoaderLink)?, attemptLinks: (any LoaderLink)?,
        transport: any HTTPLoader
    ) {
        self.decoder = decoder
        self.environment = environment.map { ClientEnvironment($0) }
        isEnvironmentAsked = provider.isAsked
        let attempt = Authenticate(authentication ?? .anonymous) --> AskForMediaTypes() --> (attemptLinks --> transport)
        let whole = ResetGuard() --> Autocancel() --> Deadline() --> retry --> FollowRedirects()
        chain = links --> whole --> provider --> attempt
    }

    /// Sends a template and returns the decoded value of its response.
    ///
    /// - Throws: ``HTTPError``; and `CancellationError` if the calling task was cancelled.
    @discardableResult
    public func send<Template: RequestTemplate>(_ template: Template) async throws -> Template.Response {
        try await sendWithResponse(template).value
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
        SendableRequest(template, over: ClientLoader(chain: chain, decoder: decoder), in: shownEnvironment)
    }

    /// Sends a plain request. Its status is checked like that of a template.
    ///
    /// - Throws: ``HTTPError``; and `CancellationError` if the calling task was cancelled.
    @discardableResult
    @concurrent
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        var request = request
        let progress = request.ownProgressReport()
        do throws(HTTPError) {
            // A request from an earlier response may contain the download of that load, which must not apply here.
            let placed = request.placed(in: shownEnvironment)
            let loader = ClientLoader(chain: chain, decoder: decoder)
            return try await placed.withoutHold.holdingDownload { (request) throws(HTTPError) in
                try await loader.load(request).accepted(by: request).savingReplacedBody(of: request)
            }.ending(progress)
        } catch {
            progress?.finish()
            throw error.atTheDoor
        }
    }

    /// Cancels all requests in flight, removes the state of all links, and returns when both are complete.
    ///
    /// Running page sequences end with `.cancelled`, and each ``Pager`` starts over at the first page, because a cursor
    /// belongs to the user who was signed in when it was obtained.
    public func reset() async {
        resets.increment()
        await chain.reset()
    }
}

extension HTTPClient: CustomStringConvertible {
    /// The links of the chain.
    public var description: String { "HTTPClient(\(chain))" }
}

/// The chain of a client, which sets the client's decoder for requests without one.
private struct ClientLoader: HTTPLoader {
    let chain: any HTTPLoader
    let decoder: any HTTPBodyDecoder

    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        var request = request
        if request.decoder == nil { request.decoder = decoder }
        // A request from a response of another client may contain the origin of that client, which must not apply here.
        request.options.remove(HomeOriginOption.self)
        return try await chain.load(request)
    }
}
