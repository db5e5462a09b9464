/// What a client adds to a request before it passes the chain.
struct ClientContext: Sendable {
    /// What the client provides for requests that do not set it. It is also the identity of the client.
    let defaults: ClientDefaults
    /// The environment that descriptions show until the request has one.
    let environment: ClientEnvironment?
    /// The observers and the trace; nil if the client has neither, so that nothing is recorded.
    let observing: ClientObserving?

    /// Marks a request as a request of the client.
    func mark(_ request: inout HTTPRequest) {
        // A request from a response of another client may contain what belongs to that client.
        if request.options.contains(HomeOriginOption.self) { request.options.remove(HomeOriginOption.self) }
        request.client = defaults
        if let environment { request.place(in: environment) }
    }
}
