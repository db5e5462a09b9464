extension OAuth2 {
    /// Keeps tokens from one run of the app to the next.
    ///
    /// Choose: ``MemoryTokenStore``, ``FileTokenStore``. Write one for the system's keychain:
    ///
    /// ```swift
    /// struct KeychainStore: OAuth2.TokenStore {
    ///     func load() async throws -> OAuth2.Tokens? { … }
    ///     func save(_ tokens: OAuth2.Tokens) async throws { … }
    ///     func delete() async throws { … }
    /// }
    /// ```
    ///
    /// Laws: what was saved is what is loaded, whole or not at all, also when the app ends in the middle; behind a
    /// deletion nothing is loaded; and errors say no secret. It is asked by one at a time. One store belongs to one
    /// ``HTTPAuthentication``: two would change each other's refresh tokens.
    public protocol TokenStore: Sendable {
        /// What is kept; nil when nothing is.
        func load() async throws -> Tokens?

        /// Keeps tokens in place of the last ones. Nobody gets them before it is done.
        func save(_ tokens: Tokens) async throws

        /// Deletes what is kept; nothing there is no error.
        func delete() async throws
    }
}
