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
