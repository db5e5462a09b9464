// SPDX-License-Identifier: MIT
public import LetterheadFoundation

/// Signs requests, for example with a password, a token or an API key.
///
/// ```swift
/// HTTPClient(environment: .production, authentication: .bearer(token))       // every request of a client
/// GetReport().authenticated(by: .basic(username: "ada", password: password)) // one template
/// request.authentication = .anonymous                                       // one request
/// ```
///
/// If a request sets an authentication, it replaces the client authentication entirely. <doc:SigningIn> shows how to
/// sign users in and out.
///
/// ## Choose a method
///
/// - A username and a password: ``basic(username:password:allowedOrigins:)``, or `digest` of the product
///   `LetterheadSigning`.
/// - A token: ``bearer(_:allowedOrigins:)`` if it is fixed, or ``bearer(each:allowedOrigins:)`` if the program keeps
///   it. To fetch a token once and renew it after a 401, use ``bearer(allowedOrigins:limit:per:clock:asking:)`` or a
///   ``CredentialProvider``.
/// - An API key: ``apiKey(_:header:allowedOrigins:)`` or ``apiKey(_:queryName:allowedOrigins:)``.
/// - A method that depends on the challenge in a 401: `challenge` of the product `LetterheadSigning`.
/// - Tokens from an authorization server: `oauth2` of the product `LetterheadOAuth`.
/// - Any other method: ``method(_:header:allowedOrigins:link:)``.
///
/// ## Choose who receives the credentials
///
/// Credentials belong to origins and are sent to no other. List the origins to send credentials to several servers:
///
/// ```swift
/// let both = HTTPAuthentication.bearer(token, allowedOrigins: [api, uploads])
/// ```
///
/// Without `allowedOrigins`:
///
/// - Client credentials belong to the origin of the client environment. A request that sets an environment or a base
///   URL with a different origin is sent without them. A client without an environment doesn't send them.
/// - If a closure provides the environment of a client, the credentials belong to the first origin that they are used
///   for. To use them with several environments, list the origins.
/// - Stored credentials, such as tokens, belong to the origin that they were obtained for, until a reset.
/// - Credentials that a request sets belong to the origin that it is addressed to.
/// - All of them are sent only over https or to the local machine. For a server in a local network that has only http,
///   set ``ServerEnvironment/allowsCredentialsOverHTTP``.
///
/// With or without `allowedOrigins`, a redirect to a different origin removes the credentials, and they are not sent
/// again during the attempt. If a request sets credentials that its origin must not receive, it fails with
/// ``HTTPError/Code/cannotAuthenticate``, and nothing is sent.
public struct HTTPAuthentication: Sendable {
    /// What signs a request: at most one method.
    enum Choice: Sendable {
        case anonymous
        case named(Name)
        case composite([Name: HTTPAuthentication], default: Name?)
        case method(SigningMethod)
    }

    let choice: Choice

    init(_ choice: Choice) { self.choice = choice }

    /// Whether the authentication stores credentials that a reset removes, such as tokens. False for fixed credentials.
    public var storesCredentials: Bool { methods.contains { $0.isStateful } }

    /// No authentication: requests are sent unchanged. A request with an `Authorization` header keeps it.
    public static let anonymous = HTTPAuthentication(.anonymous)
}

/// Two authentications are equal if they sign with the same credentials. These are copies of one value, and methods
/// with equal fixed credentials for the same origins.
extension HTTPAuthentication: Equatable {
    public static func == (left: HTTPAuthentication, right: HTTPAuthentication) -> Bool {
        left.identity == right.identity
    }
}

extension HTTPAuthentication: CustomStringConvertible, CustomReflectable {
    public var description: String {
        switch choice {
        case .anonymous: "anonymous"
        case .named(let name): "named \(name)"
        case .composite(let methods, let name):
            "composite of " + methods.keys.sorted().joined(separator: ", ")
                + (name.map { ", \($0) by default" } ?? "")
        case .method(let method): method.name
        }
    }

    /// Contains only the description, so that `dump` prints no secrets.
    public var customMirror: Mirror { Mirror(describing: self) }
}

extension RequestTemplate {
    /// Signs requests with an authentication. It replaces the client authentication and an `Authorization` header.
    public func authenticated(by authentication: HTTPAuthentication) -> Modified<Self> {
        configured { $0.authentication = authentication }
    }

    /// Sets what happens if no credentials are available: the request fails, or is sent without them.
    ///
    /// ```swift
    /// GetProfile().authenticated(.required)   // never sent without credentials
    /// GetArticle().authenticated(.optional)   // signed for those who have signed in, and sent in any case
    /// ```
    public func authenticated(_ requirement: HTTPAuthentication.Requirement) -> Modified<Self> {
        configured { $0.authenticationRequirement = requirement }
    }

    /// Sets the scopes that the token for the request must have. If the current token lacks a scope, a token with this
    /// scope is requested first.
    ///
    /// If the grant cannot request the scope or the server doesn't grant it, the request fails with
    /// ``HTTPError/Code/cannotAuthenticate`` and isn't sent. Only OAuth 2 uses the scopes.
    public func authenticated(scopes: Set<String>) -> Modified<Self> {
        configured { $0.requiredScopes = scopes }
    }
}

