// SPDX-License-Identifier: MIT
public import Letterhead
public import LetterheadFoundation
import Synchronization

/// The types for OAuth 2 (RFC 6749): clients, servers, sessions, grants, tokens and their stores.
///
/// Start with ``Session``, or with `HTTPAuthentication.oauth2()` if you know the token endpoint.
public enum OAuth2 {}

extension OAuth2 {
    /// The app, as registered with the authorization server.
    public struct Client: Sendable, Hashable {
        /// Determines where a client sends its secret (RFC 6749, 2.3.1).
        public enum Authentication: Sendable, Hashable {
            /// In the `Authorization` header, which every server must support.
            case basic
            /// In the form body, for servers that do not support the header.
            case form
        }

        /// The client identifier that the server has assigned. It isn't secret.
        public var id: String
        /// The client secret. Nil for an app that can't keep a secret, such as an app that people install on their
        /// devices.
        public var secret: Secret?
        /// Where the secret is sent. It has no effect without a secret. Default: ``Authentication/basic``.
        public var authentication: Authentication

        /// Creates a client with the values from its registration.
        public init(id: String, secret: Secret? = nil, authentication: Authentication = .basic) {
            (self.id, self.secret, self.authentication) = (id, secret, authentication)
        }
    }
}

extension OAuth2 {
    /// The tokens that an authorization server issued (RFC 6749, 5.1).
    public struct Tokens: Sendable, Hashable {
        /// The token that requests are signed with.
        public var accessToken: Secret
        /// Obtains the next access token. Nil if the server issued no refresh token.
        public var refreshToken: Secret?
        /// The scopes that the server has granted, or nil if neither it nor the request has named them. A server may name
        /// none if it grants the requested ones (RFC 6749, 5.1), which are then these.
        public var scope: Set<String>?
        /// When the access token expires by the device clock, or nil if the server hasn't told.
        public var expiresAt: Date?
        /// The origin that the tokens were obtained for, and the only origin that they are sent to, unless the
        /// authentication lists its `allowedOrigins`. Nil if it listed them when the tokens were obtained.
        public var origin: HTTPOrigin?
        /// The other members in the token response, such as `id_token`. They may be secret.
        ///
        /// If the response to a refresh lacks a member, the member from the previous response is kept. If there would
        /// be more than 64 members, only a previous `id_token` is kept.
        public var members: [String: JSONValue]

        /// The ID token (OpenID Connect Core, 2), which describes the person who has signed in. Its signature isn't
        /// checked.
        ///
        /// Nil if the server issued none. Servers issue it only if the scope `openid` was requested.
        public var idToken: Secret? { members["id_token"]?.string.map { Secret($0) } }

        /// Creates tokens, for example in a custom ``TokenStore`` or a custom grant.
        public init(
            accessToken: Secret, refreshToken: Secret? = nil, scope: Set<String>? = nil, expiresAt: Date? = nil,
            origin: HTTPOrigin? = nil, members: [String: JSONValue] = [:]
        ) {
            (self.accessToken, self.refreshToken, self.scope) = (accessToken, refreshToken, scope)
            (self.expiresAt, self.origin, self.members) = (expiresAt, origin, members)
        }
    }
}

extension OAuth2.Tokens: CustomStringConvertible, CustomReflectable {
    /// The scopes and the expiry, without the tokens, so that it can be printed and logged.
    public var description: String {
        let end = expiresAt.map { ", until \($0.ISO8601Format())" } ?? ""
        return "tokens for \(scope.map { $0.sorted().joined(separator: " ") } ?? "an unknown scope")\(end)"
    }

    /// A mirror with only the description, so that `dump` prints no tokens.
    public var customMirror: Mirror { Mirror(self, unlabeledChildren: [description]) }
}

extension OAuth2 {
    /// Stores tokens across launches of the app. Use ``FileTokenStore`` or ``MemoryTokenStore``, or implement the
    /// protocol for the system keychain.
    ///
    /// Laws:
    ///
    /// - Tokens are saved completely or not at all, even if the app exits during the save.
    /// - After a deletion, `load()` returns nil.
    /// - While one closure passed to `withLock` runs, no other closure runs. If a process ends, its lock is released.
    /// - Errors contain no secrets.
    ///
    /// One `HTTPAuthentication` never overlaps its calls to `load`, `save` and `delete`. A reset cancels the task that
    /// runs a call, waits for that call to end, and then deletes the tokens.
    public protocol TokenStore: Sendable {
        /// Returns the stored tokens, or nil if there are none.
        func load() async throws -> Tokens?

        /// Replaces the previous tokens. The new tokens are used only after this call has returned.
        func save(_ tokens: Tokens) async throws

