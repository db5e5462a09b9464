extension HTTPAuthentication {
    /// Why a request could not be signed: underneath an ``HTTPError/Code/cannotAuthenticate``.
    ///
    /// ```swift
    /// catch let error as HTTPError where (error.underlying as? HTTPAuthentication.Failure)?.reason == .noCredentials {
    ///     showSignIn()
    /// }
    /// ```
    ///
    /// OAuth 2 reports an ``OAuth2/Failure`` instead. An error that a ``CredentialProvider`` or a closure threw is itself the
    /// error underneath.
    public struct Failure: Error, Sendable, Hashable {
        /// The kinds of failures; an open set.
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
        /// What happened and what to do, without secrets.
        public let message: String

        init(_ reason: Reason, _ message: String) {
            self.reason = reason
            self.message = message
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
    /// The client's composite has no method of the name that the request chose.
    public static let unknownName = Self(rawValue: "unknownName")
}

extension HTTPAuthentication.Failure: SafelyDescribed {
    /// What happened, without secrets.
    public var description: String { message }
}
