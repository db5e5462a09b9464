// SPDX-License-Identifier: MIT
extension HTTPClient {
    /// What a client shares with its copies and derived clients.
    final class Parts: Sendable {
        let identity = ClientIdentity()
        let resetGuard: ResetGuard
        let provider: ApplyEnvironment
        let environment: ClientEnvironment?
        let authenticate: Authenticate
        let cookies: CookieJar?
        let hasCache: Bool
        let retry: Retry.Settings
        /// Nil if the client has neither observers nor a trace, so that nothing is recorded.
        let hub: ObservationHub?

        init(
            provider: ApplyEnvironment, authenticate: Authenticate, cookies: CookieJar?, hasCache: Bool,
            retry: Retry.Settings, hub: ObservationHub?
        ) {
            (resetGuard, self.provider, self.authenticate) = (ResetGuard(of: identity), provider, authenticate)
            environment = provider.environment.map { ClientEnvironment($0) }
            (self.cookies, self.hasCache, self.retry, self.hub) = (cookies, hasCache, retry, hub)
        }
    }

    /// What one sequence's requests have in common.
    struct Series: Sendable {
        fileprivate let family: LoadFamily?
        fileprivate let generation: ClientGeneration
        var deadline: DeadlinePoint?
    }

    /// The generation of new requests. Sequences use it to detect that they belong to the previous user.
    var generation: ClientGeneration { sequence?.generation ?? parts.identity.generation }

    /// Returns the client for one sequence's requests. They all belong to the current generation, so that a reset ends
    /// the sequence.
    ///
    /// - Parameter kind: what each request is, for observers. Default: nil (the requests are unrelated).
    func pinned(asOneOf kind: String? = nil) -> HTTPClient {
        var client = self
        let family = sequence?.family ?? kind.flatMap { parts.hub == nil ? nil : LoadFamily(kind: $0) }
        client.sequence = Series(family: family, generation: generation, deadline: sequence?.deadline)
        return client
    }

    /// Begins a load's observation. Nil if the client has no observers and sends no trace.
    func observe(_ request: HTTPRequest, template: (any RequestTemplate.Type)?) -> Observation? {
        guard let hub = parts.hub else { return nil }
        // A trace of the caller's own is sent unchanged.
        let own = request.headers["traceparent"].flatMap { TraceContext(traceparent: $0) }
        let observation = Observation(
            hub, template: template.map { rootName(of: $0) }, route: request.path.route, family: sequence?.family,
            trace: hub.tracing.flatMap { own ?? $0.context })
        observation.begin(request)
        return observation
    }

    /// Adds the client's settings and context to a request.
    ///
    /// - Parameter decodes: whether a decoder will read the response, so that `Accept` is set. Default: false.
    func adopt(_ request: inout HTTPRequest, decodes: Bool = false) {
        if decodes, !request.headers.contains(.accept) {
            request.context.accept = request.decoder.map(\.accept) ?? defaults.accept
        }
        request.context.generation = generation
        let settings = defaults.settings
        settings?.apply(&request)
        request.context.settings = settings
        // If a closure provides the environment, each load resolves it for itself, and other loads don't share it.
        let isProvided = request.serverEnvironment?.isProvided == true
        request.context.environment = parts.environment.map { $0.isUnknown || isProvided ? ClientEnvironment(nil) : $0 }
    }
}

/// The initial settings of a client's requests. A request's settings take precedence, and lists are joined.
struct ClientDefaults: Sendable {
    var headers = HTTPHeaders()
    var query = QueryParameters()
    var options = HTTPRequestOptions()
    /// The validators, transformers and closures that are added to the request's.
    var additions = HTTPRequestOptions()
    /// The settings as links receive them.
    private(set) var settings: ClientSettings?
    /// The value of `Accept` for the client's decoder.
    private(set) var accept: String?

    init(decoder: any HTTPBodyDecoder) {
        options.decoder = decoder
        update()
    }

    func changed(_ change: (inout ClientDefaults) -> Void) -> ClientDefaults {
        var defaults = self
        change(&defaults)
        defaults.update()
        return defaults
    }

    private mutating func update() {
        accept = options.decoder?.accept
        // The closure keeps a copy of the defaults, which needs no earlier settings.
        settings = nil
        settings = ClientSettings(additions: additions) { [self] in apply(to: &$0) }
    }

    func apply(to request: inout HTTPRequest) {
        let hasOptions = !request.options.isEmpty
        request.options.fill(from: options)
        if hasOptions {
            if !options.omittedHeaders.isEmpty { request.omittedHeaders.formUnion(options.omittedHeaders) }
            // A request that sets these to nil leaves them to the client.
            if request.decoder == nil { request.decoder = options.decoder }
            if request.encoder == nil, let own = options.encoder { request.encoder = own }
            if request.retryStrategy == nil, let own = options.retryStrategy { request.retryStrategy = own }
            if request.maximumRetries == nil, let own = options.maximumRetries { request.maximumRetries = own }
            if request.redirectPolicy == nil, let own = options.redirectPolicy { request.redirectPolicy = own }
        }
        request.passEncoder()
        if !headers.isEmpty { request.fill(headers: headers) }
        guard !query.isEmpty else { return }
        // The server has chosen the whole URL of such a page.
        if case .url = (request.template as? any PaginatedTemplate)?.position { return }
        request.query.fill(from: query)
    }
}