        /// Deletes the tokens. If there are none, it does nothing.
        func delete() async throws

        /// Runs a closure that loads the tokens and then renews or deletes them, while no other process does.
        ///
        /// Implement it if several processes share the store. Most servers accept a refresh token once. Without a lock,
        /// two processes could send the same token, and the server would sign both out.
        ///
        /// Wait for the lock without blocking the thread, and throw if the task is cancelled meanwhile. By default, the
        /// closure runs at once. This is enough for a store that only one `HTTPAuthentication` uses.
        func withLock<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value
    }
}

extension OAuth2.TokenStore {
    /// Runs the closure at once, without a lock.
    public func withLock<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
        try await body()
    }
}

/// Tries to take a lock until its holder releases it, without blocking a thread.
///
/// A holder keeps the lock for one token request. This takes at most half a minute, because a `Throttle` doesn't delay
/// token requests.
private func waiting<Lock>(on clock: any Clock<Duration>, _ take: () throws -> Lock?) async throws -> Lock {
    for _ in 0..<3_000 {
        if let lock = try take() { return lock }
        try await clock.sleep(for: .milliseconds(20))
    }
    throw HTTPAuthentication.Failure(
        .unavailable, "the tokens could not be renewed, because their lock was not released within a minute")
}

extension OAuth2 {
    /// Keeps tokens in memory, until the app exits. All users of one store see the same tokens.
    public final class MemoryTokenStore: TokenStore {
        private let tokens: Mutex<Tokens?>
        private let isLocked = Atomic(false)

        /// Creates a store, with the tokens from an earlier sign-in if you have them.
        public init(_ tokens: Tokens? = nil) { self.tokens = Mutex(tokens) }

        public func load() async -> Tokens? { tokens.withLock { $0 } }

        public func save(_ tokens: Tokens) async { self.tokens.withLock { $0 = tokens } }

        public func delete() async { tokens.withLock { $0 = nil } }

        /// Runs the closure while no other task with this store does.
        public func withLock<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
            try await waiting(on: ContinuousClock()) { isLocked.exchange(true, ordering: .acquiring) ? nil : () }
            defer { isLocked.store(false, ordering: .releasing) }
            return try await body()
        }
    }
}

extension OAuth2 {
    /// Determines how the first tokens are obtained from a token endpoint.
    public struct Grant: Sendable {
        enum Kind: Sendable {
            case clientCredentials
            case authorizationCode(AuthorizationPage)
            case refreshToken(Secret?)
            case custom(@Sendable (Exchange) async throws -> Tokens)
        }

        let kind: Kind
        let scope: Set<String>

        var givenToken: Secret? { if case .refreshToken(let token) = kind { token } else { nil } }

        /// The app signs in as itself, not for a person (RFC 6749, 4.4). If you pass no scopes, the server chooses
        /// them.
        public static func clientCredentials(scope: Set<String> = []) -> Grant {
            Grant(kind: .clientCredentials, scope: scope)
        }

        /// A person signs in on the server page (the authorization code grant, RFC 6749, 4.1, with PKCE S256, RFC
        /// 7636).
        ///
        /// ```swift
        /// .authorizationCode(endpoint: page, redirectURI: callback) { url in try await browser.open(url) }
        /// ```
        ///
        /// - Parameters:
        ///   - endpoint: the page URL. It must use https, unless its host is this machine.
        ///   - redirectURI: the URL that the server redirects to, exactly as registered.
        ///   - scope: the scopes to request. If it is empty, the server chooses.
        ///   - issuer: the issuer identifier of the server (RFC 9207). If you pass it, each callback must contain it.
        ///     If you don't, an issuer in a callback must be at the origin of the page.
        ///   - parameters: additional parameters for the page, such as `prompt`. They can't replace protocol
        ///     parameters.
        ///   - open: shows the page at a URL, and returns the URL that the server redirected to. It is called once for
        ///     all concurrent requests, and only a reset cancels its task.
        public static func authorizationCode(
            endpoint: URL, redirectURI: URL, scope: Set<String> = [], issuer: String? = nil,
            parameters: [String: String] = [:], open: @escaping @Sendable (URL) async throws -> URL
        ) -> Grant {
            let page = AuthorizationPage(
                endpoint: endpoint, redirectURI: redirectURI, issuer: issuer, parameters: parameters, open: open)
            return Grant(kind: .authorizationCode(page), scope: scope)
        }

