// SPDX-License-Identifier: MIT
/// Decides the next step of each request that needs a shared credential, and stores the credential for each key. It
/// uses no task, lock or clock.
///
/// Each credential has a version. A 401 refers to the version that it refused. If that version has been replaced, the
/// request is retried with the current one. Otherwise, a new credential is obtained. Each key has at most
/// one fetch in flight. A reset begins a new epoch, and requests of earlier epochs receive none of its credentials.
struct CredentialState<Credential: Sendable>: Sendable {
    typealias Held = HeldCredential<Credential>
    /// The bytes of the key from the provider: strings that only look the same are different keys.
    typealias Key = [UInt8]

    enum Answer {
        case use(Held)
        case wait(flight: Int)
        /// Obtain a credential, and call ``finish(_:for:with:)`` with the number of the fetch.
        case obtain(flight: Int, previous: Held?)
        /// The stored credential has changed since the caller judged it. Judge the new one.
        case again
        case refuse(CredentialRefusal)
    }

    struct Verdict {
        let version: Int
        let freshness: HTTPAuthentication.Freshness

        fileprivate func isGood(for held: Held) -> Bool {
            version == held.version && (freshness == .fresh || freshness == .stale)
        }
    }

    private struct Slot {
        var held: Held?
        var obtaining: Int?
        /// Whether other requests may use the stored credential during the fetch, and if the fetch fails.
        var keepsHeld = false
        var starts: [Duration] = []
        var failure: (version: Int, error: any Error)?
        /// The origin that the credential was or is being obtained for. Nil if there is no credential, or if origins
        /// were named.
        var origin: HTTPOrigin?

        func owner(otherThan candidate: HTTPOrigin?) -> HTTPOrigin? {
            guard let candidate, let origin, candidate != origin else { return nil }
            return origin
        }
    }

    /// The maximum number of keys. With more, the oldest credential is removed.
    private static var capacity: Int { 1_000 }

    private var slots: [Key: Slot] = [:]
    private var epoch = 0
    private var resets = 0
    private var version = 0
    private var flights = 0
    private let limit: CredentialLimit

    init(limit: CredentialLimit) { self.limit = limit }

    var count: Int { slots.count }

    /// Returns the credential that a request to an origin can judge and use without waiting.
    ///
    /// - Parameters:
    ///   - key: identifies the credential.
    ///   - origin: the origin of the request. Nil if origins were named.
    /// - Throws: `.otherOrigin` if the credential was or is being obtained for a different origin.
    func available(for key: Key, to origin: HTTPOrigin?) throws(CredentialRefusal) -> Held? {
        guard let slot = slots[key] else { return nil }
        if let owner = slot.owner(otherThan: origin) { throw .otherOrigin(owner) }
        return resets > 0 || slot.obtaining != nil && !slot.keepsHeld ? nil : slot.held
    }

    /// Returns the next step for a request that needs a credential.
    ///
    /// - Parameters:
    ///   - refused: the credential that a 401 refused, and the 401. Nil for a request that has not been sent.
    ///   - origin: the origin of the request, if credentials are bound to one origin. Nil if `allowedOrigins` was set.
    ///   - verdict: how the caller judged the available credential. Nil if no credential was available.
    mutating func enter(
        _ key: Key, refused: (held: Held, response: HTTPResponse)? = nil, origin: HTTPOrigin? = nil, verdict: Verdict?,
        now: Duration
    ) -> Answer {
        if let refused {
            guard refused.held.epoch == epoch else { return .refuse(.reset) }
            refuse(refused.held, for: key, by: refused.response)
        }
        let slot = slots[key] ?? Slot()
        if let owner = slot.owner(otherThan: origin) { return .refuse(.otherOrigin(owner)) }
        if resets > 0 { return .refuse(.resetting) }
        if let obtaining = slot.obtaining {
            if slot.keepsHeld, let held = slot.held, !held.isRefused, verdict?.isGood(for: held) == true {
                return .use(held)
            }
            return .wait(flight: obtaining)
        }
        func obtain(_ fallback: Held? = nil, keepsHeld: Bool = false) -> Answer {
            self.obtain(key, slot, refused?.held, origin, now: now, fallback: fallback, keepsHeld: keepsHeld)
        }
        guard let held = slot.held, !held.isRefused else { return obtain() }
        guard let verdict, verdict.version == held.version else { return .again }
        switch verdict.freshness {
        case .fresh: return .use(held)
        case .stale: return obtain(held, keepsHeld: true)
        case .expired: return obtain()
        case .insufficient: return obtain(keepsHeld: true)
        }
    }

    /// Marks a credential as refused by a 401, unless it has already been replaced or refused.
    mutating func refuse(_ refused: Held, for key: Key, by response: HTTPResponse) {
        guard let held = slots[key]?.held, held.version == refused.version, !held.isRefused else { return }
        slots[key]?.held?.refusal = response
    }

    private mutating func obtain(
        _ key: Key, _ slot: Slot, _ refused: Held?, _ requested: HTTPOrigin?, now: Duration, fallback: Held?,
        keepsHeld: Bool
    ) -> Answer {
        if let refused, let failure = slot.failure, refused.version <= failure.version {
            return .refuse(.failed(failure.error))
        }
        var slot = slot
        slot.starts = slot.starts.filter { [limit] in now - $0 < limit.window }
        guard slot.starts.count < limit.count else {
            return fallback.map { .use($0) } ?? .refuse(.tooMany(limit, isInsufficient: keepsHeld))
        }
        slot.starts.append(now)
        flights += 1
        slot.obtaining = flights
        slot.failure = nil
        slot.keepsHeld = keepsHeld
        slot.origin = slot.origin ?? requested
        if slots[key] == nil, slots.count >= Self.capacity { removeOldest() }
        slots[key] = slot
        return .obtain(flight: flights, previous: slot.held)
    }

