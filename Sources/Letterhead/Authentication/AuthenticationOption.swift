extension RequestTemplate {
    /// Signs requests with an authentication, in place of the client's authentication and of an `Authorization` header.
    public func authenticated(by authentication: HTTPAuthentication) -> Modified<Self> {
        option(AuthenticationOption.self, authentication)
    }
}

/// The authentication of one request.
enum AuthenticationOption: HTTPRequestOption {
    static let defaultOptionValue: HTTPAuthentication? = nil
}

extension HTTPRequest {
    /// The authentication that signs the request, in place of the client's and of an `Authorization` header. Default:
    /// nil (the authentication of the client).
    public var authentication: HTTPAuthentication? {
        get { self[option: AuthenticationOption.self] }
        set { self[option: AuthenticationOption.self] = newValue }
    }
}

extension HTTPRequestOptions {
    /// See ``HTTPRequest/authentication``.
    public var authentication: HTTPAuthentication? {
        get { self[AuthenticationOption.self] }
        set { self[AuthenticationOption.self] = newValue }
    }
}

extension Modified {
    /// See ``RequestTemplate/authenticated(by:)``.
    public func authenticated(by authentication: HTTPAuthentication) -> Self {
        option(AuthenticationOption.self, authentication)
    }
}

extension RequestTemplate {
    /// Sets the scopes that the token of the request must have. If the current token lacks a scope, a token with this
    /// scope is requested first.
    ///
    /// If the grant cannot request the scope or the server does not grant it, the request fails with
    /// ``HTTPError/Code/cannotAuthenticate`` and is not sent. Only OAuth 2 uses the scopes.
    public func authenticated(scopes: Set<String>) -> Modified<Self> {
        option(RequiredScopesOption.self, scopes)
    }
}

/// The scopes that the token of a request must have.
enum RequiredScopesOption: HTTPRequestOption {
    static let defaultOptionValue: Set<String> = []
}

extension HTTPRequest {
    /// The scopes that the token of the request must have. Default: none.
    public var requiredScopes: Set<String> {
        get { self[option: RequiredScopesOption.self] }
        set { self[option: RequiredScopesOption.self] = newValue }
    }
}

extension HTTPRequestOptions {
    /// See ``HTTPRequest/requiredScopes``.
    public var requiredScopes: Set<String> {
        get { self[RequiredScopesOption.self] }
        set { self[RequiredScopesOption.self] = newValue }
    }
}

extension Modified {
    /// See ``RequestTemplate/authenticated(scopes:)``.
    public func authenticated(scopes: Set<String>) -> Self {
        option(RequiredScopesOption.self, scopes)
    }
}
