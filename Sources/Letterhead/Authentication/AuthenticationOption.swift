extension RequestTemplate {
    /// Says who signs, in place of the client's authentication and of an `Authorization` header.
    public func authenticated(by authentication: HTTPAuthentication) -> WithOptions<Self> {
        option(AuthenticationOption.self, authentication)
    }
}

/// Who signs one request.
enum AuthenticationOption: HTTPRequestOption {
    /// As the client says.
    static let defaultOptionValue: HTTPAuthentication? = nil
}

extension HTTPRequest {
    /// Who signs it, in place of the client's authentication and of an `Authorization` header. Default: nil, the client's.
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

extension WithOptions {
    /// See ``RequestTemplate/authenticated(by:)``.
    public func authenticated(by authentication: HTTPAuthentication) -> Self {
        option(AuthenticationOption.self, authentication)
    }
}

extension RequestTemplate {
    /// Says what the tokens that sign it must allow; one that allows less is widened by the grant first.
    ///
    /// A grant that cannot ask for more, or a server that does not give it, is ``HTTPError/Code/cannotAuthenticate``, and
    /// nothing is sent. Methods other than OAuth 2 do not look at it.
    public func authenticated(scopes: Set<String>) -> WithOptions<Self> {
        option(RequiredScopesOption.self, scopes)
    }
}

/// What the tokens that sign a request must allow.
enum RequiredScopesOption: HTTPRequestOption {
    /// Nothing in particular.
    static let defaultOptionValue: Set<String> = []
}

extension HTTPRequest {
    /// What the tokens that sign it must allow. Default: nothing in particular.
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

extension WithOptions {
    /// See ``RequestTemplate/authenticated(scopes:)``.
    public func authenticated(scopes: Set<String>) -> Self {
        option(RequiredScopesOption.self, scopes)
    }
}