        /// Obtains tokens with a refresh token from an earlier sign-in.
        ///
        /// If the store already has a refresh token, the stored one is used, because the server may have replaced the
        /// one that you pass. After a reset, or after the server has refused a refresh token, the token that you pass
        /// is no longer used.
        public static func refreshToken(_ token: Secret) -> Grant { Grant(kind: .refreshToken(token), scope: []) }

        /// Uses only the tokens in the store. If it has no usable token, requests fail with `.cannotAuthenticate` and
        /// the reason `.loggedOut`.
        public static let storedTokens = Grant(kind: .refreshToken(nil), scope: [])
    }
}

extension HTTPAuthentication {
    /// Signs requests with tokens from an authorization server. The first request obtains them.
    ///
    /// ```swift
    /// let oauth = HTTPAuthentication.oauth2(
    ///     client: OAuth2.Client(id: "app", secret: secret), tokenEndpoint: endpoint,
    ///     grant: .clientCredentials(scope: ["read"]), allowedOrigins: [api])
    /// let client = HTTPClient(environment: .production, authentication: oauth)
    /// ```
    ///
    /// Use it if you know the token endpoint. If you know an issuer or only the API, discover the server and create an
    /// ``OAuth2/Session``.
    ///
    /// - Concurrent requests share a single token fetch. If it fails, they all fail with the same error.
    /// - A token is refreshed before it expires and after a 401.
    /// - Token requests pass through the links below the authentication, such as a logger.
    /// - If the server no longer accepts a refresh token, all stored tokens are deleted and the grant is used again. If
    ///   the grant fails as well, the error has the reason `.loggedOut`.
    /// - If the server fails only temporarily, the tokens are kept.
    /// - Resetting the client deletes the tokens.
    ///
    /// - Parameters:
    ///   - client: the app, as registered with the server.
    ///   - tokenEndpoint: the URL that issues tokens. It must use https, be on this machine, or be listed in
    ///     `allowedOrigins` with http.
    ///   - grant: obtains the first tokens.
    ///   - store: keeps the tokens. Default: in memory, until the app exits.
    ///   - allowedOrigins: where the tokens may be sent (see `HTTPAuthentication`).
    ///   - parameters: additional parameters for the token endpoint, such as `audience`. They can't replace protocol
    ///     parameters.
    ///   - dpop: adds key proofs (RFC 9449) to the requests for tokens and to the requests that they sign: `DPoP` of
    ///     `LetterheadSigning`. The server must then issue tokens of the type DPoP. Default: nil (bearer tokens).
    ///   - refreshAhead: how long before its expiry a token is refreshed, at most half its lifetime. Default: a minute.
    ///   - limit: the maximum number of calls to the token endpoint in a window.
    ///   - window: the period for counting calls.
    ///   - clock: measures lifetimes and windows, so that changing the device date has no effect.
    ///   - now: returns the current date. It's needed for the expiry dates of stored tokens.
    ///   - random: returns the given number of unpredictable bytes.
    public static func oauth2(
        client: OAuth2.Client, tokenEndpoint: URL, grant: OAuth2.Grant,
        store: any OAuth2.TokenStore = OAuth2.MemoryTokenStore(), allowedOrigins: [URL]? = nil,
        parameters: [String: String] = [:], dpop: (any LoaderLink)? = nil, refreshAhead: Duration = .seconds(60),
        limit: Int = 10, per window: Duration = .seconds(60), clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Date = { Date() }, random: (@Sendable (Int) -> [UInt8])? = nil
    ) -> HTTPAuthentication {
        let endpoint = TokenEndpoint(
            url: tokenEndpoint, client: client, origins: allowedOrigins, parameters: parameters,
            type: dpop == nil ? "Bearer" : "DPoP")
        let keeper = TokenKeeper(
            store: store, grant: grant, clock: clock, now: now, refreshAhead: refreshAhead)
        let provider = OAuth2Provider(
            endpoint: endpoint, grant: grant, keeper: keeper, random: random ?? RandomBytes.system)
        let tokens = shared(
            provider, name: "OAuth 2", header: .authorization, allowedOrigins: allowedOrigins, limit: limit,
            per: window, clock: clock)
        guard let dpop else { return tokens }
        return .method(
            "OAuth 2", header: .authorization, allowedOrigins: allowedOrigins,
            link: ProvenTokens(tokens: tokens, proof: dpop))
    }
}

extension OAuth2 {
    /// Keeps tokens in a file that only its owner can read.
    ///
    /// - Several processes can use one file. They renew the tokens one after the other, and each process finds the
    ///   tokens that an earlier one has saved. For the lock, the store creates an empty file beside the tokens, such as
    ///   `tokens.json.lock`, and never deletes it. If a process crashes, the system releases the lock.
    /// - The file is replaced atomically and written to disk before the tokens are used. A crash leaves either the
    ///   previous or the new tokens.
    /// - The store refuses a file that other users can write, because it could contain the tokens of a different user.
    /// - The file contains JSON and is not encrypted. If the system has a keychain, implement a ``TokenStore`` for it.
    public struct FileTokenStore: TokenStore {
        private let url: URL
        private let clock: any Clock<Duration>

