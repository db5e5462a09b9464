// SPDX-License-Identifier: MIT
/// What a client adds to each of its loads.
struct ClientContext: Sendable {
    let identity = ClientIdentity()
    /// The settings with which the requests of the client begin.
    var defaults: ClientDefaults {
        didSet { (accept, settings) = (defaults.options.decoder?.accept, defaults.settings) }
    }
    private var settings: ClientSettings
    /// The value of `Accept` for responses that the decoder of the client reads.
    private(set) var accept: String?
    /// The environment of the client; nil if there is none, or if a closure provides it.
    let environment: ClientEnvironment?
    /// Whether a closure provides the environment. Descriptions then show the environment as not resolved until the
    /// request has it.
    let isEnvironmentAsked: Bool
    /// The observers and the trace; nil if the client has neither, so that nothing is recorded.
    let observing: ClientObserving?
    /// What the client was created with.
    let design: ClientDesign
    /// The sequence whose requests the client sends; nil for other requests.
    private(set) var family: LoadFamily?
    /// The generation of the sequence; nil for other requests.
    private var pinned: ClientGeneration?
    /// The deadline of the sequence. Default: nil (no deadline).
    var deadline: DeadlinePoint?

    init(
        decoder: any HTTPBodyDecoder, environment: ServerEnvironment?, isEnvironmentAsked: Bool,
        observing: ClientObserving?, design: ClientDesign
    ) {
        defaults = ClientDefaults(decoder: decoder)
        accept = decoder.accept
        settings = defaults.settings
        self.environment = environment.map { ClientEnvironment($0) }
        self.isEnvironmentAsked = isEnvironmentAsked
        self.observing = observing
        self.design = design
    }

    /// The generation to which new requests belong.
    var generation: ClientGeneration { pinned ?? identity.generation }

    /// Returns the context for the requests of one sequence. They all belong to the current generation, so that a reset
    /// ends the sequence.
    ///
    /// - Parameter kind: what each request is, for observers; nil if the requests do not belong together.
    func pinned(asOneOf kind: String?) -> ClientContext {
        var context = self
        context.pinned = generation
        if let kind, observing != nil, family == nil { context.family = LoadFamily(kind: kind) }
        return context
    }

    /// Begins the observation of a load; nil if the client has no observers and sends no trace.
    func begin(_ request: HTTPRequest, template: (any RequestTemplate.Type)?) -> Observation? {
        observing?.begin(request, template: template, family: family)
    }

    /// Makes a request one of this client.
    ///
    /// - Parameter decodes: whether a decoder will read the response, so that `Accept` is set. Default: false.
    func adopt(_ request: inout HTTPRequest, decodes: Bool = false) {
        if decodes { request.context.accept = request.decoder.map(\.accept) ?? accept }
        request.context.generation = generation
        defaults.apply(to: &request)
        request.context.settings = settings
        request.context.environment = isEnvironmentAsked ? ClientEnvironment(nil) : environment
    }
}

/// The parts of a client's chain that are needed outside of it, to explain a request.
final class ClientDesign: Sendable {
    let provider: ApplyEnvironment
    let authenticate: Authenticate
    let cookies: CookieJar?
    let hasCache: Bool
    let retry: Retry.Settings

    init(
        provider: ApplyEnvironment, authenticate: Authenticate, cookies: CookieJar?, hasCache: Bool,
        retry: Retry.Settings
    ) {
        (self.provider, self.authenticate) = (provider, authenticate)
        (self.cookies, self.hasCache, self.retry) = (cookies, hasCache, retry)
    }
}

/// The settings with which the requests of a client begin. Settings of a request take precedence, and lists are joined.
struct ClientDefaults: Sendable {
    var headers = HTTPHeaders()
    var query = QueryParameters()
    var options = HTTPRequestOptions()
    /// The validators, transformers and closures that are added to those of a request.
    var additions = HTTPRequestOptions()

    init(decoder: any HTTPBodyDecoder) { options.decoder = decoder }

    /// The settings as links receive them.
    var settings: ClientSettings {
        ClientSettings(additions: additions, headers: headers, query: query) { apply(to: &$0) }
    }

    func apply(to request: inout HTTPRequest) {
        request.options.fill(from: options)
        // A request that sets these to nil leaves them to the client.
        if request.decoder == nil { request.decoder = options.decoder }
        if request.encoder == nil, let own = options.encoder { request.encoder = own }
        request.passEncoder()
        if request.retryStrategy == nil, let own = options.retryStrategy { request.retryStrategy = own }
        if request.maximumRetries == nil, let own = options.maximumRetries { request.maximumRetries = own }
        if request.redirectPolicy == nil, let own = options.redirectPolicy { request.redirectPolicy = own }
        if !headers.isEmpty { request.fill(headers: headers) }
        guard !query.isEmpty else { return }
        // The server has chosen the whole URL of such a page.
        if case .url = (request.template as? any PaginatedTemplate)?.position { return }
        request.query.fill(from: query)
    }
}

struct ClientObserving: Sendable {
    let hub: ObservationHub
    private let tracing: TraceContextPropagation?

    /// Returns nil if there is nothing to record and no trace to send.
    init?(_ observers: [any HTTPObserver], _ tracing: TraceContextPropagation?) {
        guard !observers.isEmpty || tracing != nil else { return nil }
        hub = ObservationHub(observers)
        self.tracing = tracing
    }

    /// The link that records what is sent.
    var link: ObserveExchanges { ObserveExchanges(tracing: tracing) }

    /// Begins the observation of a load.
    func begin(
        _ request: HTTPRequest, template: (any RequestTemplate.Type)?, family: LoadFamily?
    ) -> Observation {
        let observation = Observation(
            hub, template: template.map { rootName(of: $0) }, route: request.path.route, family: family,
            trace: tracing?.context)
        observation.begin(request)
        return observation
    }
}
