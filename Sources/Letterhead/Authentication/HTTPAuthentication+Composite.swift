public import Foundation

extension HTTPAuthentication {
    /// What a method of a composite is called.
    public struct Name: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// The name.
        public let rawValue: String

        /// Makes a name of a text.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Makes a name of a literal.
        public init(stringLiteral value: String) { self.init(rawValue: value) }

        /// The name.
        public var description: String { rawValue }
    }

    /// Several methods under names, of which each request chooses one.
    ///
    /// ```swift
    /// let both = HTTPAuthentication.composite(["user": oauth, "service": .bearer(key)], default: "user")
    /// GetReport().authenticated(by: .named("service"))
    /// ```
    ///
    /// - Parameters:
    ///   - methods: the methods. Each keeps its own origins and credentials; a reset reaches every one.
    ///   - name: signs the requests that choose none. Default: nil, they go out as they are. One that is not among the
    ///     methods is ``HTTPError/Code/cannotAuthenticate`` at each of those requests.
    public static func composite(
        _ methods: [Name: HTTPAuthentication], default name: Name? = nil
    ) -> HTTPAuthentication {
        HTTPAuthentication(.composite(methods, default: name))
    }

    /// The method that the client's ``composite(_:default:)`` has under a name.
    ///
    /// A name that it does not have is ``HTTPError/Code/cannotAuthenticate``, and nothing is sent.
    public static func named(_ name: Name) -> HTTPAuthentication { HTTPAuthentication(.named(name)) }

    /// The one method that signs; nil when none does.
    ///
    /// - Parameter client: where names are looked up.
    /// - Throws: `.cannotAuthenticate` for a name that leads to no method.
    func method(for request: HTTPRequest, in client: HTTPAuthentication) throws(HTTPError) -> SigningMethod? {
        switch choice {
        case .anonymous: return nil
        case .method(let method): return method
        case .named(let name):
            guard case .composite(let methods, _) = client.choice else { throw Self.unknown(name, request) }
            return try Self.method(name, of: methods, for: request)
        case .composite(let methods, let name):
            return if let name { try Self.method(name, of: methods, for: request) } else { nil }
        }
    }

    /// Every method that is in it, for a reset.
    var methods: [SigningMethod] {
        switch choice {
        case .anonymous, .named: []
        case .method(let method): [method]
        case .composite(let methods, _): methods.values.flatMap(\.methods)
        }
    }

    private static func method(
        _ name: Name, of methods: [Name: HTTPAuthentication], for request: HTTPRequest
    ) throws(HTTPError) -> SigningMethod? {
        // A name for a name is no method: following it could go in a circle.
        guard let method = methods[name] else { throw unknown(name, request) }
        if case .named = method.choice { throw unknown(name, request) }
        return try method.method(for: request, in: method)
    }

    private static func unknown(_ name: Name, _ request: HTTPRequest) -> HTTPError {
        HTTPError(
            signing: Failure(
                .unknownName, "no authentication is called \"\(name)\": give the client a composite that has it"),
            request: request)
    }
}

extension HTTPAuthentication {
    /// A method of your own: a link that signs what it is given, and may look at the answer.
    ///
    /// ```swift
    /// .method("HMAC", allowedOrigins: [api], link: ModifyRequest { $0.headers.setSecret(sign($0), for: "X-Signature") })
    /// ```
    ///
    /// It is asked only for requests that its credentials belong to, for each attempt and each hop of a redirect. A reset
    /// reaches it. For credentials that are remembered, refreshed and shared by concurrent requests, write a
    /// ``CredentialProvider`` instead.
    ///
    /// The library cannot know what the link remembers. Without `allowedOrigins`, the link therefore signs for the first
    /// origin only that it was asked for, until a reset.
    ///
    /// - Parameters:
    ///   - name: what it prints as; no secret.
    ///   - allowedOrigins: where its credentials may go. Default: nil, as ``HTTPAuthentication`` says.
    ///   - link: signs the requests. What it sets by ``HTTPHeaders/setSecret(_:for:)``, or what the request's
    ///     ``HTTPRequest/redaction`` names, is in no text.
    public static func method(
        _ name: String, allowedOrigins: [URL]? = nil, link: some LoaderLink
    ) -> HTTPAuthentication {
        HTTPAuthentication(
            .method(
                SigningMethod(
                    name, place: nil, origins: AllowedOrigins(allowedOrigins), memory: .unknown(CredentialHome()),
                    link: link)))
    }
}
