/// The identity of an authentication's credentials, if it is known without a request.
indirect enum AuthenticationIdentity: Hashable, Sendable {
    case anonymous
    case named(HTTPAuthentication.Name)
    case composite([HTTPAuthentication.Name: AuthenticationIdentity], default: HTTPAuthentication.Name?)
    /// A credential that was passed by the caller. Equal values are one identity.
    case given(GivenCredential, AllowedOrigins)
    /// Any other method. Only copies of one authentication are one identity.
    case method(MethodReference)

    /// A method, compared by object identity. The reference keeps the method alive, so that no other can reuse its
    /// address.
    struct MethodReference: Hashable, Sendable {
        let method: SigningMethod

        static func == (left: MethodReference, right: MethodReference) -> Bool { left.method === right.method }

        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(method)) }
    }
}

extension HTTPAuthentication {
    /// The identity of the credentials.
    var identity: AuthenticationIdentity {
        switch choice {
        case .anonymous: .anonymous
        case .named(let name): .named(name)
        case .composite(let methods, let name): .composite(methods.mapValues(\.identity), default: name)
        case .method(let method):
            if case .given(let credential) = method.memory {
                .given(credential, method.origins)
            } else {
                .method(AuthenticationIdentity.MethodReference(method: method))
            }
        }
    }
}

/// The identity of a request: the origin, and everything in the request that distinguishes users.
///
/// A response or a token of one request is shared with another one only if both identities are equal. Two identities
/// may belong to the same user, but one identity never belongs to two users.
struct RequestIdentity: Hashable, Sendable {
    private let origin: HTTPOrigin?
    private let userInfo: String?
    private let environment: ServerEnvironment?
    private let headers: [HTTPHeaders.Field]
    private let query: [QueryParameters.Item]
    private let authentication: AuthenticationIdentity?
    private let scopes: Set<String>

    init(_ request: HTTPRequest) {
        origin = request.origin
        userInfo = request.userInfo
        environment = request.serverEnvironment
        headers = request.secretHeaders
        query = request.secretQuery
        authentication = request.authentication?.identity
        scopes = request.requiredScopes
    }
}
