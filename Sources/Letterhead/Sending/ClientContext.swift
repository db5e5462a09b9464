/// What a client adds to each of its loads.
struct ClientContext: Sendable {
    let identity = LoadContext.ClientIdentity()
    let decoder: any HTTPBodyDecoder
    /// The value of `Accept` for responses that the decoder of the client reads.
    let accept: String?
    /// The environment of the client; nil if there is none, or if a closure provides it.
    let environment: ClientEnvironment?
    /// Whether a closure provides the environment. Descriptions then show the environment as not resolved until the
    /// request has it.
    let isEnvironmentAsked: Bool
    /// The observers and the trace; nil if the client has neither, so that nothing is recorded.
    let observing: ClientObserving?

    init(
        decoder: any HTTPBodyDecoder, environment: ServerEnvironment?, isEnvironmentAsked: Bool,
        observing: ClientObserving?
    ) {
        self.decoder = decoder
        accept = decoder.accept
        self.environment = environment.map { ClientEnvironment($0) }
        self.isEnvironmentAsked = isEnvironmentAsked
        self.observing = observing
    }

    /// Makes a request one of this client.
    func adopt(_ request: inout HTTPRequest) {
        request.context.client = identity
        if request.host == nil {
            request.context.environment = isEnvironmentAsked ? ClientEnvironment(nil) : environment
        }
        if request.decoder == nil { request.decoder = decoder }
    }
}

/// The observers and the trace of a client.
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
    func begin(_ request: HTTPRequest, template: String?) -> Observation {
        let observation = Observation(
            hub, template: template, route: request.path.route, parent: PageFamily.current?.parent,
            kind: PageFamily.current == nil ? nil : "page", trace: tracing?.context)
        PageFamily.current?.join(observation.load)
        observation.begin(request)
        return observation
    }
}
