// SPDX-License-Identifier: MIT
/// Identifies the credentials of an authentication, if they don't depend on a request.
indirect enum AuthenticationIdentity: Hashable, Sendable {
    case anonymous
    case named(HTTPAuthentication.Name)
    case composite([HTTPAuthentication.Name: AuthenticationIdentity], default: HTTPAuthentication.Name?)
    /// A credential from the caller. Equal values have one identity.
    case given(GivenCredential, AllowedOrigins)
    /// Any other method. Only copies of one authentication have one identity.
    case method(SigningMethod)
}

extension HTTPAuthentication {
    var identity: AuthenticationIdentity {
        switch choice {
        case .anonymous: .anonymous
        case .named(let name): .named(name)
        case .composite(let methods, let name): .composite(methods.mapValues(\.identity), default: name)
        case .method(let method):
            if case .given(let credential) = method.memory {
                .given(credential, method.origins)
            } else {
                .method(method)
            }
        }
    }
}

/// Identifies the origin of a request, and everything in the request that distinguishes users. After a reset, a client
/// serves a different user.
///
/// Two requests share a response or a token only if their identities are equal. Two identities may belong to the same
/// user, but one identity never belongs to two users.
struct RequestIdentity: Hashable, Sendable {
    private let generation: ClientGeneration?
    private let origin: HTTPOrigin?
    private let userInfo: String?
    private let environment: ServerEnvironment?
    private let headers: [HTTPHeaders.Field]
    private let query: [QueryParameters.Item]
    private let authentication: AuthenticationIdentity?
    private let scopes: Set<String>

    init(_ request: HTTPRequest) {
        generation = request.context.generation
        origin = request.origin
        userInfo = request.userInfo
        environment = request.serverEnvironment
        headers = request.secretHeaders
        query = request.secretQuery
        authentication = request.authentication?.identity
        scopes = request.requiredScopes
    }
}

/// The parts of a request that an authentication has written.
struct RequestSignature: Sendable {
    let identity: String
    let headers: Set<HTTPHeaders.Name>
    let query: [QueryParameters.Item]
    fileprivate let unsigned: HTTPHeaders
}

private enum RequestSignatureOption: HTTPRequestOption {
    static let defaultOptionValue: RequestSignature? = nil
}

extension HTTPRequest {
    private(set) var ownSignature: RequestSignature? {
        get { self[option: RequestSignatureOption.self] }
        set { self[option: RequestSignatureOption.self] = newValue }
    }

    /// The parts of the request that an authentication above has written and that a server may accept only once. Nil if
    /// there are none.
    ///
    /// They are the names of the headers, the query items, and an identity that is equal for all requests with the same
    /// credentials. A cache compares the identity instead of the parts.
    public var signature: (identity: String, headers: Set<HTTPHeaders.Name>, query: [QueryParameters.Item])? {
        ownSignature.map { ($0.identity, $0.headers, $0.query) }
    }

    /// Whether a server may accept the signature of this request only once. For example, it may contain the count of a
    /// digest nonce.
    ///
    /// It is true below an authentication by `.digest`, `.challenge` or a custom method that writes headers or query
    /// items, or by a provider with an ``CredentialProvider/identity(of:)``. If your link signs each request, set it to
    /// true.
    ///
    /// A link or a transport must not send such a request twice, unless the server certainly has not processed it.
    /// Throw ``HTTPError/Code/signatureSpent`` instead.
    public var isSignedOnce: Bool {
        get { ownSignature != nil }
        set {
            guard newValue != isSignedOnce else { return }
            ownSignature = newValue ? RequestSignature(identity: "", headers: [], query: [], unsigned: [:]) : nil
        }
    }

    /// Removes the signature from an earlier load, and restores the headers that it has replaced. The request is then
    /// signed anew. A signature without parts is kept, because a relay has set it with ``isSignedOnce``.
    mutating func removeSignature() {
        guard let signature = ownSignature, !signature.headers.isEmpty || !signature.query.isEmpty else { return }
        for name in signature.headers { headers[name] = nil }
        headers.replace(with: HTTPHeaders(signature.unsigned.filter { signature.headers.contains($0.name) }))
        query = QueryParameters(query.filter { !signature.query.contains($0) })
        ownSignature = nil
    }

    /// Records which parts of the request a method has written. Requests that the method sends for itself, such as a
    /// request for a nonce, don't count as signed. A signer may write the path in a different form.
    mutating func markSigned(by identity: String, from unsigned: HTTPRequest) {
        guard method == unsigned.method, origin == unsigned.origin,
            path == unsigned.path || path.segments == unsigned.path.segments
        else { return }
        let names = Set(headers.map(\.name)).filter { headers.values(for: $0) != unsigned.headers.values(for: $0) }
        let items = query.filter { !unsigned.query.contains($0.name) }
        guard !names.isEmpty || !items.isEmpty else { return }
        let earlier = ownSignature
        ownSignature = RequestSignature(
            identity: (earlier.map { $0.identity + " " } ?? "") + identity,
            headers: names.union(earlier?.headers ?? []), query: items + (earlier?.query ?? []),
            unsigned: earlier?.unsigned ?? unsigned.headers)
    }
}

struct MarkSigned: HTTPLoader {
    let unsigned: HTTPRequest
    let identity: String
    let next: any HTTPLoader

    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        var request = request
        request.markSigned(by: identity, from: unsigned)
        return try await next.load(request)
    }

    func reset() async { await next.reset() }
}
