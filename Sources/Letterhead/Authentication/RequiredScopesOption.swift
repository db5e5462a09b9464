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
