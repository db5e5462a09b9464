extension RequestTemplate {
    /// Says who signs, in place of the client's authentication and of an `Authorization` header.
    public func authenticated(by authentication: HTTPAuthentication) -> WithOption<Self, AuthenticationOption> {
        option(AuthenticationOption.self, authentication)
    }
}

/// Who signs one request.
public enum AuthenticationOption: HTTPRequestOption {
    /// As the client says.
    public static let defaultOptionValue: HTTPAuthentication? = nil
}

extension HTTPRequest {
    /// Who signs it, in place of the client's authentication and of an `Authorization` header. Default: nil, the client's.
    public var authentication: HTTPAuthentication? {
        get { self[option: AuthenticationOption.self] }
        set { self[option: AuthenticationOption.self] = newValue }
    }
}