extension RequestSettings {
    /// The authentication that signs the request. It replaces the client authentication and an `Authorization` header.
    /// Default: nil (the client authentication).
    public var authentication: HTTPAuthentication? {
        get { self[option: AuthenticationOption.self] }
        set { self[option: AuthenticationOption.self] = newValue }
    }

    /// Whether the request may be sent without credentials. Default: nil (see ``HTTPAuthentication/Requirement``).
    public var authenticationRequirement: HTTPAuthentication.Requirement? {
        get { self[option: AuthenticationRequirementOption.self] }
        set { self[option: AuthenticationRequirementOption.self] = newValue }
    }

    /// The scopes that the token for the request must have (see ``RequestTemplate/authenticated(scopes:)``). Default:
    /// none.
    public var requiredScopes: Set<String> {
        get { self[option: RequiredScopesOption.self] }
        set { self[option: RequiredScopesOption.self] = newValue }
    }
}

enum AuthenticationOption: HTTPRequestOption {
    static let defaultOptionValue: HTTPAuthentication? = nil
}

enum RequiredScopesOption: HTTPRequestOption {
    static let defaultOptionValue: Set<String> = []
}

enum AuthenticationRequirementOption: HTTPRequestOption {
    static let defaultOptionValue: HTTPAuthentication.Requirement? = nil
}

extension HTTPAuthentication {
    /// What happens to a request that cannot be signed.
    ///
    /// By default, a request is sent without credentials if its client has none, or only credentials that belong to
    /// other origins. If the credentials cannot be obtained, the request fails.
    public enum Requirement: Sendable, Hashable {
        /// The request fails with ``HTTPError/Code/cannotAuthenticate`` before anything is sent. If there are no
        /// credentials, the reason is ``Failure/Reason/noCredentials``.
        ///
        /// An `Authorization` header that the request sets suffices. So does a digest or a challenge, although its
        /// first request may be sent without credentials.
        case required
        /// The request is sent without credentials if none are available, even if the stored ones were refused and
        /// could not be replaced. A malformed credential is an error nevertheless.
        case optional
    }
}

extension HTTPAuthentication {
    /// Names a method in a composite.
    public typealias Name = String

    /// Combines several named methods. Each request chooses one.
    ///
    /// ```swift
    /// let both = HTTPAuthentication.composite(["user": oauth, "service": .bearer(key)], default: "user")
    /// GetReport().authenticated(by: .named("service"))
    /// ```
    ///
    /// Each method has its own origins and credentials, and a reset applies to all of them. A request that chooses no
    /// method uses the `default`. If `default` is nil, such a request isn't signed. If `methods` doesn't contain the
    /// `default`, it fails with ``HTTPError/Code/cannotAuthenticate``.
    public static func composite(
        _ methods: [Name: HTTPAuthentication], default name: Name? = nil
    ) -> HTTPAuthentication {
        HTTPAuthentication(.composite(methods, default: name))
    }

    /// Uses the method with this name from the ``composite(_:default:)`` of the client.
    ///
    /// If the composite has no such method, the request fails with ``HTTPError/Code/cannotAuthenticate`` and nothing is
    /// sent.
    public static func named(_ name: Name) -> HTTPAuthentication { HTTPAuthentication(.named(name)) }

    /// Returns the method that signs a request, or nil if the request isn't signed. Names are looked up in the client
    /// authentication.
    ///
    /// - Throws: `.cannotAuthenticate` if no method has that name.
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

    var isAnonymous: Bool { if case .anonymous = choice { true } else { false } }

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
        // A name that refers to a second name could form a loop, so it isn't resolved.
        guard let method = methods[name] else { throw unknown(name, request) }
        if case .named = method.choice { throw unknown(name, request) }
        return try method.method(for: request, in: method)
    }

    private static func unknown(_ name: Name, _ request: HTTPRequest) -> HTTPError {
        HTTPError(
            signing: Failure(
                .unknownName, "no authentication is named \"\(name)\" (pass the client a composite that contains it)"),
            request: request)
    }
}

extension HTTPAuthentication {
    /// Creates a custom method: a link that signs requests and may inspect responses.
    ///
    /// ```swift
    /// .method(
    ///     "HMAC", allowedOrigins: [api],
    ///     link: ModifyRequest { $0.headers.setSecret(sign($0), for: "X-Signature") })
    /// ```
    ///
    /// The link is called for each attempt and each hop of a redirect, but only for the origins of the credentials. A
    /// reset also resets the link. For credentials that are stored, refreshed and shared by concurrent requests,
    /// implement a ``CredentialProvider`` instead.
    ///
    /// The library cannot know which credentials the link stores. Without `allowedOrigins`, the link therefore signs
    /// only requests to the first origin, until a reset.
    ///
    /// All requests that the link signs belong to one user, until a reset. A cache reuses the response to one of them
    /// for the others, even if each signature differs. It doesn't reuse responses that a different process has stored.
    /// If a program has several users, create a method for each of them.
    ///
    /// - Parameters:
    ///   - name: the name in descriptions. It must not be secret.
    ///   - header: the header that contains the credential. If a request of the client sets it, the request keeps its
    ///     value. Default: nil (not known).
    ///   - allowedOrigins: the origins that the link may send credentials to. Default: nil (see above).
    ///   - link: signs the requests. All descriptions redact the values that it sets with
    ///     ``HTTPHeaders/setSecret(_:for:)``, and the names in the ``RequestSettings/redaction`` of the request.
    public static func method(
        _ name: String, header: HTTPHeaders.Name? = nil, allowedOrigins: [URL]? = nil, link: some LoaderLink
    ) -> HTTPAuthentication {
        HTTPAuthentication(
            .method(
                SigningMethod(
                    name, place: header.map { .header($0) }, origins: AllowedOrigins(allowedOrigins),
                    memory: .unknown(CredentialHome()), link: link)))
    }
}

