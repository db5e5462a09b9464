import Foundation
import Synchronization

/// Signs with a credential that is remembered, and has it got once for all who wait.
///
/// A class, because all requests must see one credential. ``CredentialState`` decides; here are the lock, the tasks and
/// the clock. The one task that gets a credential belongs to nobody who waits: it goes on when they leave, so that no
/// token that a server has already changed is lost. A reset cancels and awaits it.
final class SharedCredential<Provider: CredentialProvider>: LoaderLink {
    private typealias Held = HeldCredential<Provider.Credential>
    private typealias Waiter = CredentialWaiter<Result<Held, CredentialRefusal>>
    private typealias Machine = CredentialState<Provider.Credential, Waiter>

    private struct State {
        var machine: Machine
        var lastTicket = 0
        var flight: Task<Void, Never>?
        var reset: Task<Void, Never>?
    }

    private let provider: Provider
    private let clock: any Clock<Duration>
    private let timeline: Timeline
    private let state: Mutex<State>

    init(_ provider: Provider, limit: CredentialLimit, clock: any Clock<Duration>) {
        self.provider = provider
        self.clock = clock
        timeline = Timeline(clock)
        state = Mutex(State(machine: Machine(limit: limit)))
    }

    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        let held = try await credential(for: request, next: next)
        switch try await attempt(request, with: held, next: next) {
        case .answered(let response): return response
        case .refused(let response):
            let newer = try await credential(for: request, next: next, refused: held, by: response)
            return try await next.load(try signed(request, with: newer))
        }
    }

    /// What comes of sending a request that may go again.
    private enum Outcome {
        case answered(HTTPResponse)
        /// A 401 with as much of its body as was in memory: a connection or a slot that the rest would hold is let go
        /// before another credential is waited for.
        case refused(HTTPResponse)
    }

    private func attempt(
        _ request: HTTPRequest, with held: Held, next: any HTTPLoader
    ) async throws(HTTPError) -> Outcome {
        var response = try await next.load(try signed(request, with: held))
        guard response.status == .unauthorized else { return .answered(response) }
        guard request.body.isEmpty || request.body.isReplayable else {
            state.withLock { $0.machine.refuse(held) }
            return .answered(response)
        }
        let kept = response.body.buffered?.prefix(1 << 20) ?? Data()
        response.body = HTTPResponseBody(kept)
        return .refused(response)
    }

    /// Cancels and awaits what is under way, and forgets; a second reset meanwhile joins the first.
    func reset(next: any HTTPLoader) async {
        async let below: Void = next.reset()
        await forget().value
        await below
    }

    private func signed(_ request: HTTPRequest, with held: Held) throws(HTTPError) -> HTTPRequest {
        var signed = request
        do { try provider.sign(&signed, with: held.credential) } catch {
            throw HTTPError(signing: error, request: request)
        }
        return signed
    }
}

extension SharedCredential {
    private func credential(
        for request: HTTPRequest, next: any HTTPLoader, refused: Held? = nil, by response: HTTPResponse? = nil
    ) async throws(HTTPError) -> Held {
        if Task.isCancelled { throw CredentialRefusal.left.error(for: request, response: response) }
        do throws(CredentialRefusal) {
            return try await credential(for: request, next: next, refused: refused)
        } catch {
            throw error.error(for: request, response: response)
        }
    }

    /// One that was got for others may not suffice for this request: so it asks again, but not for ever.
    private func credential(
        for request: HTTPRequest, next: any HTTPLoader, refused: Held?
    ) async throws(CredentialRefusal) -> Held {
        var waits = 0
        while true {
            let held = state.withLock { $0.machine.available }
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
        async let _ = ring(waiter, after: limit)
        do throws(CredentialRefusal) {
            let held = try await waiter.value(orWhenCancelled: .failure(.left)).get()
            return held
        } catch {
            if error.isDeparture { state.withLock { $0.machine.leave(id) } }
            throw error
        }
    }

    /// Sends a waiter away when its request's deadline comes first.
    private func ring(_ waiter: Waiter, after limit: Duration?) async {
        guard let limit, (try? await clock.sleep(for: max(limit, .zero))) != nil else { return }
        waiter.fill(.failure(.late))
    }

    private func enter(
        _ waiter: Waiter, request: HTTPRequest, next: any HTTPLoader, refused: Held?, verdict: Machine.Verdict?
    ) -> (answer: Machine.Answer, id: Int) {
        let now = timeline.now
        return state.withLock { state in
            state.lastTicket += 1
            let ticket = Machine.Ticket(id: state.lastTicket, refused: refused)
            let answer = state.machine.enter(ticket, as: waiter, verdict: verdict, now: now)
            if case .obtain(let flight, let previous) = answer {
                let need = CredentialNeed(
                    request: request, next: next, previous: previous?.credential,
                    isRefused: previous?.isRefused ?? false)
                // Made under the lock, so that no reset can miss it; it begins to run elsewhere.
                state.flight = Task { await self.fly(flight, for: need) }
            }
            return (answer, ticket.id)
        }
    }
}

extension SharedCredential {
    private func fly(_ flight: Int, for need: CredentialNeed<Provider.Credential>) async {
        let result: Result<Provider.Credential?, any Error>
        do {
            result = .success(try await provider.credential(for: need))
        } catch {
            result = .failure(error)
        }
        let (waiters, outcome) = state.withLock { $0.machine.finish(flight, with: result) }
        for waiter in waiters { waiter.fill(outcome) }
    }

    private func forget() -> Task<Void, Never> {
        let (reset, waiters) = state.withLock { state -> (Task<Void, Never>, [Waiter]) in
            if let running = state.reset { return (running, []) }
            let waiters = state.machine.beginReset()
            let reset = Task { [flight = state.flight] in
                flight?.cancel()
                await flight?.value
                await self.provider.reset()
                self.state.withLock { state in
                    state.machine.endReset()
                    (state.flight, state.reset) = (nil, nil)
                }
            }
            state.reset = reset
            return (reset, waiters)
        }
        for waiter in waiters { waiter.fill(.failure(.reset)) }
        return reset
    }
}
