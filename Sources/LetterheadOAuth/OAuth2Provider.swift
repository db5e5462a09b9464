// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation
import Synchronization

final class OAuth2Provider: CredentialProvider {
    private let endpoint: TokenEndpoint
    private let grant: OAuth2.Grant
    private let keeper: TokenKeeper
    private let random: @Sendable (Int) -> [UInt8]
    /// Whether the tokens may be sent only to the origin that they were obtained for.
    private let isBound: Bool
    /// The refresh token that the caller passed in the grant. Nil after the server has refused a refresh token, and
    /// after a reset.
    private let given: Mutex<Secret?>

    init(
        endpoint: TokenEndpoint, grant: OAuth2.Grant, keeper: TokenKeeper, random: @escaping @Sendable (Int) -> [UInt8]
    ) {
        isBound = endpoint.origins == nil
        (self.endpoint, self.grant, self.keeper, self.random) = (endpoint, grant, keeper, random)
        given = Mutex(grant.givenToken)
    }

    func credential(for need: HTTPAuthentication.Need<OAuth2Credential>) async throws -> OAuth2Credential? {
        try await keeper.settle()
        let kept = try await stored(for: need)
        if let kept, isGood(kept, for: need) { return kept }
        do {
            return try await renewed(kept, for: need)
        } catch let failure as HTTPAuthentication.Failure where failure.reason != .store && failure.reason != .loggedOut
        {
            // A token that is refreshed ahead of its expiry can still be used if the refresh fails.
            guard !need.isRefused, let kept, freshness(of: kept, for: need.request) == .stale else { throw failure }
            return kept
        }
    }

    func sign(_ request: inout HTTPRequest, with credential: OAuth2Credential) throws {
        guard request.requiredScopes.isSubset(of: credential.granted) else {
            throw HTTPAuthentication.Failure(
                .refused, "the authorization server did not grant every scope that the request requires")
        }
        guard let value = credential.tokens.accessToken.value(of: endpoint.type) else {
            throw HTTPError(
                .invalidRequest, request: request,
                message: "the bearer token is empty or contains characters other than visible ASCII")
        }
        request.headers.setSecret(value, for: .authorization)
    }

    func freshness(of credential: OAuth2Credential, for request: HTTPRequest) -> HTTPAuthentication.Freshness {
        var freshness = keeper.freshness(of: credential)
        // No person is asked to sign in before the token has expired.
        if freshness == .stale, !renewsSilently(credential) { freshness = .fresh }
        let required = request.requiredScopes
        guard freshness != .expired, !required.isSubset(of: credential.granted) else { return freshness }
        // If a scope was requested before and the server didn't grant it, it is not requested again.
        return required.isSubset(of: credential.asked) ? freshness : .insufficient
    }

    func reset() async {
        given.withLock { $0 = nil }
        await keeper.reset()
    }

    /// Returns the stored tokens, which may come from an earlier program launch. Throws if they belong to a different
    /// origin.
    private func stored(
        for need: HTTPAuthentication.Need<OAuth2Credential>
    ) async throws(HTTPAuthentication.Failure) -> OAuth2Credential? {
        let kept = try await keeper.load()
        guard let origin = origin(of: need), let owner = kept?.tokens.origin, owner != origin else { return kept }
        throw HTTPAuthentication.Failure(
            .misconfigured,
            "the stored tokens were obtained for \(owner), and the request goes to \(origin) "
                + "(list both in allowedOrigins, or reset the client to obtain new tokens)")
    }

    private func origin(of need: HTTPAuthentication.Need<OAuth2Credential>) -> HTTPOrigin? {
        isBound ? need.request.origin : nil
    }

    private func isGood(_ kept: OAuth2Credential, for need: HTTPAuthentication.Need<OAuth2Credential>) -> Bool {
        if need.isRefused, need.previous?.tokens.accessToken == kept.tokens.accessToken { return false }
        return freshness(of: kept, for: need.request) == .fresh
    }
}

extension OAuth2Provider {
    private func renewsSilently(_ credential: OAuth2Credential) -> Bool {
        if case .clientCredentials = grant.kind { return true }
        return credential.tokens.refreshToken != nil
    }

    /// Refreshes the tokens if there is a refresh token, or else uses the grant.
    private func renewed(
        _ kept: OAuth2Credential?, for need: HTTPAuthentication.Need<OAuth2Credential>
    ) async throws -> OAuth2Credential {
        let scope = need.request.requiredScopes.union(kept?.granted ?? grant.scope)
        let isWider = kept.map { !need.request.requiredScopes.isSubset(of: $0.granted) } ?? false
        do {
            if !isWider, kept?.tokens.refreshToken ?? given.withLock({ $0 }) != nil,
                let renewed = try await keeper.exclusively({ try await self.refreshed(for: need) })
            {
                return renewed
            }
        } catch let failure as HTTPAuthentication.Failure where failure.endsSession {
            return try await grantedAnew(scope, for: need, after: failure)
        }
        return try await granted(scope, for: need, isSignedIn: isWider)
    }