    private mutating func removeOldest() {
        let idle = slots.filter { $0.value.obtaining == nil }
        let oldest = idle.min { ($0.value.held?.version ?? 0) < ($1.value.held?.version ?? 0) }
        if let oldest { slots[oldest.key] = nil }
    }

    /// Ends a fetch, and returns the result for all waiting requests. If the fetch returned nil, no credential is
    /// available.
    mutating func finish(
        _ flight: Int, for key: Key, with result: Result<Credential?, any Error>
    ) -> Result<Held, CredentialRefusal> {
        guard var slot = slots[key], slot.obtaining == flight else { return .failure(.reset) }
        slot.obtaining = nil
        defer {
            if slot.held == nil { slot.origin = nil }
            slots[key] = slot
        }
        switch result {
        case .success(let credential?):
            version += 1
            let new = Held(credential: credential, version: version, epoch: epoch)
            slot.held = new
            return .success(new)
        case .success(nil):
            slot.held = nil
            let nothing = HTTPAuthentication.Failure(.noCredentials, "the provider returned no credentials")
            slot.failure = (version, nothing)
            return .failure(.failed(nothing))
        case .failure(let error):
            slot.failure = (version, error)
            return .failure(.failed(error))
        }
    }

    /// Removes everything, and refuses requests until the reset has ended.
    mutating func beginReset() {
        slots = [:]
        resets += 1
        epoch += 1
    }

    /// Accepts requests again if no other reset is in progress. The result of a fetch from before the reset is
    /// discarded.
    mutating func endReset() { resets -= 1 }
}

struct HeldCredential<Credential: Sendable>: Sendable {
    let credential: Credential
    let version: Int
    let epoch: Int
    /// The 401 that refused the credential.
    var refusal: HTTPResponse?

    var isRefused: Bool { refusal != nil }
}

enum CredentialRefusal: Error {
    case resetting
    /// A reset has occurred since the request began, so the request may belong to the previous user.
    case reset
    /// The limit of fetches is reached. Either the provider found the last credential insufficient for the request, or
    /// a server refuses the credentials that it has issued.
    case tooMany(CredentialLimit, isInsufficient: Bool)
    /// The provider sent the request, which would wait for its own credential.
    case ownRequest
    case failed(any Error)
    /// The credential was obtained for this origin, but the request goes to a different one.
    case otherOrigin(HTTPOrigin)
    case left
    case late

    /// Returns the error that a request fails with.
    ///
    /// - Parameters:
    ///   - request: the request that fails.
    ///   - response: the 401 that caused the request for a new credential, with its body in memory. Default: nil
    ///     (nothing has been sent).
    func error(for request: HTTPRequest, response: HTTPResponse? = nil) -> HTTPError {
        if case .late = self {
            return request.deadlinePassed(
                while: "waiting for credentials", response: response, mayHaveBeenSent: response != nil)
        }
        let (code, underlying, message) = content
        return HTTPError(
            code, request: request, response: response, underlying: underlying, message: message,
            mayHaveBeenSent: response != nil)
    }

    private var content: (HTTPError.Code, (any Error)?, String) {
        switch self {
        case .resetting: (.resetInProgress, nil, "the credentials are being reset (retry after the reset)")
        case .reset: (.cancelled, nil, "the credentials were reset while the request was in progress")
        case .otherOrigin(let origin):
            Self.content(
                of: HTTPAuthentication.Failure(.originNotAllowed, AllowedOrigins.rule(ofCredentialsFor: origin)))
        case .left, .late: (.cancelled, nil, "the request was cancelled while it waited for credentials")
        case .tooMany(let limit, let isInsufficient):
            Self.content(
                of: HTTPAuthentication.Failure(
                    .limitReached,
                    "credentials were requested \(limit.count) times within \(limit.window), which is the limit "
                        + (isInsufficient
                            ? "(to store a credential for each kind of request, implement key(for:) in the provider)"
                            : "(the server probably refuses the credentials that it issues)")))
        case .ownRequest:
            Self.content(
                of: HTTPAuthentication.Failure(
                    .misconfigured,
                    "the code that obtains the credentials has sent a request that would wait for them (send it to "
                        + "need.next, or set its authentication to .anonymous)"))
        case .failed(let error) where error.isCancelledRequest:
            (.cancelled, error, "the request for credentials was cancelled")
        case .failed(let error as HTTPAuthentication.Failure): Self.content(of: error)
        case .failed(let error):
            (.cannotAuthenticate, error, "could not obtain credentials: \(HTTPError.summary(of: error))")
        }
    }

    private static func content(of failure: HTTPAuthentication.Failure) -> (HTTPError.Code, (any Error)?, String) {
        (.cannotAuthenticate, failure, failure.description)
    }
}

extension Error {
    /// Whether the error comes from a cancelled request, for example because the chain below was reset.
    fileprivate var isCancelledRequest: Bool {
        let cause = (self as? HTTPAuthentication.Failure)?.underlying ?? self
        return (cause as? HTTPError)?.code == .cancelled
    }
}
