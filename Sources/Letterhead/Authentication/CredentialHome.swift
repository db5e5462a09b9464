import Synchronization

/// The one origin that credentials without `allowedOrigins` belong to: the first that they are used for.
///
/// A class, because concurrent requests must agree on which origin was the first.
final class CredentialHome: Sendable {
    private let origin = Mutex<HTTPOrigin?>(nil)

    /// Claims the credentials for an origin.
    ///
    /// - Returns: the origin that they belong to, which is another one when that came first.
    func claim(_ candidate: HTTPOrigin) -> HTTPOrigin {
        origin.withLock { origin in
            if let origin { return origin }
            origin = candidate
            return candidate
        }
    }

    /// Forgets the origin, once the credentials are forgotten.
    func forget() { origin.withLock { $0 = nil } }
}
