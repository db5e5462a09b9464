import Synchronization

extension OAuth2 {
    /// Keeps tokens as long as the app runs.
    public final class MemoryTokenStore: TokenStore {
        // A class, because all who hold it must see the same tokens.

        private let tokens: Mutex<Tokens?>

        /// Makes a store.
        ///
        /// - Parameter tokens: what it holds at first. Default: nothing.
        public init(_ tokens: Tokens? = nil) { self.tokens = Mutex(tokens) }

        /// What is kept.
        public func load() async -> Tokens? { tokens.withLock { $0 } }

        /// Keeps tokens in place of the last ones.
        public func save(_ tokens: Tokens) async { self.tokens.withLock { $0 = tokens } }

        /// Deletes what is kept.
        public func delete() async { tokens.withLock { $0 = nil } }
    }
}
