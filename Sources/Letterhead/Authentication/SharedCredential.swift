import Foundation
import Synchronization

/// Signs requests with a stored credential, which is fetched once for all concurrent requests.
///
/// This type is a class because all requests share one credential. ``CredentialState`` makes the decisions; this type
/// has the lock, the tasks and the clock. The task that fetches a credential is independent of the waiting requests: it
/// continues when they are cancelled, so that no token is lost that the server has already replaced. A reset cancels
/// and awaits the task.
final class SharedCredential<Provider: CredentialProvider>: LoaderLink {
    typealias Held = HeldCredential<Provider.Credential>
    typealias Waiter = OneShot<Result<Held, CredentialRefusal>>
    typealias Machine = CredentialState<Provider.Credential, Waiter>

    struct State {
        var machine: Machine
        var lastTicket = 0
        var flight: Task<Void, Never>?
        var reset: Task<Void, Never>?
    }

    let provider: Provider
    /// Whether the credential belongs to the one origin for which it was obtained.
    let isBound: Bool
    let clock: any Clock<Duration>
    let timeline: Timeline
    let state: Mutex<State>

    init(_ provider: Provider, limit: CredentialLimit, isBound: Bool, clock: any Clock<Duration>) {
        self.provider = provider
        self.isBound = isBound
        self.clock = clock
        timeline = Timeline(clock)
        state = Mutex(State(machine: Machine(limit: limit)))
    }

    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        guard let held = try await firstCredential(for: request, next: next) else {
            return try await next.load(request)
        }
        switch try await attempt(request, with: held, next: next) {
        case .answered(let response): return response
        case .refused(let response):
            let newer = try await newerCredential(for: request, next: next, refused: held, by: response)
            return try await next.load(try signed(request, with: newer))
        }
    }

    /// The result of sending a request that may be sent again.
    private enum Outcome {
        case answered(HTTPResponse)
        /// A 401 with the part of its body that was in memory. The rest is discarded before the wait for another
        /// credential, so that it occupies no connection or slot.
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

    /// Cancels and awaits the fetch in flight, and removes the credential. A concurrent reset joins the first one.
    ///
    /// A fetch that itself awaits the reset is cancelled but not awaited; its result is discarded.
    func reset(next: any HTTPLoader) async {
        async let below: Void = next.reset()
        let asksItself = state.withLock { $0.flight }?.cancelsCaller() ?? false
        let end = forget()
        if !asksItself { await end.value }
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
    /// Fetches a credential for all waiting requests.
    func fly(_ flight: Int, for need: CredentialNeed<Provider.Credential>) async {
        let result: Result<Provider.Credential?, any Error>
        do {
            result = .success(try await provider.credential(for: need))
        } catch {
            result = .failure(error)
        }
        let (waiters, outcome) = state.withLock { $0.machine.finish(flight, with: result) }
        for waiter in waiters { waiter.set(outcome) }
    }

    /// Begins a reset, or joins the one that is in progress.
    func forget() -> Task<Void, Never> {
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
        for waiter in waiters { waiter.set(.failure(.reset)) }
        return reset
    }
}
