public import Foundation

extension HTTPAuthentication {
    /// Signs requests with tokens of an authorization server. Tokens are obtained at the first request and refreshed
    /// before they expire.
    ///
    /// ```swift
    /// let oauth = HTTPAuthentication.oauth2(
    ///     client: OAuth2.Client(id: "app", secret: secret), tokenEndpoint: endpoint,
    ///     grant: .clientCredentials(scope: ["read"]), allowedOrigins: [api])
    /// let client = HTTPClient(environment: .production, authentication: oauth)
    /// ```
    ///
    /// Concurrent requests share a single token fetch, and its failure. A token is refreshed before it expires and
    /// after a 401; the token requests are sent over the chain below. If the server no longer accepts a refresh token,
    /// all stored tokens are deleted and the grant is used again. If the grant fails, too, the reason of the error is
    /// ``HTTPAuthentication/Failure/Reason/loggedOut``. A temporary failure of the server does not delete the tokens. A
    /// reset deletes them.
    ///
    /// - Parameters:
    ///   - client: the app, as registered with the server.
    ///   - tokenEndpoint: the URL that issues tokens. It must use https, be on this machine, or be listed in
    ///     `allowedOrigins` with http.
    ///   - grant: the way to obtain the first tokens.
    ///   - store: stores the tokens. Default: in memory, until the app exits.
    ///   - allowedOrigins: the origins to which the tokens may be sent. Default: nil (one origin, see
    ///     ``HTTPAuthentication``).
    ///   - parameters: additional parameters for the token endpoint, such as `audience`. They cannot replace parameters
    ///     of the protocol.
    ///   - refreshAhead: how long before its expiry a token is refreshed, at most half of its lifetime. Default: one
    ///     minute.
    ///   - limit: the maximum number of calls of the token endpoint in a window. Default: 10.
    ///   - window: the period in which calls are counted. Default: one minute.
    ///   - clock: measures lifetimes and windows, so that a change of the device's date has no effect. Default: the
    ///     continuous clock.
    ///   - now: returns the current date, with which a store records when tokens expire. Default: the date of the
    ///     device.
    ///   - random: returns the given number of unpredictable bytes. Default: the random source of the system.
    public static func oauth2(
        client: OAuth2.Client, tokenEndpoint: URL, grant: OAuth2.Grant,
        store: any OAuth2.TokenStore = OAuth2.MemoryTokenStore(), allowedOrigins: [URL]? = nil,
        parameters: [String: String] = [:], refreshAhead: Duration = .seconds(60),
        limit: Int = 10, per window: Duration = .seconds(60), clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Date = { Date() }, random: (@Sendable (Int) -> [UInt8])? = nil
    ) -> HTTPAuthentication {
        let endpoint = TokenEndpoint(
            url: tokenEndpoint, client: client, origins: AllowedOrigins(allowedOrigins), parameters: parameters)
        let keeper = TokenKeeper(
            store: store, grant: grant, timeline: Timeline(clock), now: now, refreshAhead: refreshAhead)
        let provider = OAuth2Provider(
            endpoint: endpoint, grant: grant, keeper: keeper, random: random ?? RandomBytes.system)
        return shared(
            provider, name: "OAuth 2", place: .header(.authorization), allowedOrigins: allowedOrigins,
            limit: CredentialLimit(count: limit, window: window), clock: clock)
    }
}
