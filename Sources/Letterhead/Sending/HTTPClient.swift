public import Foundation

/// The front door: sends templates and plain requests over one chain.
///
/// ```swift
/// let client = HTTPClient(environment: .production)
/// let user = try await client.send(GetUser(login: "ada"))
/// for try await user in client.items(of: ListFollowers(login: "ada").paginated()) { … }
/// ```
///
/// A client is a value; copies share their chain and its connections. The chain that it makes, outermost first: `links`,
/// reset guard, autocancel, deadline, validation and retry, redirects, the environment, the authentication, the `Accept`
/// header, `attemptLinks`, the transport. `links` run once for each load, `attemptLinks` for each attempt and each hop of
/// a redirect. Add yours to either, several joined by `-->`; `print(client)` shows the chain:
///
/// ```swift
/// let client = HTTPClient(environment: .production, links: PrintLoader() --> CountLoads(), attemptLinks: SignEachAttempt())
/// ```
public struct HTTPClient: Sendable {
    private let chain: any HTTPLoader
    private let decoder: any HTTPBodyDecoder
    private let environment: ClientEnvironment?
    private let isEnvironmentAsked: Bool
    /// The environment as texts show it before it is applied. A closure resolves it for each request.
    private var shownEnvironment: ClientEnvironment? { isEnvironmentAsked ? ClientEnvironment(nil) : environment }
    /// How often the client was reset, by which page sequences find out that they belong to a user of before.
    let resets = ResetCount()

    /// Makes a client and its chain.
    ///
    /// - Parameters:
    ///   - environment: fills what requests leave open. Default: nil, each request says everything itself.
    ///   - decoder: decodes responses whose template names no decoder of its own. Default: a plain `JSONDecoder`.
    ///   - authentication: signs the requests to the environment's origin, or to the `allowedOrigins` that it names;
    ///     without an environment and without such names, it signs nothing. Default: nil (requests are not signed).
    ///   - transformers: change each response before it is judged, in order, before those of the template. Default: none.
    ///   - validators: judge each attempt, in order, behind those of the template. Default: ``DefaultValidator``.
    ///   - retrying: how requests are sent again. Default: not at all, unless a request says so.
    ///   - links: run around everything, once for each load. Default: nil.
    ///   - attemptLinks: run just before the transport, for each attempt. Default: nil.
    ///   - transport: what ends the chain. Default: ``defaultTransport``.
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

    /// Makes a client whose environment is asked for at every load, so that a change counts from the next one on.
    ///
    /// Credentials that name no `allowedOrigins` stay with the first origin that they are used for. Call ``reset()`` when
    /// the environment changes, so that remembered credentials are forgotten, or name the origins.
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

    /// Sends a template and gives the value of its response.
    ///
    /// - Throws: ``HTTPError``; and `CancellationError` when the calling task was cancelled.
    @discardableResult
    public func send<Template: RequestTemplate>(_ template: Template) async throws -> Template.Response {
        try await sendWithResponse(template).value
    }

    /// Sends a template and gives the value with the response that it was made of.
    ///
    /// - Throws: ``HTTPError``; and `CancellationError` when the calling task was cancelled.
    public func sendWithResponse<Template: RequestTemplate>(
        _ template: Template
    ) async throws -> (value: Template.Response, response: HTTPResponse) {
        try await sendable(template).sendWithResponse()
    }

    /// A template on this client's chain.
    func sendable<Template: RequestTemplate>(_ template: Template) -> SendableRequest<Template> {
        SendableRequest(template, over: ClientLoader(chain: chain, decoder: decoder), in: shownEnvironment)
    }

    /// Sends a plain request; its status is judged as that of a template.
    ///
    /// - Throws: ``HTTPError``; and `CancellationError` when the calling task was cancelled.
    @discardableResult
    @concurrent
    public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        var request = request
        let progress = request.ownProgressReport()
        do throws(HTTPError) {
            // A request that was taken from a response must not bring the download of another load.
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

    /// Ends what is in flight, wipes what the chain keeps, and returns when all of it is done.
    ///
    /// Page sequences that have begun end with `.cancelled`, and each ``Pager`` starts over at the first page, since a cursor
    /// belongs to the user for whom it was obtained.
    public func reset() async {
        resets.increment()
        await chain.reset()
    }
}

extension HTTPClient: CustomStringConvertible {
    /// The chain, link by link.
    public var description: String { "HTTPClient(\(chain))" }
}

/// A client's chain, which hands its decoder to requests that have none.
private struct ClientLoader: HTTPLoader {
    let chain: any HTTPLoader
    let decoder: any HTTPBodyDecoder

    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        var request = request
        if request.decoder == nil { request.decoder = decoder }
        // A request that was taken from a response must not bring the origin of another client.
        request.options.remove(HomeOriginOption.self)
        return try await chain.load(request)
    }
}
