extension RequestTemplate {
    /// Signs requests with an authentication, in place of the client's authentication and of an `Authorization` header.
    public func authenticated(by authentication: HTTPAuthentication) -> Modified<Self> {
        settings { $0.authentication = authentication }
    }
}

enum AuthenticationOption: HTTPRequestOption {
    static let defaultOptionValue: HTTPAuthentication? = nil
}

extension RequestSettings {
    /// The authentication that signs the request, in place of the client's and of an `Authorization` header. Default:
    /// nil (the authentication of the client).
    public var authentication: HTTPAuthentication? {
        get { self[option: AuthenticationOption.self] }
        set { self[option: AuthenticationOption.self] = newValue }
    }
}

extension RequestTemplate {
    /// Sets the scopes that the token of the request must have. If the current token lacks a scope, a token with this
    /// scope is requested first.
    ///
    /// If the grant cannot request the scope or the server does not grant it, the request fails with
    /// ``HTTPError/Code/cannotAuthenticate`` and is not sent. Only OAuth 2 uses the scopes.
    public func authenticated(scopes: Set<String>) -> Modified<Self> {
        settings { $0.requiredScopes = scopes }
    }
}

enum RequiredScopesOption: HTTPRequestOption {
    static let defaultOptionValue: Set<String> = []
}

extension RequestSettings {
    /// The scopes that the token of the request must have. Default: none.
    public var requiredScopes: Set<String> {
        get { self[option: RequiredScopesOption.self] }
        set { self[option: RequiredScopesOption.self] = newValue }
    }
}
