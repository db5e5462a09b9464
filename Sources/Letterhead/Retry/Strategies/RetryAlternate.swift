/// The work before a request is retried.
enum RetryAlternate: Sendable {
    /// Sends another request.
    case request(RetryAlternateRequest)
    /// Runs a closure, which may change the request.
    case task(@Sendable (inout HTTPRequest) async throws -> Void, onError: @Sendable (any Error) async -> Void)
}

/// Another request that is sent before the original is retried.
struct RetryAlternateRequest: Sendable {
    /// Creates the request from the original; nil to send none.
    let make: @Sendable (HTTPRequest) async throws -> HTTPRequest?
    /// Receives the response, and may change the original.
    let onResponse: @Sendable (inout HTTPRequest, HTTPResponse) async throws -> Void
    /// Receives an error of the request or of a closure.
    let onError: @Sendable (any Error) async -> Void
    /// The loads that share one request.
    let sharing: HTTPRetryStrategy.Sharing?
}

extension HTTPRetryStrategy {
    /// Determines which loads share one alternate request, and how many alternate requests a load may take part in.
    ///
    /// Loads share a request if their strategies were created with copies of one value, and with an equal key. If
    /// several loads need the request at the same time, one of them sends it, and all receive its response. Regardless
    /// of the key, loads share only if their requests have the same origin and the same identity. The identity consists
    /// of the username and password, the secret headers and query items, the authentication, the required scopes and
    /// the environment.
    public struct Sharing: Sendable {
        /// An object whose identity only the copies of one value share.
        fileprivate final class Identity: Sendable {}

        /// The sharing value and the caller's key. It retains the identity, so that no other object can reuse the
        /// address.
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
        /// The maximum number of alternate requests for one load.
        let maximum: Int

        /// Creates a value. Only copies of it share requests.
        ///
        /// - Parameter maximum: the maximum number of alternate requests for one load and one key. Default: 1; a
        ///   negative number counts as zero.
        public init(maximum: Int = 1) { self.maximum = max(maximum, 0) }

        /// Returns a copy of this value for one key, such as the name of a user. Only loads with an equal key share a
        /// request.
        public func forKey(_ key: String) -> Sharing {
            var copy = self
            copy.name = key
            return copy
        }

        var key: Key { Key(owner: identity, name: name) }
    }
}
