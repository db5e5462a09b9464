/// Which credentials an authentication stands for, as far as that can be known without a request.
indirect enum AuthenticationIdentity: Hashable, Sendable {
    case anonymous
    case named(HTTPAuthentication.Name)
    case composite([HTTPAuthentication.Name: AuthenticationIdentity], default: HTTPAuthentication.Name?)
    /// A credential that was given beforehand is the same wherever it was written down.
    case given(GivenCredential, AllowedOrigins)
    /// Any other is the same only in copies of one authentication.
    case method(MethodReference)

    /// A method compared by its identity, and kept, so that no other takes its address.
    struct MethodReference: Hashable, Sendable {
        let method: SigningMethod

        static func == (left: MethodReference, right: MethodReference) -> Bool { left.method === right.method }

        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(method)) }
    }
}

extension HTTPAuthentication {
    /// Which credentials it stands for.
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

/// For whom a request is: everything in it that tells one user from another, and the origin that it goes to.
///
/// What one request obtains for another, such as a response or a token, is shared only when both identities are equal. Two
/// identities may belong to the same user; one identity never belongs to two.
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
