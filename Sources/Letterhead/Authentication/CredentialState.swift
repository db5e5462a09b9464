/// The state machine of a shared credential: the stored credential and the next step of a request. It uses no task,
/// lock or clock.
///
/// Each credential has a generation. A 401 refers to the generation that it refused. If that generation has been
/// replaced, the request is retried with the current one; otherwise a new credential is obtained. At most one fetch is
/// in flight. A reset begins a new epoch, and requests of earlier epochs receive no credentials of the new one.
package struct CredentialState<Credential: Sendable>: Sendable {
    package typealias Held = HeldCredential<Credential>

    /// A request for a credential.
    package struct Ticket {
        /// The credential that a 401 refused; nil for a request that has not been sent.
        package var refused: Held?
        /// The origin of the request, if credentials are bound to one origin; nil if `allowedOrigins` was set.
        package let origin: HTTPOrigin?

        package init(refused: Held? = nil, origin: HTTPOrigin? = nil) {
            (self.refused, self.origin) = (refused, origin)
        }
    }

    package enum Answer {
        case use(Held)
        /// Wait for the fetch in flight.
        case wait(flight: Int)
        /// Obtain a credential, and call ``finish(_:with:)`` with the number of the fetch.
        case obtain(flight: Int, previous: Held?)
        /// The stored credential has changed since the caller judged it: judge it again.
        case again
        case refuse(CredentialRefusal)
    }

    /// The caller's judgment of the credential of a generation.
    package struct Verdict {
        package let generation: Int
        package let freshness: CredentialFreshness

        package init(generation: Int, freshness: CredentialFreshness) {
            (self.generation, self.freshness) = (generation, freshness)
        }

        fileprivate func isGood(for held: Held) -> Bool {
            generation == held.generation && (freshness == .fresh || freshness == .stale)
        }
    }

    private enum Phase: Equatable {
        case open
        case obtaining(flight: Int)
        case resetting
    }

    package private(set) var held: Held?
    private var phase = Phase.open
    /// Whether the stored credential remains usable by other requests during the fetch, and if the fetch fails.
    private var keepsHeld = false
    private var epoch = 0
    /// The number of resets in progress.
    private var resets = 0
    private var generation = 0
    private var flights = 0
    private var starts: [Duration] = []
    private var failure: (generation: Int, error: any Error)?
    /// The origin for which the credential was obtained or is being obtained; nil without a credential, or if origins
    /// were named.
    package private(set) var origin: HTTPOrigin?
    private let limit: CredentialLimit

    package init(limit: CredentialLimit) { self.limit = limit }

    /// The credential that can be judged and used without waiting.
    package var available: Held? {
        switch phase {
        case .open: held
        case .obtaining: keepsHeld ? held : nil
        case .resetting: nil
        }
    }

    /// Returns the credential that a request to an origin can judge and use without waiting. Pass nil if origins were
    /// named.
    ///
    /// - Throws: `.otherOrigin` if the credential was obtained, or is being obtained, for another origin.
    package func available(to origin: HTTPOrigin?) throws(CredentialRefusal) -> Held? {
        if let owner = owner(otherThan: origin) { throw .otherOrigin(owner) }
        return available
    }

    private func owner(otherThan candidate: HTTPOrigin?) -> HTTPOrigin? {
        guard let candidate, let origin, candidate != origin else { return nil }
        return origin
    }

    /// Returns the next step for a request that needs a credential.
    ///
    /// - Parameter verdict: the caller's judgment of the credential that was ``available``; nil if there was none.
    package mutating func enter(_ ticket: Ticket, verdict: Verdict?, now: Duration) -> Answer {
        if let refused = ticket.refused {
            guard refused.epoch == epoch else { return .refuse(.reset) }
            refuse(refused)
        }
        if let owner = owner(otherThan: ticket.origin) { return .refuse(.otherOrigin(owner)) }
        switch phase {
        case .resetting: return .refuse(.resetting)
        case .obtaining(let flight):
            if keepsHeld, let held, !held.isRefused, verdict?.isGood(for: held) == true { return .use(held) }
            return .wait(flight: flight)
        case .open: break
        }
        guard let held, !held.isRefused else { return obtain(ticket, now: now) }
        guard let verdict, verdict.generation == held.generation else { return .again }
        switch verdict.freshness {
        case .fresh: return .use(held)
        case .stale: return obtain(ticket, now: now, fallback: held)
        case .expired: return obtain(ticket, now: now)
        case .insufficient: return obtain(ticket, now: now, keepsHeld: true)
        }
    }

    /// Marks a credential as refused by a 401. Has no effect if the credential has already been replaced.
    package mutating func refuse(_ refused: Held) {
        guard refused.epoch == epoch, held?.generation == refused.generation else { return }
        held?.isRefused = true
    }

    private mutating func obtain(
        _ ticket: Ticket, now: Duration, fallback: Held? = nil, keepsHeld: Bool = false
    ) -> Answer {
        if let refused = ticket.refused, let failure, refused.generation <= failure.generation {
            return .refuse(.failed(failure.error))
        }
        starts = starts.filter { [limit] in now - $0 < limit.window }
        guard starts.count < limit.count else { return fallback.map { .use($0) } ?? .refuse(.tooMany(limit)) }
        starts.append(now)
        flights += 1
        phase = .obtaining(flight: flights)
        failure = nil
        self.keepsHeld = keepsHeld
        origin = origin ?? ticket.origin
        return .obtain(flight: flights, previous: held)
    }

    /// Ends a fetch with its result: a credential, nil if no credential is available, or an error.
    ///
    /// - Returns: the result for all waiting requests.
    package mutating func finish(
        _ flight: Int, with result: Result<Credential?, any Error>
    ) -> Result<Held, CredentialRefusal> {
        guard phase == .obtaining(flight: flight) else { return .failure(.reset) }
        phase = .open
        defer { if held == nil { origin = nil } }
        switch result {
        case .success(let credential?):
            generation += 1
            let new = Held(credential: credential, generation: generation, epoch: epoch)
            held = new
            return .success(new)
        case .success(nil):
            held = nil
            let nothing = HTTPAuthentication.Failure(.noCredentials, "the provider returned no credentials")
            failure = (generation, nothing)
            return .failure(.failed(nothing))
        case .failure(let error):
            if !keepsHeld { held?.isRefused = true }
            failure = (generation, error)
            return .failure(.failed(error))
        }
    }

    /// Removes everything, and refuses requests until the reset has ended.
    package mutating func beginReset() {
        phase = .resetting
        resets += 1
        epoch += 1
        held = nil
        origin = nil
        failure = nil
        starts = []
    }

    /// Accepts requests again after the last reset in progress. The result of a fetch from before it is discarded.
    package mutating func endReset() {
        resets -= 1
        if resets == 0 { phase = .open }
    }
}

/// A credential with its generation and epoch.
package struct HeldCredential<Credential: Sendable>: Sendable {
    package let credential: Credential
    package let generation: Int
    package let epoch: Int
    package var isRefused = false
}