    /// Refreshes the tokens, or returns nil if there is no refresh token.
    ///
    /// If a different process has renewed the tokens in the meantime, its tokens are used and no request is sent. That
    /// can happen while this process waits for the lock, or at any time if the store has no lock. Stored tokens are
    /// deleted only if the server has refused exactly these tokens.
    private func refreshed(for need: HTTPAuthentication.Need<OAuth2Credential>) async throws -> OAuth2Credential? {
        let kept = try await stored(for: need)
        if let kept, isGood(kept, for: need) { return kept }
        guard let token = kept?.tokens.refreshToken ?? given.withLock({ $0 }) else { return nil }
        do {
            return try await refreshed(token, kept: kept, for: need)
        } catch let failure as HTTPAuthentication.Failure where failure.endsSession {
            given.withLock { $0 = nil }
            let newer = try await stored(for: need)
            if let newer, newer.tokens != kept?.tokens, isGood(newer, for: need) { return newer }
            if newer?.tokens == kept?.tokens { try await keeper.delete() }
            throw failure
        }
    }

    /// Refreshes the tokens (RFC 6749, 6). If the response contains no refresh token, the previous one is kept.
    private func refreshed(
        _ token: Secret, kept: OAuth2Credential?, for need: HTTPAuthentication.Need<OAuth2Credential>
    ) async throws -> OAuth2Credential {
        let form = [("grant_type", "refresh_token"), ("refresh_token", token.reveal())]
        return try await exchange(
            form, asked: kept?.asked ?? grant.scope, earlier: kept?.tokens.scope, refreshToken: token,
            members: kept?.tokens.members ?? [:], for: need)
    }

    private func grantedAnew(
        _ scope: Set<String>, for need: HTTPAuthentication.Need<OAuth2Credential>,
        after failure: HTTPAuthentication.Failure
    ) async throws -> OAuth2Credential {
        do {
            return try await granted(scope, for: need)
        } catch let second as HTTPAuthentication.Failure {
            var message = "logged out: \(failure.message)"
            if second.reason != .loggedOut { message += ", and signing in again failed: \(second.message)" }
            throw HTTPAuthentication.Failure(
                .loggedOut, message, code: failure.code, status: failure.status, detail: failure.detail,
                underlying: second)
        }
    }

    private func granted(
        _ scope: Set<String>, for need: HTTPAuthentication.Need<OAuth2Credential>, isSignedIn: Bool = false
    ) async throws -> OAuth2Credential {
        guard scope.allSatisfy(Self.isScope) else {
            throw HTTPAuthentication.Failure(
                .misconfigured, "a scope is empty or contains a character that RFC 6749, 3.3 does not allow")
        }
        let text = scope.isEmpty ? [] : [("scope", scope.sorted().joined(separator: " "))]
        switch grant.kind {
        case .clientCredentials:
            let form = [("grant_type", "client_credentials")] + text
            return try await exchange(form, asked: scope, for: need)
        case .authorizationCode(let page):
            let form = try await page.form(client: endpoint.client, scope: scope, random: random)
            return try await exchange(form, asked: scope, for: need)
        case .custom(let obtain):
            let tokens = try await obtain(
                OAuth2.Exchange(
                    endpoint: endpoint, scope: scope, next: need.next, now: keeper.now, random: random))
            try Task.checkCancellation()
            return try await keeper.keep(tokens, asked: scope, origin: origin(of: need))
        case .refreshToken:
            throw isSignedIn
                ? HTTPAuthentication.Failure(
                    .refused, "the tokens lack a scope that the request requires (sign in with that scope)")
                : HTTPAuthentication.Failure(.loggedOut, "logged out: there is no refresh token, so sign in again")
        }
    }

    private func exchange(
        _ form: [(String, String)], asked: Set<String>, earlier: Set<String>? = nil, refreshToken: Secret? = nil,
        members: [String: JSONValue] = [:], for need: HTTPAuthentication.Need<OAuth2Credential>
    ) async throws -> OAuth2Credential {
        // The lifetime is counted from the moment before the request, so that it is never overestimated.
        let instant = keeper.instant
        let answer = try await endpoint.tokens(form, over: need.next)
        try Task.checkCancellation()
        return try await keeper.keep(
            answer, asked: asked, earlier: earlier, refreshToken: refreshToken, members: members,
            origin: origin(of: need), since: instant)
    }

    private static func isScope(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0 == 0x21 || (0x23...0x5B).contains($0) || (0x5D...0x7E).contains($0) }
    }
}
