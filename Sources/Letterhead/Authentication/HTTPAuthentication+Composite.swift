public import Foundation

extension HTTPAuthentication {
    /// The name of a method in a composite.
    public struct Name: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
        /// The name as a string.
        public let rawValue: String

        /// Creates a name from a string.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Creates a name from a literal.
        public init(stringLiteral value: String) { self.init(rawValue: value) }

        /// The name as a string.
        public var description: String { rawValue }
    }

    /// Creates an authentication of several named methods, from which each request chooses one.
    ///
    /// ```swift
    /// let both = HTTPAuthentication.composite(["user": oauth, "service": .bearer(key)], default: "user")
    /// GetReport().authenticated(by: .named("service"))
    /// ```
    ///
    /// - Parameters:
    ///   - methods: the methods. Each has its own origins and credentials; a reset applies to all of them.
    ///   - name: the method for requests that choose no method. If `methods` does not contain it, these requests fail
    ///     with ``HTTPError/Code/cannotAuthenticate``. Default: nil (these requests are not signed).
    public static func composite(
        _ methods: [Name: HTTPAuthentication], default name: Name? = nil
    ) -> HTTPAuthentication {
        HTTPAuthentication(.composite(methods, default: name))
    }

    /// Returns an authentication that uses a method of the client's ``composite(_:default:)``.
    ///
    /// If the composite has no method of that name, the request fails with ``HTTPError/Code/cannotAuthenticate`` and
    /// nothing is sent.
    public static func named(_ name: Name) -> HTTPAuthentication { HTTPAuthentication(.named(name)) }

    /// Returns the method that signs a request; nil if it is not signed.
    ///
    /// - Parameter client: the authentication in which names are looked up.
    /// - Throws: `.cannotAuthenticate` if there is no method of that name.
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

    /// All methods of this authentication, for a reset.
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
        // A name that refers to another name is not resolved, because it could form a loop.
        guard let method = methods[name] else { throw unknown(name, request) }
        if case .named = method.choice { throw unknown(name, request) }
        return try method.method(for: request, in: method)
    }

    private static func unknown(_ name: Name, _ request: HTTPRequest) -> HTTPError {
        HTTPError(
            signing: Failure(
                .unknownName, "no authentication is named \"\(name)\"; pass the client a composite that contains it"),
            request: request)
    }
}

extension HTTPAuthentication {
    /// Creates a custom method: a link that signs requests and may inspect responses.
    ///
    /// ```swift
    /// .method("HMAC", allowedOrigins: [api], link: ModifyRequest { $0.headers.setSecret(sign($0), for: "X-Signature") })
    /// ```
    ///
    /// The link is called for each attempt and each hop of a redirect, but only for requests to origins to which its
    /// credentials belong. A reset is passed to it. For credentials that are stored, refreshed and shared by concurrent
    /// requests, implement a ``CredentialProvider`` instead.
    ///
    /// The library cannot know which credentials the link stores. Without `allowedOrigins`, the link therefore signs
    /// only requests to the first origin, until a reset.
    ///
    /// All requests that the link signs belong to one user, until a reset: a cache reuses their responses for each
    /// other, even if the signature is different each time. Responses that another process has stored are not reused.
    /// If a program has several users, create a method for each of them.
    ///
    /// - Parameters:
    ///   - name: the name in descriptions. It must not be secret.
    ///   - allowedOrigins: the origins to which its credentials may be sent. Default: nil (one origin, see
    ///     ``HTTPAuthentication``).
    ///   - link: signs the requests. Values that it sets with ``HTTPHeaders/setSecret(_:for:)``, and names in the
    ///     request's ``RequestSettings/redaction``, are redacted in all descriptions.
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
