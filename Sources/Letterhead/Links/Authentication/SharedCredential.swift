// SPDX-License-Identifier: MIT
import LetterheadFoundation
import Synchronization

/// Signs requests with a stored credential for each key. All concurrent requests share one fetch.
///
/// ``CredentialState`` makes the decisions. This type has the lock, the fetch and the clock. A fetch continues even if
/// no request waits for it any more. Otherwise, a new token could be lost after the server has revoked the previous
/// one.
final class SharedCredential<Provider: CredentialProvider>: LoaderLink {
    typealias Held = HeldCredential<Provider.Credential>
    typealias Machine = CredentialState<Provider.Credential>
    typealias Fetches = Flights<Int, Result<Held, CredentialRefusal>>

    private let provider: Provider
    /// Whether the credential belongs only to the origin that it was obtained for.
    private let isBound: Bool
    private let clock: any Clock<Duration>
    private let timeline: Timeline
    private let state: Mutex<Machine>
    private let tasks = Mutex<[Int: Int]>([:])
    private let fetches = Fetches()

    init(_ provider: Provider, limit: CredentialLimit, isBound: Bool, clock: any Clock<Duration>) {
        (self.provider, self.isBound, self.clock) = (provider, isBound, clock)
        timeline = Timeline(clock)
        state = Mutex(Machine(limit: limit))
    }

    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        let key = Machine.Key(provider.key(for: request).utf8)
        let held: Held
        do throws(CredentialRefusal) {
            held = try await credential(key, for: request, next: next)
        } catch {
            guard case .otherOrigin(let owner) = error, request.authentication == nil,
                request.authenticationRequirement != .required
            else { throw error.error(for: request) }
            return try await next.load(request.unsigned(because: AllowedOrigins.rule(ofCredentialsFor: owner)))
        }
        var response = try await next.load(try signed(request, with: held))
        guard provider.isRefused(held.credential, by: response) else { return response }
        let refusal = response.withoutRequestBody(upTo: 1 << 16)
        guard request.body.isEmpty || request.body.isReplayable else {
            state.withLock { $0.refuse(held, for: key, by: refusal) }
            return response
        }
        // While waiting for a new credential, a streamed body would occupy a connection or a slot.
        await response.body.discard()
        response.body = HTTPResponseBody(response.body.buffered?.prefix(1 << 20) ?? Data())
        request.record(.credentialsRefused) { $0[.status] = refusal.status.code }
        let newer: Held
        do throws(CredentialRefusal) {
            newer = try await credential(key, for: request, next: next, refused: (held, refusal))
        } catch {
            throw error.error(for: request, response: response)
        }
        var again = request
        again.loadValues.replace(with: response.request.loadValues)
        let second = try await next.load(try signed(again, with: newer))
        _ = provider.isRefused(newer.credential, by: second)
        return second
    }

    /// Cancels the fetch in flight, removes the credential, and resets the provider.
    ///
    /// The fetch may itself await the reset, so the reset doesn't wait for it, and discards its result. The provider
    /// removes its credentials in a separate task, so cancelling the caller doesn't stop it, and a cancelled caller
    /// doesn't wait for it. Requests are refused until it has ended.
    func reset(next: any HTTPLoader) async {
        async let below: Void = next.reset()
        state.withLock { $0.beginReset() }
        fetches.reset()
        let ended = OneShot<Void>()
        Task {
            await provider.reset()
            state.withLock { $0.endReset() }
            ended.set(())
        }
        await withTaskCancellationHandler {
            await ended.value
        } onCancel: {
            ended.set(())
        }
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
    /// Returns a credential, waiting for it if necessary. After a 401, the result is the credential that has replaced
    /// the refused one, or a new one.
    ///
    /// A credential that was obtained for other requests may be insufficient for this one. The request then waits for a
    /// further credential, a limited number of times.
    private func credential(
        _ key: Machine.Key, for request: HTTPRequest, next: any HTTPLoader, refused: (Held, HTTPResponse)? = nil
    ) async throws(CredentialRefusal) -> Held {
        if Task.isCancelled { throw .left }
        let origin = isBound ? request.origin : nil
        var (waits, isPatient) = (0, true)
        while true {
            let held = try state.withLock { state throws(CredentialRefusal) in
                try state.available(for: key, to: origin)
            }
            let freshness = held.map { provider.freshness(of: $0.credential, for: request) }
            if refused == nil, let held, freshness == .fresh, !held.isRefused { return held }
            let (answer, ticket) = enter(
                key, request, next: next, refused: refused,
                verdict: held.map { Machine.Verdict(version: $0.version, freshness: freshness ?? .expired) })
            switch answer {
            case .use(let held): return held
            case .again: continue
            case .refuse(let refusal): throw refusal
            case .wait(let number) where isOwnTask(ofFetch: number): throw .ownRequest
            case .wait, .obtain:
                guard let ticket else { continue }
                let need = request.observation?.needCredentials(isRefused: refused != nil)
                let isUsable = isPatient && refused == nil && freshness == .stale && held?.isRefused == false
                let new: Held
                do throws(CredentialRefusal) {
                    let limits = [request.timeLeft, isUsable ? Self.patience : nil].compactMap(\.self)
                    new = try await wait(for: ticket, atMost: limits.min())
                } catch {
                    guard case .late = error, isUsable, request.timeLeft.map({ $0 > .zero }) ?? true else {
                        need?.end(.credentialsFailed)
                        throw error
                    }
                    // The fetch continues. If the credential is still good, it is used now.
                    need?.end(.credentialsObtained)
                    isPatient = false
                    continue
                }
                need?.end(.credentialsObtained)
                waits += 1
                if waits > 2 || provider.freshness(of: new.credential, for: request) != .insufficient { return new }
            }
        }
    }

    /// How long a request waits for the replacement of a credential that it can still use.
    private static var patience: Duration { .seconds(5) }

    private func wait(for ticket: Fetches.Ticket, atMost limit: Duration?) async throws(CredentialRefusal) -> Held {
        switch await fetches.outcome(for: ticket, within: limit.map { max($0, .zero) }, on: clock) {
        case .value(let result): return try result.get()
        case .cancelled: throw .left
        case .late: throw .late
        case .reset: throw .reset
        }
    }

    /// Returns the next step, and joins or starts the fetch in the same critical section.
    private func enter(
        _ key: Machine.Key, _ request: HTTPRequest, next: any HTTPLoader, refused: (Held, HTTPResponse)?,
        verdict: Machine.Verdict?
    ) -> (answer: Machine.Answer, fetch: Fetches.Ticket?) {
        let now = timeline.now
        return state.withLock { state in
            request.unlessReset {
                let answer = state.enter(
                    key, refused: refused, origin: isBound ? request.origin : nil, verdict: verdict, now: now)
                switch answer {
                case .use, .again, .refuse: return (answer, nil)
                case .wait(let number): return (answer, fetches.join(number))
                case .obtain(let number, let previous):
                    let need = HTTPAuthentication.Need(
                        request: request, next: next, previous: previous?.credential,
                        isRefused: previous?.isRefused ?? false, response: previous?.refusal)
                    let ticket = fetches.join(number, isLasting: true) { [self] in
                        await fetch(number, of: key, for: need)
                    }
                    return (answer, ticket)
                }
            } ?? (.refuse(.reset), nil)
        }
    }

    private func fetch(
        _ number: Int, of key: Machine.Key, for need: HTTPAuthentication.Need<Provider.Credential>
    ) async -> Result<Held, CredentialRefusal> {
        tasks.withLock { $0[number] = Self.currentTask }
        let result: Result<Provider.Credential?, any Error>
        do {
            result = .success(try await provider.credential(for: need))
        } catch {
            result = .failure(error)
        }
        _ = tasks.withLock { $0.removeValue(forKey: number) }
        return state.withLock { $0.finish(number, for: key, with: result) }
    }

    /// Whether the calling task runs the fetch itself. Its request would wait for itself.
    private func isOwnTask(ofFetch number: Int) -> Bool {
        let task = Self.currentTask
        return task != nil && tasks.withLock { $0[number] } == task
    }

    /// Identifies the calling task as long as it runs.
    // The task may be used only inside the closure, so only a number leaves it.
    private static var currentTask: Int? { unsafe withUnsafeCurrentTask { unsafe $0?.hashValue } }
}

extension HTTPResponse {
    /// Returns the response for storing. It has at most `limit` bytes of its body, and its request has neither the body
    /// nor the load, which it would keep in memory.
    fileprivate func withoutRequestBody(upTo limit: Int) -> HTTPResponse {
        changed(self) { response in
            response.body = HTTPResponseBody(Data(body.buffered?.prefix(limit) ?? Data()))
            (response.request.body, response.request.context) = (EmptyBody(), LoadContext())
        }
    }
}
