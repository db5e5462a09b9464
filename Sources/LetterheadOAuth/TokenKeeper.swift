// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation
import Synchronization

/// The tokens that sign requests, and their expiry on a timeline. A change of the device date doesn't affect the
/// timeline.
struct OAuth2Credential: Sendable {
    let tokens: OAuth2.Tokens
    /// The requested scopes. The server may have granted fewer.
    let asked: Set<String>
    /// When the access token expires, or nil if unknown.
    let end: Duration?
    /// How long before its expiry the token is refreshed.
    let margin: Duration

    /// The granted scopes: the scopes in the response, or else the requested scopes (RFC 6749, 5.1).
    var granted: Set<String> { tokens.scope ?? asked }
}

/// Loads, saves and deletes tokens, and retries a save or a deletion in which the store failed.
///
/// Calls to the store wait for each other. A reset doesn't wait for the fetch that it cancels. Without this order, the
/// fetched tokens could be saved after the reset has deleted all tokens.
final class TokenKeeper: Sendable {
    /// A save or a deletion in which the store failed, and which is retried.
    private enum Pending {
        /// The tokens must be saved: the server may have revoked the tokens that the store still contains.
        case save(OAuth2Credential)
        case deletion
        /// Deletes all tokens, even if a different process has saved newer ones since.
        case reset
    }

    private struct State {
        /// The tokens that the store contained when it was last used.
        var stored: OAuth2Credential?
        var pending: Pending?
    }

    private let store: any OAuth2.TokenStore
    private let scope: Set<String>
    private let clock: any Clock<Duration>
    private let timeline: Timeline
    let now: @Sendable () -> Date
    private let refreshAhead: Duration
    private let state = Mutex(State())
    /// Is set when the last call to the store, and all calls before it, have ended.
    private let lastCall = Mutex<OneShot<Void>?>(nil)

    init(
        store: any OAuth2.TokenStore, grant: OAuth2.Grant, clock: any Clock<Duration>,
        now: @escaping @Sendable () -> Date, refreshAhead: Duration
    ) {
        (self.store, self.clock, self.now, self.refreshAhead) = (store, clock, now, refreshAhead)
        (scope, timeline) = (grant.scope, Timeline(clock))
    }

    var instant: Duration { timeline.now }

    /// Returns the stored tokens. If this keeper has loaded or stored the same tokens before, it keeps their expiry on
    /// the timeline.
    func load() async throws(HTTPAuthentication.Failure) -> OAuth2Credential? {
        try await calling("load") {
            let loaded = try await store.load()
            let known = state.withLock { $0.stored }
            let stored = loaded.map { tokens in
                guard let known, known.tokens.accessToken == tokens.accessToken else {
                    return credential(tokens, asked: tokens.scope ?? scope)
                }
                return OAuth2Credential(tokens: tokens, asked: known.asked, end: known.end, margin: known.margin)
            }
            state.withLock { $0.stored = stored }
            return stored
        }
    }

    /// Retries the operation in which the store failed.
    ///
    /// If a different process has changed the stored tokens since, they are newer, and the operation is dropped. A reset
    /// deletes them nevertheless: after it, no process may use the old sign-in.
    func settle() async throws {
        guard state.withLock({ $0.pending != nil }) else { return }
        try await exclusively {
            let (known, pending) = self.state.withLock { ($0.stored?.tokens, $0.pending) }
            if case .reset? = pending { return try await self.delete() }
            let tokens = try await self.load()?.tokens
            guard tokens?.accessToken == known?.accessToken, tokens?.refreshToken == known?.refreshToken else {
                return try self.state.withLock { state in
                    try Task.checkCancellation()
                    state.pending = nil
                }
            }
            if case .save(let unsaved)? = pending { _ = try await self.save(unsaved) } else { try await self.delete() }
        }
    }

    /// Creates a credential from tokens that were issued at a point on the timeline, and saves it before it is used.
    ///
    /// - Parameters:
    ///   - asked: the requested scopes. They are the granted ones if the response contains none (RFC 6749, 5.1).
    ///   - earlier: the scopes that were granted before, if the tokens are refreshed. They remain if the response
    ///     contains none (RFC 6749, 6).
    ///   - old: the refresh token to keep if the response contains none.
    ///   - members: the members in the previous response. Each stays unless the new response contains it. If there are
    ///     more than 64, because a server invents new names, only the ID token stays.
    func keep(
        _ grant: TokenEndpoint.Grant, asked: Set<String>, earlier: Set<String>? = nil, refreshToken old: Secret?,
        members: [String: JSONValue], origin: HTTPOrigin?, since instant: Duration
    ) async throws(HTTPAuthentication.Failure) -> OAuth2Credential {
        let all = members.merging(grant.members) { $1 }
        let few = members.filter { $0.key == "id_token" }.merging(grant.members) { $1 }
        let left = grant.lifetime.map { $0 - (timeline.now - instant) }
        let tokens = OAuth2.Tokens(
            accessToken: grant.accessToken, refreshToken: grant.refreshToken ?? old,
            scope: grant.scope ?? earlier ?? (asked.isEmpty ? nil : asked),
            expiresAt: left.map { now().addingTimeInterval($0 / .seconds(1)) }, origin: origin,
            members: all.count > 64 ? few : all)
        return try await save(credential(tokens, asked: asked, life: grant.lifetime, since: instant))
    }

