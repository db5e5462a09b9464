import Foundation
import Synchronization

/// Signs requests with a stored credential, which is fetched once for all concurrent requests.
///
/// This type is a class because all requests share one credential. ``CredentialState`` makes the decisions; this type
/// has the lock, the tasks and the clock. The task that fetches a credential is independent of the waiting requests: it
/// continues when they are cancelled. Otherwise a new token could be lost after the server has revoked the previous
/// one. A reset cancels and awaits the task.
final class SharedCredential<Provider: CredentialProvider>: LoaderLink {
    typealias Held = HeldCredential<Provider.Credential>
    typealias Flight = SingleFlight<Result<Held, CredentialRefusal>>
    typealias Machine = CredentialState<Provider.Credential>

    struct State {
        var machine: Machine
        var flight: Flight?
        /// The reset in progress.
        var reset: OwnedWork?
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
            if let observation = request.observation {
                observation.record(.credentialsRefused) { $0[.status] = response.status.code }
            }
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
        await forget()
        await below
    }

    private func signed(_ request: HTTPRequest, with held: Held) throws(HTTPError) -> HTTPRequest {
        var signed = request
        do { try provider.sign(&signed, with: held.credential) } catch {
            throw HTTPError(signing: error, request: request)
        }
        if let identity = provider.identity(of: held.credential) { signed.markSigned(by: identity, from: request) }
        return signed
    }
}

extension SharedCredential {
    /// Fetches a credential for all waiting requests.
    func fetch(_ number: Int, for need: CredentialNeed<Provider.Credential>, in flight: Flight) async {
        let result: Result<Provider.Credential?, any Error>
        do {
            result = .success(try await provider.credential(for: need))
        } catch {
            result = .failure(error)
        }
        flight.finish(with: state.withLock { $0.machine.finish(number, with: result) })
    }

    /// Removes the credential, and returns when the fetch in flight has ended and the provider has been reset. It joins
    /// a reset that is in progress.
    private func forget() async {
        let (reset, flight, isNew) = state.withLock { state in
            if let running = state.reset { return (running, state.flight, false) }
            let reset = OwnedWork()
            state.reset = reset
            state.machine.beginReset()
            return (reset, state.flight, true)
        }
        flight?.reset()
        if isNew {
            reset.start { [self] in
                await flight?.ended()
                await provider.reset()
                state.withLock { state in
                    state.machine.endReset()
                    (state.flight, state.reset) = (nil, nil)
                }
            }
        }
        if flight?.containsCaller != true { await reset.ended() }
    }
}
