// SPDX-License-Identifier: MIT
extension HTTPClient {
    /// What a client shares with its copies and derived clients.
    final class Parts: Sendable {
        let identity = ClientIdentity()
        let resetGuard: ResetGuard
        let applyEnvironment: ApplyEnvironment
        let environment: ClientEnvironment?
        let authenticate: Authenticate
        let cookies: CookieJar?
        let retry: Backoff
        /// Nil if the client has neither observers nor a trace, so that nothing is recorded.
        let hub: ObservationHub?

        init(
            applyEnvironment: ApplyEnvironment, authenticate: Authenticate, cookies: CookieJar?, retry: Backoff,
            hub: ObservationHub?
        ) {
            (self.applyEnvironment, self.authenticate) = (applyEnvironment, authenticate)
            resetGuard = ResetGuard(of: identity)
            environment = applyEnvironment.environment.map { ClientEnvironment($0) }
            (self.cookies, self.retry, self.hub) = (cookies, retry, hub)
        }
    }

    /// Begins to observe a load. Nil if the client has no observers and sends no trace.
    func observe(_ request: HTTPRequest, template: (any RequestTemplate.Type)?) -> Observation? {
        guard let hub = parts.hub else { return nil }
        // If the caller has set a trace, it is sent unchanged.
        let own = request.headers["traceparent"].flatMap { TraceContext(traceparent: $0) }
        let observation = Observation(
            hub, template: template.map { rootName(of: $0) }, route: request.path.route, family: sequence?.family,
            trace: hub.tracing.flatMap { own ?? $0.context })
        observation.begin(request)
        return observation
    }

    /// Adds the client settings and the context of a load to a request.
    ///
    /// - Parameter decodes: whether a decoder will read the response, so that `Accept` is set. Default: false.
    func adopt(_ request: inout HTTPRequest, decodes: Bool = false) {
        let defaults = sharedDefaults
        if decodes { request.accept(orElse: defaults.wrappedValue.accept) }
        request.context.generation = generation
        defaults.wrappedValue.apply(to: &request)
        request.context.defaults = defaults
        // If a closure provides the environment, each load resolves it for itself, and other loads don't share it.
        let isProvided = request.serverEnvironment?.isProvided == true
        request.context.environment = parts.environment.map { $0.isUnknown || isProvided ? ClientEnvironment(nil) : $0 }
    }
}
