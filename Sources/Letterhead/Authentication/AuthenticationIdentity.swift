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
