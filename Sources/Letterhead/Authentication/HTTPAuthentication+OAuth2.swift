public import Foundation

extension HTTPAuthentication {
    /// Tokens of an authorization server, got when they are first needed and refreshed when they are used up.
    ///
    /// ```swift
    /// let oauth = HTTPAuthentication.oauth2(
    ///     client: OAuth2.Client(id: "app", secret: secret), tokenEndpoint: endpoint,
    ///     grant: .clientCredentials(scope: ["read"]), allowedOrigins: [api])
    /// let client = HTTPClient(environment: .production, authentication: oauth)
    /// ```
    ///
    /// However many requests need a token, one is got, before it runs out or behind a 401, over the chain below; all who
    /// wait get it, or the failure. A refresh token that the server does not take any more is deleted, and the grant
    /// begins anew; ``OAuth2/Failure/Reason/loggedOut`` is what comes of it when it cannot. What a server cannot do just
    /// now costs nobody the tokens. A reset deletes them.
    ///
    /// - Parameters:
    ///   - client: the app, as the server knows it.
    ///   - tokenEndpoint: gives out tokens; https, on this machine, or with http among the allowed origins.
    ///   - grant: how the first tokens are come by.
    ///   - store: keeps them. Default: as long as the app runs.
    ///   - allowedOrigins: where the tokens may go. Default: nil, as ``HTTPAuthentication`` says.
    ///   - parameters: more for the token endpoint, such as `audience`; those of the protocol stay the library's.
    ///   - refreshAhead: how long before its end a token is replaced, at most half its life. Default: a minute.
    ///   - limit: how often the token endpoint may be asked. Default: 10.
    ///   - window: the time in which the limit counts. Default: a minute.
    ///   - clock: measures lives and windows; a change of the device's date changes nothing. Default: the continuous clock.
    ///   - now: the date, by which a store says when tokens end. Default: the device's.
    ///   - random: as many bytes as asked for, that nobody can guess. Default: the system's.
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
