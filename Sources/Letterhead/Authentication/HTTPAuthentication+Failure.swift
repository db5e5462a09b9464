extension HTTPAuthentication {
    /// The reason why a request could not be signed: the underlying error of an ``HTTPError/Code/cannotAuthenticate``.
    ///
    /// ```swift
    /// catch let error as HTTPError where (error.underlying as? HTTPAuthentication.Failure)?.reason == .noCredentials {
    ///     showSignIn()
    /// }
    /// ```
    ///
    /// For OAuth 2, the underlying error is an ``OAuth2/Failure`` instead. If a ``CredentialProvider`` or a closure
    /// throws, the underlying error is the error that it threw.
    public struct Failure: Error, Sendable, Hashable {
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
    /// The client's composite does not contain the method that the request chose.
    public static let unknownName = Self(rawValue: "unknownName")
}

extension HTTPAuthentication.Failure: SafelyDescribed {
    /// The message, without secrets.
    public var description: String { message }
}
