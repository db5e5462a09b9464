extension OAuth2 {
    /// Why there are no tokens: underneath an ``HTTPError/Code/cannotAuthenticate``.
    ///
    /// ```swift
    /// catch let error as HTTPError where (error.underlying as? OAuth2.Failure)?.reason == .loggedOut { showSignIn() }
    /// ```
    public struct Failure: Error, Sendable {
        /// What it comes to; an open set.
        public struct Reason: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
            /// The name of the reason.
            public let rawValue: String

            /// Makes a reason of a name.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// The name of the reason.
            public var description: String { rawValue }
        }

        /// What it comes to.
        public let reason: Reason
        /// The server's word for it: `error` of RFC 6749, 4.1.2.1 and 5.2.
        public let code: String?
        /// How the token endpoint answered; nil when it did not, or was not asked.
        public let status: HTTPStatus?
        /// What the server says about it, which may repeat a secret: for developers, not for logs.
        public let detail: Secret?
        /// The error underneath.
        public let underlying: (any Error)?
        let message: String
        /// Whether a refresh token that was answered so is of no use any more.
        let endsSession: Bool

        init(
            _ reason: Reason, _ message: String, code: String? = nil, status: HTTPStatus? = nil,
            detail: Secret? = nil, underlying: (any Error)? = nil, endsSession: Bool = false
        ) {
            self.reason = reason
            self.message = message
            self.code = code
            self.status = status
            self.detail = detail
            self.underlying = underlying
            self.endsSession = endsSession
        }
    }
}

extension OAuth2.Failure.Reason {
    /// Nobody is signed in any more; what was kept is deleted.
    public static let loggedOut = Self(rawValue: "loggedOut")
    /// The server, or who was asked to sign in, said no.
    public static let refused = Self(rawValue: "refused")
    /// The token endpoint did not answer, or not now: still signed in, and worth another try.
    public static let unavailable = Self(rawValue: "unavailable")
    /// The server's answer breaks the protocol.
    public static let malformed = Self(rawValue: "malformed")
    /// What is configured here cannot be: a token endpoint without TLS, a scope with a blank.
    public static let misconfigured = Self(rawValue: "misconfigured")
    /// The store could not load, save or delete.
    public static let store = Self(rawValue: "store")
}

extension OAuth2.Failure: SafelyDescribed, CustomDebugStringConvertible, CustomReflectable {
    /// What happened, without secrets.
    public var description: String { message }
    /// The same as ``description``.
    public var debugDescription: String { message }
    /// The description only, so that no dump prints a secret.
    public var customMirror: Mirror { Mirror(describing: self) }
}

extension OAuth2.Failure {
    /// A word of the server's that may be printed: only those of the RFCs, since any other could be a secret.
    static func printable(_ code: String?) -> String {
        guard let code else { return "no error code" }
        return registered.contains(code) ? code : "an unregistered error code"
    }

    static let registered: Set<String> = [
        "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type",
        "invalid_scope", "access_denied", "unsupported_response_type", "server_error", "temporarily_unavailable",
        "interaction_required", "login_required", "account_selection_required", "consent_required", "invalid_target",
    ]
}