        /// Creates a store for a file. The directory is created when tokens are saved or renewed.
        ///
        /// - Parameters:
        ///   - url: the file, such as `~/.config/app/tokens.json`.
        ///   - clock: measures waits for the lock, which last at most a minute.
        public init(_ url: URL, clock: any Clock<Duration> = ContinuousClock()) {
            (self.url, self.clock) = (url, clock)
        }

        /// Reads the tokens from the file. Returns nil if the file doesn't exist.
        ///
        /// - Throws: `HTTPAuthentication.Failure` if the file can't be read, is malformed, is larger than 1 MiB, is
        ///   writable by its group or by everyone, or belongs neither to the current user nor to root.
        public func load() async throws -> Tokens? {
            let data = try Self.naming { () throws(PrivateFile.Failure) in try PrivateFile.read(url, upTo: 1 << 20) }
            guard let data else { return nil }
            guard let document = try? JSONDecoder().decode(Document.self, from: data) else {
                throw HTTPAuthentication.Failure(.store, "the token file is malformed (reset the client to delete it)")
            }
            return document.tokens
        }

        /// Replaces the file, and returns when the new file is on the disk.
        ///
        /// - Throws: `HTTPAuthentication.Failure` if the file can't be written. The previous file is then unchanged.
        public func save(_ tokens: Tokens) async throws {
            createDirectory()
            let data = try JSONEncoder().encode(Document(tokens))
            try Self.naming { () throws(PrivateFile.Failure) in try PrivateFile(replacing: url).write(data) }
        }

        /// Runs the closure while no other task and no other process with this file does.
        ///
        /// - Throws: `HTTPAuthentication.Failure` if the lock file can't be opened, or is held for a minute.
        public func withLock<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
            createDirectory()
            let lock = try await waiting(on: clock) {
                try Self.naming("the lock file of the tokens") { () throws(PrivateFile.Failure) in
                    try PrivateFile.lock(url.appendingPathExtension("lock"))
                }
            }
            defer { PrivateFile.unlock(lock) }
            return try await body()
        }

        private func createDirectory() {
            try? FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        }

        private static func naming<Value>(
            _ name: String = "the token file", _ use: () throws(PrivateFile.Failure) -> Value
        ) throws(HTTPAuthentication.Failure) -> Value {
            do throws(PrivateFile.Failure) {
                return try use()
            } catch {
                let rule =
                    switch error {
                    case .unwritable: "cannot be written"
                    case .unreadable: "cannot be read"
                    case .tooLarge: "is larger than 1 MiB (reset the client to delete it)"
                    case .foreign: "belongs to another user (reset the client to delete it)"
                    case .shared:
                        "can be written by other users (set its permissions to 0600, or reset the client to delete it)"
                    case .kind(let kind): "is \(kind)"
                    }
                throw HTTPAuthentication.Failure(.store, "\(name) \(rule)")
            }
        }

        /// Deletes the file, even if its content is malformed. A missing file isn't an error.
        ///
        /// - Throws: `HTTPAuthentication.Failure` if the file can't be deleted.
        public func delete() async throws {
            try Self.naming { () throws(PrivateFile.Failure) in try PrivateFile.remove(url) }
        }
    }
}

/// The token file. It is the only place where tokens are written in plain text.
private struct Document: Codable {
    var access_token: String
    var refresh_token: String?
    var scope: [String]?
    /// In seconds since 1970.
    var expires_at: Double?
    var origin: String?
    var members: [String: JSONValue]?

    init(_ tokens: OAuth2.Tokens) {
        access_token = tokens.accessToken.reveal()
        refresh_token = tokens.refreshToken?.reveal()
        scope = tokens.scope?.sorted()
        expires_at = tokens.expiresAt?.timeIntervalSince1970
        origin = tokens.origin?.description
        members = tokens.members.isEmpty ? nil : tokens.members
    }

    var tokens: OAuth2.Tokens {
        OAuth2.Tokens(
            accessToken: Secret(access_token), refreshToken: refresh_token.map { Secret($0) },
            scope: scope.map { Set($0) }, expiresAt: expires_at.map { Date(timeIntervalSince1970: $0) },
            origin: origin.flatMap { try? HTTPRequest($0).origin },
            members: members ?? [:])
    }
}
