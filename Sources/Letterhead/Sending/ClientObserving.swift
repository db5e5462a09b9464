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
