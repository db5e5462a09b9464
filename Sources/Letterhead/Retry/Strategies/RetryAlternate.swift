/// What is done before a request is sent again.
enum RetryAlternate: Sendable {
    /// Sends another request.
    case request(RetryAlternateRequest)
    /// Runs a closure, which may change the request.
    case task(@Sendable (inout HTTPRequest) async throws -> Void, onError: @Sendable (any Error) async -> Void)
}

/// Another request that is sent before one is sent again.
struct RetryAlternateRequest: Sendable {
    /// Makes it of the request that is to be sent again; nil when there is none.
    let make: @Sendable (HTTPRequest) async throws -> HTTPRequest?
    /// Hears its response, and may change the request that is sent again.
    let onResponse: @Sendable (inout HTTPRequest, HTTPResponse) async throws -> Void
    /// Hears what went wrong.
    let onError: @Sendable (any Error) async -> Void
    /// Which loads send one together.
    let sharing: HTTPRetryStrategy.Sharing?
}

extension HTTPRetryStrategy {
    /// Which loads share one alternate request, and how many one load may take part in.
    ///
    /// All that are made of one value, with an equal key, share: of loads that ask at the same time one sends the
    /// alternate request, and its response goes to all. Whatever the key is, loads share only when their requests have the
    /// same origin and identity: every secret header and query item, the authentication and the environment.
    public struct Sharing: Sendable {
        /// An identity, which is why it is a class: values are the same only when one is a copy of the other.
        fileprivate final class Identity: Sendable {}

        /// What is shared: by whom it was made, and for whom. It holds the identity, so that no other takes its place.
        struct Key: Hashable, Sendable {
            fileprivate let owner: Identity
            fileprivate let name: String

            static func == (left: Key, right: Key) -> Bool { left.owner === right.owner && left.name == right.name }

            func hash(into hasher: inout Hasher) {
                hasher.combine(ObjectIdentifier(owner))
                hasher.combine(name)
            }
        }

        private let identity = Identity()
        private var name = ""
        /// How many one load may take part in.
        let maximum: Int

        /// Makes a value that shares with its copies only.
        ///
        /// - Parameter maximum: how many one load may take part in; less than zero is none. Default: 1.
        public init(maximum: Int = 1) { self.maximum = max(maximum, 0) }

        /// The same, shared only with those that have an equal key, such as the name of a user.
        public func forKey(_ key: String) -> Sharing {
            var copy = self
            copy.name = key
            return copy
        }

        var key: Key { Key(owner: identity, name: name) }
    }
}