extension HTTPAuthentication {
    /// Why a request could not be signed: the underlying error of an ``HTTPError/Code/cannotAuthenticate``.
    ///
    /// ```swift
    /// catch let error as HTTPError {
    ///     switch (error.underlying as? HTTPAuthentication.Failure)?.reason {
    ///     case .noCredentials, .loggedOut: showSignIn()
    ///     default: show(error)
    ///     }
    /// }
    /// ```
    ///
    /// If a ``CredentialProvider`` or a closure throws, the error that it throws is the underlying error instead.
    public struct Failure: Error, Sendable {
        /// The kinds of failures. More kinds may be added.
        public struct Reason: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
            public let rawValue: String

            public init(rawValue: String) { self.rawValue = rawValue }

            public var description: String { rawValue }
        }

        /// The kind of failure, for comparison in code.
        public let reason: Reason
        /// The problem and its remedy, without secrets.
        public let message: String
        /// The error code of the authorization server: `error` of RFC 6749, 4.1.2.1 and 5.2. Nil if it contains
        /// characters that are not printable ASCII.
        public let code: String?
        /// The status of the response from the token endpoint. Nil if it didn't respond.
        public let status: HTTPStatus?
        /// The error description from the authorization server. It may contain a secret, so do not write it to logs.
        /// The message contains it without the values that were sent and without possible tokens.
        public let detail: Secret?
        /// The cause, such as a failed token request. Nil if it is unknown.
        public let underlying: (any Error)?

        /// Creates a failure, to throw it in a ``CredentialProvider`` or in your grant.
        ///
        /// - Parameters:
        ///   - reason: the kind of failure, for comparison in code.
        ///   - message: the problem and its remedy. It is printed, so it must not contain a secret.
        ///   - code: the error code of the authorization server. Default: nil.
        ///   - status: the status of its response. Default: nil.
        ///   - detail: its description of the error, which isn't printed. Default: nil.
        ///   - underlying: the cause. Default: nil.
        public init(
            _ reason: Reason, _ message: String, code: String? = nil, status: HTTPStatus? = nil,
            detail: Secret? = nil, underlying: (any Error)? = nil
        ) {
            (self.reason, self.message) = (reason, message)
            // Comparing any other text can take quadratic time.
            self.code = code.flatMap { ASCII.allBytes(of: $0, fit: { (0x20...0x7E).contains($0) }) ? $0 : nil }
            (self.status, self.detail, self.underlying) = (status, detail, underlying)
        }
    }
}

extension HTTPAuthentication.Failure.Reason {
    /// The provider or the closure returned no credentials.
    public static let noCredentials = Self(rawValue: "noCredentials")
    /// Credentials were requested more often than the limit allows.
    public static let limitReached = Self(rawValue: "limitReached")
    /// The origin of the request must not receive the credentials. See `allowedOrigins`.
    public static let originNotAllowed = Self(rawValue: "originNotAllowed")
    /// The composite of the client does not contain the method that the request chose.
    public static let unknownName = Self(rawValue: "unknownName")
}

extension HTTPAuthentication.Failure.Reason {
    /// The session has ended, and the stored tokens are deleted.
    public static let loggedOut = Self(rawValue: "loggedOut")
    /// The authorization server refused the request or a required scope, or the sign-in didn't complete.
    ///
    /// A sign-in doesn't complete if the user cancels it or if its page could not be shown.
    public static let refused = Self(rawValue: "refused")
    /// The token endpoint is temporarily unavailable. The tokens are kept, and a later request may succeed.
    public static let unavailable = Self(rawValue: "unavailable")
    /// The response of the authorization server violates the protocol.
    public static let malformed = Self(rawValue: "malformed")
    /// The configuration is invalid: for example, a token endpoint without TLS or a scope that contains a space.
    public static let misconfigured = Self(rawValue: "misconfigured")
    /// The token store could not load, save or delete the tokens.
    public static let store = Self(rawValue: "store")
}

extension HTTPAuthentication.Failure: SafelyDescribed, CustomReflectable {
    public var description: String { message }
    /// Contains only the description, so that `dump` prints no secrets.
    public var customMirror: Mirror { Mirror(describing: self) }
}
