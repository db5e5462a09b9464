import Foundation
import Synchronization

/// The tokens that sign requests, with their end on a timeline that no change of the date moves.
struct OAuth2Credential: Sendable {
    let tokens: OAuth2.Tokens
    /// What was asked for when they were got; the server may have given less.
    let asked: Set<String>
    /// When it runs out; nil when nobody said.
    let end: Duration?
    /// How long before its end it is replaced.
    let margin: Duration

    /// What they allow: what the server said, else what was asked for (RFC 6749, 5.1).
    var granted: Set<String> { tokens.scope ?? asked }
}

/// Loads, saves and deletes tokens, and leaves nothing half done.
///
/// A class, because it remembers what a store has not done yet.
final class TokenKeeper: Sendable {
    private struct Pending {
        /// Tokens that a store could not save: the server has taken back what it holds instead.
        var save: OAuth2Credential?
        var delete = false
    }

    private let store: any OAuth2.TokenStore
    private let scope: Set<String>
    private let timeline: Timeline
    private let now: @Sendable () -> Date
    private let refreshAhead: Duration
    private let pending = Mutex(Pending())

    init(
        store: any OAuth2.TokenStore, grant: OAuth2.Grant, timeline: Timeline, now: @escaping @Sendable () -> Date,
        refreshAhead: Duration
    ) {
        self.store = store
        scope = grant.scope
        self.timeline = timeline
        self.now = now
        self.refreshAhead = refreshAhead
    }

    /// The present on the timeline, from which the life of a token is counted.
    var instant: Duration { timeline.now }

    /// What is kept; the previous credential keeps its end on the timeline when it is the same.
    func load(previous: OAuth2Credential?) async throws(OAuth2.Failure) -> OAuth2Credential? {
        let (unsaved, mustDelete) = pending.withLock { ($0.save, $0.delete) }
        if mustDelete { try await delete() }
        if let unsaved { return try await save(unsaved) }
        let loaded: OAuth2.Tokens?
        do { loaded = try await store.load() } catch { throw Self.failure("loaded", error) }
        guard let tokens = loaded else { return nil }
        if let previous, previous.tokens.accessToken == tokens.accessToken {
            return OAuth2Credential(tokens: tokens, asked: previous.asked, end: previous.end, margin: previous.margin)
        }
        let life = tokens.expiresAt.map { Duration.seconds(max($0.timeIntervalSince(now()), 0)) }
        return credential(tokens, asked: tokens.scope ?? scope, life: life, since: instant)
    }

    /// Makes a credential of what the server gave at an instant, and saves it before anybody gets it.
    func keep(
        _ grant: TokenEndpoint.Grant, asked: Set<String>, refreshToken old: Secret?, origin: HTTPOrigin?,
        since instant: Duration
    ) async throws(OAuth2.Failure) -> OAuth2Credential {
        let tokens = OAuth2.Tokens(
            accessToken: grant.accessToken, refreshToken: grant.refreshToken ?? old, scope: grant.scope,
            expiresAt: grant.lifetime.map { now().addingTimeInterval($0 / .seconds(1)) }, origin: origin)
        return try await save(credential(tokens, asked: asked, life: grant.lifetime, since: instant))
    }

    /// Deletes what is kept; when that fails, it is done before anything else is.
    func delete() async throws(OAuth2.Failure) {
        pending.withLock { $0 = Pending(delete: true) }
        do { try await store.delete() } catch { throw Self.failure("deleted", error) }
        pending.withLock { $0.delete = false }
    }

    /// What a credential is still good for.
    func freshness(of credential: OAuth2Credential) -> CredentialFreshness {
        guard let end = credential.end else { return .fresh }
        let left = end - timeline.now
        return left <= .zero ? .expired : left <= credential.margin ? .stale : .fresh
    }

    private func save(_ credential: OAuth2Credential) async throws(OAuth2.Failure) -> OAuth2Credential {
        pending.withLock { $0.save = credential }
        do { try await store.save(credential.tokens) } catch { throw Self.failure("saved", error) }
        pending.withLock { $0.save = nil }
        return credential
    }

    private func credential(
        _ tokens: OAuth2.Tokens, asked: Set<String>, life: Duration?, since instant: Duration
    ) -> OAuth2Credential {
        OAuth2Credential(
            tokens: tokens, asked: asked, end: life.map { instant + $0 },
            margin: min(refreshAhead, (life ?? .zero) / 2))
    }

    private static func failure(_ verb: String, _ error: any Error) -> OAuth2.Failure {
        // The library's own stores say no secret; what another says is for who looks underneath.
        let reason = (error as? OAuth2.Failure).map { ": \($0.message)" } ?? ""
        return OAuth2.Failure(.store, "the tokens could not be \(verb) by their store\(reason)", underlying: error)
    }
}