    func keep(
        _ tokens: OAuth2.Tokens, asked: Set<String>, origin: HTTPOrigin?
    ) async throws(HTTPAuthentication.Failure) -> OAuth2Credential {
        var tokens = tokens
        tokens.origin = origin
        return try await save(credential(tokens, asked: asked))
    }

    /// Runs a closure that loads and renews tokens, while no other process does so. The closure must not call this
    /// method.
    func exclusively<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
        let result: Result<Value, any Error>
        do {
            result = try await store.withLock {
                do { return .success(try await body()) } catch { return .failure(error) }
            }
        } catch {
            throw error as? HTTPAuthentication.Failure ?? Self.failure("lock", error)
        }
        return try result.get()
    }

    /// Deletes the tokens. If the store fails, ``settle()`` retries the deletion.
    ///
    /// If a different process is renewing the tokens, the deletion waits until the new tokens are saved. It waits at
    /// most two seconds, because a lock must not keep a person signed in.
    func reset() async {
        let deletion = Task { try await exclusively { try await self.delete(isReset: true) } }
        let limit = Task { [clock] in
            try await clock.sleep(for: .seconds(2))
            deletion.cancel()
        }
        let result = await deletion.result
        limit.cancel()
        if case .failure = result { try? await delete(isReset: true) }
    }

    /// Deletes the tokens, unless a reset has cancelled the fetch that asks for the deletion. The tokens in the store
    /// may then already belong to the next user.
    func delete(isReset: Bool = false) async throws(HTTPAuthentication.Failure) {
        try await calling("delete") {
            try state.withLock { state in
                if !isReset { try Task.checkCancellation() }
                state.pending = isReset ? .reset : state.pending ?? .deletion
            }
            try await store.delete()
            state.withLock { $0 = State() }
        }
    }

    func freshness(of credential: OAuth2Credential) -> HTTPAuthentication.Freshness {
        guard let end = credential.end else { return .fresh }
        let left = end - timeline.now
        return left <= .zero ? .expired : left <= credential.margin ? .stale : .fresh
    }

    private func save(_ credential: OAuth2Credential) async throws(HTTPAuthentication.Failure) -> OAuth2Credential {
        try await calling("save") {
            // Only a reset cancels a fetch. It does so before it deletes the tokens.
            try state.withLock { state in
                try Task.checkCancellation()
                state.pending = .save(credential)
            }
            try await store.save(credential.tokens)
            state.withLock { $0 = State(stored: credential) }
            guard Task.isCancelled else { return }
            try await store.delete()
            throw CancellationError()
        }
        return credential
    }

    /// Calls the store after the call in progress has ended, even in a cancelled task.
    private func calling<Value>(
        _ verb: String, _ call: () async throws -> Value
    ) async throws(HTTPAuthentication.Failure) -> Value {
        let end = OneShot<Void>()
        let earlier = lastCall.withLock { exchange(&$0, with: end) }
        await earlier?.value
        defer { end.set(()) }
        do { return try await call() } catch { throw Self.failure(verb, error) }
    }

    /// Creates a credential from tokens for which only an expiry date is known.
    private func credential(_ tokens: OAuth2.Tokens, asked: Set<String>) -> OAuth2Credential {
        let life = tokens.expiresAt.map { Duration(limiting: $0.timeIntervalSince(now())) }
        return credential(tokens, asked: asked, life: life, since: instant)
    }

    private func credential(
        _ tokens: OAuth2.Tokens, asked: Set<String>, life: Duration?, since instant: Duration
    ) -> OAuth2Credential {
        OAuth2Credential(
            tokens: tokens, asked: asked, end: life.map { instant + $0 },
            margin: min(refreshAhead, (life ?? .zero) / 2))
    }

    private static func failure(_ verb: String, _ error: any Error) -> HTTPAuthentication.Failure {
        // Errors from built-in stores contain no secrets. Errors from other stores may, so they are only attached as
        // the underlying error.
        let reason = (error as? HTTPAuthentication.Failure).map { ": \($0.message)" } ?? ""
        return HTTPAuthentication.Failure(
            .store, "the token store could not \(verb) the tokens\(reason)", underlying: error)
    }
}
