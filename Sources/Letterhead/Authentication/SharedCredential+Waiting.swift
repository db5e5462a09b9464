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

    /// Returns the credential for a request that a server refused with a 401: one that has replaced the refused
    /// credential since, or a new one.
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

    /// A credential that was obtained for other requests may be insufficient for this one, so the request asks again, a
    /// limited number of times.
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
            let waiter = Waiter()
            let (answer, id) = enter(
                waiter, request: request, next: next, refused: refused,
                verdict: held.map { Machine.Verdict(generation: $0.generation, freshness: freshness ?? .expired) })
            switch answer {
            case .use(let held): return held
            case .again: continue
            case .refuse(let refusal): throw refusal
            case .wait, .obtain:
                let held = try await wait(waiter, id: id, atMost: request.timeLeft)
                waits += 1
                if waits > 2 || provider.freshness(of: held.credential, for: request) != .insufficient { return held }
            }
        }
    }

    private func wait(
        _ waiter: Waiter, id: Int, atMost limit: Duration?
    ) async throws(CredentialRefusal) -> Held {
        let outcome = await waiter.value(
            within: limit.map { max($0, .zero) }, on: clock, onTimeout: { waiter.set(.failure(.late)) },
            onCancel: { waiter.set(.failure(.left)) })
        do throws(CredentialRefusal) {
            return try outcome.get()
        } catch {
            if error.isDeparture { state.withLock { $0.machine.leave(id) } }
            throw error
        }
    }

    private func enter(
        _ waiter: Waiter, request: HTTPRequest, next: any HTTPLoader, refused: Held?, verdict: Machine.Verdict?
    ) -> (answer: Machine.Answer, id: Int) {
        let now = timeline.now
        return state.withLock { state in
            state.lastTicket += 1
            let ticket = Machine.Ticket(
                id: state.lastTicket, refused: refused, origin: isBound ? request.origin : nil)
            let answer = state.machine.enter(ticket, as: waiter, verdict: verdict, now: now)
            if case .obtain(let flight, let previous) = answer {
                let need = CredentialNeed(
                    request: request, next: next, previous: previous?.credential,
                    isRefused: previous?.isRefused ?? false)
                // The task is created under the lock, so that no reset can miss it. It starts to run on another thread.
                state.flight = Task { await self.fly(flight, for: need) }
            }
            return (answer, ticket.id)
        }
    }
}
