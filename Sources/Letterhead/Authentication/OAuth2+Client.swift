extension OAuth2 {
    /// The app, as the authorization server has registered it.
    public struct Client: Sendable, Hashable {
        /// How a client with a secret shows it to the token endpoint (RFC 6749, 2.3.1).
        public enum Authentication: Sendable, Hashable {
            /// In the `Authorization` header, which every server understands.
            case basic
            /// In the form, for servers that do not.
            case form
        }

        /// Its name.
        public var id: String
        /// Its secret; nil for an app that cannot keep one, which is any that users hold in their hands.
        public var secret: Secret?
        /// How it shows the secret.
        public var authentication: Authentication

        /// Makes a client.
        ///
        /// - Parameters:
        ///   - id: its name.
        ///   - secret: its secret. Default: nil, a public client.
        ///   - authentication: how it shows the secret. Default: in the `Authorization` header.
        public init(id: String, secret: Secret? = nil, authentication: Authentication = .basic) {
            self.id = id
            self.secret = secret
            self.authentication = authentication
        }
    }
}
