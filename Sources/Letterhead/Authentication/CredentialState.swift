/// Who has credentials, who waits, and what is to be done: a pure state machine, which knows no task, no lock, no clock.
///
/// Each credential has a generation. A 401 names the generation that it refused: one that has been replaced since means
/// going again with the new one, the current one means getting another. At most one flight, which gets it, is under way.
/// A reset begins a new epoch, and whoever comes from an older one gets nothing of the new.
package struct CredentialState<Credential: Sendable, Waiter: Sendable>: Sendable {
    package typealias Held = HeldCredential<Credential>

    /// Who asks, and what it knows.
    package struct Ticket {
        package let id: Int
        /// The credential that a 401 refused; nil for a request that has not been sent.
        package var refused: Held?
        /// The origin of the request, where credentials are bound to one; nil where origins were named.
        package let origin: HTTPOrigin?

        package init(id: Int, refused: Held? = nil, origin: HTTPOrigin? = nil) {
            (self.id, self.refused, self.origin) = (id, refused, origin)
        }
    }

    package enum Answer {
        case use(Held)
        case wait
        /// Get one, and call ``finish(_:with:)`` with the number of the flight.
        case obtain(flight: Int, previous: Held?)
        /// What is held is not what was judged any more: judge it again.
        case again
        case refuse(CredentialRefusal)
    }

    /// What somebody found out about the credential of a generation.
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
    /// Whether what is held is good for others than the one who had the flight take off, and stays so if it fails.
    private var keepsHeld = false
    private var epoch = 0
    private var generation = 0
    private var flights = 0
    private var waiters: [Int: Waiter] = [:]
    private var starts: [Duration] = []
    private var failure: (generation: Int, error: any Error)?
    /// The origin for which the credential was obtained, or is being obtained; nil without one, or where origins were
    /// named.
    package private(set) var origin: HTTPOrigin?
    private let limit: CredentialLimit

    package init(limit: CredentialLimit) { self.limit = limit }

    /// What can be used or judged without waiting.
    package var available: Held? {
        switch phase {
        case .open: held
        case .obtaining: keepsHeld ? held : nil
        case .resetting: nil
        }
    }

    /// What a request to an origin can use or judge without waiting; nil for any origin where origins were named.
    ///
    /// - Throws: `.otherOrigin` when the credential was, or is being, obtained for another origin.
    package func available(to origin: HTTPOrigin?) throws(CredentialRefusal) -> Held? {
        if let owner = owner(otherThan: origin) { throw .otherOrigin(owner) }
        return available
    }

    private func owner(otherThan candidate: HTTPOrigin?) -> HTTPOrigin? {
        guard let candidate, let origin, candidate != origin else { return nil }
        return origin
    }

    /// Answers one who needs a credential, and keeps it as a waiter when it has to wait.
    ///
    /// - Parameter verdict: what the asker thinks of the credential that was ``available``; nil when there was none.
    package mutating func enter(_ ticket: Ticket, as waiter: Waiter, verdict: Verdict?, now: Duration) -> Answer {
        if let refused = ticket.refused {
            guard refused.epoch == epoch else { return .refuse(.reset) }
            refuse(refused)
        }
        if let owner = owner(otherThan: ticket.origin) { return .refuse(.otherOrigin(owner)) }
        switch phase {
        case .resetting: return .refuse(.resetting)
        case .obtaining:
            if keepsHeld, let held, !held.isRefused, verdict?.isGood(for: held) == true { return .use(held) }
            waiters[ticket.id] = waiter
            return .wait
        case .open: break
        }
        guard let held, !held.isRefused else { return obtain(ticket, waiter, now: now) }
        guard let verdict, verdict.generation == held.generation else { return .again }
        switch verdict.freshness {
        case .fresh: return .use(held)
        case .stale: return obtain(ticket, waiter, now: now, fallback: held)
        case .expired: return obtain(ticket, waiter, now: now)
        case .insufficient: return obtain(ticket, waiter, now: now, keepsHeld: true)
        }
    }

    /// Takes a 401's word that a credential is no good any more; one that has been replaced since is not concerned.
    package mutating func refuse(_ refused: Held) {
        guard refused.epoch == epoch, held?.generation == refused.generation else { return }
        held?.isRefused = true
    }

    private mutating func obtain(
        _ ticket: Ticket, _ waiter: Waiter, now: Duration, fallback: Held? = nil, keepsHeld: Bool = false
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
        waiters[ticket.id] = waiter
        return .obtain(flight: flights, previous: held)
    }

    /// Ends a flight: a credential, nil when there is none to be had, or why not.
    ///
    /// - Returns: who waited, and what all of them get.
    package mutating func finish(
        _ flight: Int, with result: Result<Credential?, any Error>
    ) -> (waiters: [Waiter], result: Result<Held, CredentialRefusal>) {
        guard phase == .obtaining(flight: flight) else { return ([], .failure(.reset)) }
        phase = .open
        defer { if held == nil { origin = nil } }
        switch result {
        case .success(let credential?):
            generation += 1
            let new = Held(credential: credential, generation: generation, epoch: epoch)
            held = new
            return (leaveAll(), .success(new))
        case .success(nil):
            held = nil
            let nothing = HTTPAuthentication.Failure(.noCredentials, "no credentials were given")
            failure = (generation, nothing)
            return (leaveAll(), .failure(.failed(nothing)))
        case .failure(let error):
            if !keepsHeld { held?.isRefused = true }
            failure = (generation, error)
            return (leaveAll(), .failure(.failed(error)))
        }
    }

    /// One waiter leaves; the flight goes on for the others.
    package mutating func leave(_ id: Int) { waiters[id] = nil }

    /// Forgets everything, and lets nobody in.
    ///
    /// - Returns: who waited.
    package mutating func beginReset() -> [Waiter] {
        phase = .resetting
        epoch += 1
        held = nil
        origin = nil
        failure = nil
        starts = []
        return leaveAll()
    }

    /// Lets requests in again, once the flight that a reset overtook has ended.
    package mutating func endReset() { phase = .open }

    private mutating func leaveAll() -> [Waiter] {
        defer { waiters = [:] }
        return waiters.sorted { $0.key < $1.key }.map(\.value)
    }
}

/// A credential, and which one it is.
package struct HeldCredential<Credential: Sendable>: Sendable {
    package let credential: Credential
    package let generation: Int
    package let epoch: Int
    package var isRefused = false
}
