extension HTTPAuthentication {
    /// The reason why a request could not be signed: the underlying error of an ``HTTPError/Code/cannotAuthenticate``.
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
    /// If a ``CredentialProvider`` or a closure throws, the underlying error is the error that it threw.
    public struct Failure: Error, Sendable {
        /// The kinds of failures. More kinds may be added.
        public struct Reason: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
            /// The name of the reason.
            public let rawValue: String

            /// Creates a reason from a name.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// The name of the reason.
            public var description: String { rawValue }
        }

        /// The kind of failure.
        public let reason: Reason
        /// The problem and its remedy, without secrets.
        public let message: String
        /// The error code of an authorization server: `error` of RFC 6749, 4.1.2.1 and 5.2.
        public let code: String?
        /// The status of the token endpoint's response; nil if there was none.
        public let status: HTTPStatus?
        /// The authorization server's description of the error. It may contain a secret, so do not write it to logs.
        public let detail: Secret?
        /// The underlying error.
        public let underlying: (any Error)?
        /// Whether the refresh token can no longer be used.
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

extension HTTPAuthentication.Failure.Reason {
    /// The provider or the closure returned no credentials.
    public static let noCredentials = Self(rawValue: "noCredentials")
    /// Credentials were requested more often than the limit allows.
    public static let limitReached = Self(rawValue: "limitReached")
    /// The credentials must not be sent to the origin of the request; see `allowedOrigins`.
    public static let originNotAllowed = Self(rawValue: "originNotAllowed")
    /// The client's composite does not contain the method that the request chose.
    public static let unknownName = Self(rawValue: "unknownName")
}

/// The reasons of ``OAuth2``: why no token could be obtained.
extension HTTPAuthentication.Failure.Reason {
    /// The session has ended, and the stored tokens are deleted.
    public static let loggedOut = Self(rawValue: "loggedOut")
    /// The authorization server refused the request or did not grant a required scope, or the sign-in was cancelled or
    /// its page could not be shown.
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

extension HTTPAuthentication.Failure: SafelyDescribed, CustomDebugStringConvertible, CustomReflectable {
    /// The message, without secrets.
    public var description: String { message }
    /// The same as ``description``.
    public var debugDescription: String { message }
    /// A mirror that contains only the description, so that `dump` prints no secrets.
    public var customMirror: Mirror { Mirror(describing: self) }
}

extension HTTPAuthentication.Failure {
    /// Returns an error code of the server that may be printed: only the codes of the RFCs, because any other text
    /// could be a secret.
    static func printable(_ code: String?) -> String {
        guard let code else { return "no error code" }
        return isRegistered(code) ? code : "an unregistered error code"
    }

    static func isRegistered(_ code: String) -> Bool { ASCII.isASCII(code) && registered.contains(code) }

    private static let registered: Set<String> = [
        "invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type",
        "invalid_scope", "access_denied", "unsupported_response_type", "server_error", "temporarily_unavailable",
        "interaction_required", "login_required", "account_selection_required", "consent_required", "invalid_target",
    ]
}
