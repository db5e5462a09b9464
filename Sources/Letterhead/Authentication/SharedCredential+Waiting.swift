import Synchronization

extension SharedCredential {
    /// Returns the credential for a request that has not been sent; nil if the request is sent without one.
    ///
    /// The client's credentials are optional, so a request to an origin that they do not belong to is sent without
    /// them. A request that chooses credentials itself is refused.
    func firstCredential(for request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> Held? {
        do throws(CredentialRefusal) {
            return try await credential(for: request, next: next, refused: nil)
        } catch {
            if case .otherOrigin = error, request.authentication == nil { return nil }
            throw error.error(for: request, response: nil)
        }
    }

    /// Returns the credential for a request that a server refused with a 401: the credential that has replaced the
    /// refused one in the meantime, or a new credential.
    ///
    /// - Parameters:
    ///   - refused: the credential that was refused.
    ///   - response: the 401.
    func newerCredential(
        for request: HTTPRequest, next: any HTTPLoader, refused: Held, by response: HTTPResponse
    ) async throws(HTTPError) -> Held {
        do throws(CredentialRefusal) {
            return try await credential(for: request, next: next, refused: refused)
        } catch {
            throw error.error(for: request, response: response)
        }
    }

    /// Returns a credential, and waits for it if necessary. A credential that was obtained for other requests may be
    /// insufficient for this one. The request then waits for another one, a limited number of times.
    private func credential(
        for request: HTTPRequest, next: any HTTPLoader, refused: Held?
    ) async throws(CredentialRefusal) -> Held {
        if Task.isCancelled { throw .left }
        let origin = isBound ? request.origin : nil
        var waits = 0
        while true {
            let held = try state.withLock { state throws(CredentialRefusal) in
                try state.machine.available(to: origin)
            }
            let freshness = held.map { provider.freshness(of: $0.credential, for: request) }
            if refused == nil, let held, freshness == .fresh, !held.isRefused { return held }
            let (answer, flight, ticket) = enter(
                request, next: next, refused: refused,
                verdict: held.map { Machine.Verdict(generation: $0.generation, freshness: freshness ?? .expired) })
            switch answer {
            case .use(let held): return held
            case .again: continue
            case .refuse(let refusal): throw refusal
            case .wait, .obtain:
                guard let flight, let ticket else { continue }
                let need = request.observation?.needCredentials(isRefused: refused != nil)
                let held: Held
                do throws(CredentialRefusal) {
                    held = try await wait(for: flight, ticket, atMost: request.timeLeft)
                } catch {
                    need?.end(.credentialsFailed)
                    throw error
                }
                need?.end(.credentialsObtained)
                waits += 1
                if waits > 2 || provider.freshness(of: held.credential, for: request) != .insufficient { return held }
            }
        }
    }

    private func wait(
        for flight: Flight, _ ticket: Flight.Ticket, atMost limit: Duration?
    ) async throws(CredentialRefusal) -> Held {
        switch await flight.outcome(for: ticket, within: limit.map { max($0, .zero) }, on: clock) {
        case .value(let result): return try result.get()
        case .cancelled: throw .left
        case .late: throw .late
        case .reset: throw .reset
        }
    }

    private func enter(
        _ request: HTTPRequest, next: any HTTPLoader, refused: Held?, verdict: Machine.Verdict?
    ) -> (answer: Machine.Answer, flight: Flight?, ticket: Flight.Ticket?) {
        let now = timeline.now
        let (answer, flight, ticket) =
            state.withLock { state in
                let ticket = Machine.Ticket(refused: refused, origin: isBound ? request.origin : nil)
                let answer = state.machine.enter(ticket, verdict: verdict, now: now)
                switch answer {
                case .obtain: state.flight = Flight(needsWaiters: false)
                case .wait: break
                case .use, .again, .refuse: return (answer, nil, nil)
                }
                return (answer, state.flight, state.flight?.join())
            } as (Machine.Answer, Flight?, Flight.Ticket?)
        if case .obtain(let number, let previous) = answer, let flight {
            let need = CredentialNeed(
                request: request, next: next, previous: previous?.credential, isRefused: previous?.isRefused ?? false)
            flight.start { [self] in await fetch(number, for: need, in: flight) }
        }
        return (answer, flight, ticket)
    }
}
