/// What a client adds to a request before it passes the chain.
struct ClientContext: Sendable {
    /// Distinguishes the client from every other client.
    let identity: HTTPRequest.ClientIdentity
    /// The decoder, as options that are created once for all requests.
    let decoding: HTTPRequestOptions
    /// The environment that descriptions show until the request has one.
    let environment: ClientEnvironment?
    /// The observers and the trace; nil if the client has neither, so that nothing is recorded.
    let observing: ClientObserving?

    /// Marks a request as a request of the client.
    func mark(_ request: inout HTTPRequest) {
        if request.decoder == nil { request.options.replace(with: decoding) }
        // A request from a response of another client may contain what belongs to that client.
        if request.options.contains(HomeOriginOption.self) { request.options.remove(HomeOriginOption.self) }
        request.client = identity
        if let environment { request.place(in: environment) }
    }
}
