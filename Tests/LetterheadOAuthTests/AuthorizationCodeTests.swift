// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadOAuth
import LetterheadTesting
import Synchronization
import Testing

private let page = URL(string: "https://auth.example.com/authorize?tenant=1") ?? URL(filePath: "/")
private let redirect = URL(string: "https://app.example/callback?own=1") ?? URL(filePath: "/")

/// The bytes of RFC 7636, appendix B, for every call.
private let appendixB: @Sendable (Int) -> [UInt8] = { _ in
    [
        116, 24, 223, 180, 151, 153, 224, 37, 79, 250, 96, 125, 216, 173, 187, 186, 22, 212, 37, 77, 105, 214, 191, 240,
        91, 88, 5, 88, 83, 132, 141, 121,
    ]
}
private let state = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"

/// A chain with a page that leads back to a text, with `STATE` in it replaced.
private func chain(
    over server: AuthorizationServer = AuthorizationServer(), issuer: String? = nil, callback: String,
    store: any OAuth2.TokenStore = OAuth2.MemoryTokenStore(), opened: Opened = Opened()
) -> any HTTPLoader {
    let grant = OAuth2.Grant.authorizationCode(
        endpoint: page, redirectURI: redirect, scope: ["read", "write"], issuer: issuer,
        parameters: ["prompt": "login", "state": "overridden"]
    ) { url in
        opened.urls.withLock { $0.append(url) }
        return try #require(URL(string: callback.replacing("STATE", with: state)))
    }
    return Authenticate(.testing(grant, client: OAuth2.Client(id: "a pp"), store: store, random: appendixB)) --> server
}

/// The URLs that a page was opened at.
private final class Opened: Sendable {
    let urls = Mutex<[URL]>([])
}

@Suite struct AuthorizationCodeTests {
    private let good = "https://app.example/callback?own=1&code=c0de&state=STATE"

    @Test func `the page's URL contains the request, with PKCE as in RFC 7636`() async throws {
        let opened = Opened()
        #expect(try await chain(callback: good, opened: opened).ask() == .ok)
        let url = try #require(opened.urls.withLock { $0.first })
        #expect(url.absoluteString.hasPrefix("https://auth.example.com/authorize?tenant=1&"))
        let query = HTTPRequest(url: url).query
        let expected = [
            "response_type": "code", "client_id": "a pp", "redirect_uri": "https://app.example/callback?own=1",
            "scope": "read write", "state": state, "code_challenge": "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
            "code_challenge_method": "S256", "prompt": "login",
        ]
        for (name, value) in expected { #expect(query.values(for: name) == [value]) }
    }

    @Test func `the code is exchanged once, with the verifier and the exact redirect URI`() async throws {
        let server = AuthorizationServer()
        #expect(try await chain(over: server, callback: good).ask() == .ok)
        #expect(
            server.tokenForms == [
                [
                    "grant_type": "authorization_code", "code": "c0de", "code_verifier": state, "client_id": "a pp",
                    "redirect_uri": "https://app.example/callback?own=1",
                ]
            ])
    }

    @Test(arguments: [
        "https://app.example/callback?own=1&code=c0de", "https://app.example/callback?own=1&code=c0de&state=",
        "https://app.example/callback?own=1&code=c0de&state=STATEx",
        "https://app.example/callback?own=1&code=c0de&state=STATE&state=STATE",
        "https://app.example/callback?own=1&code=c0de&code=other&state=STATE",
        "https://app.example/callback?own=1&state=STATE", "https://app.example/callback?own=1&code=&state=STATE",
        "https://app.example/callback?code=c0de&state=STATE",
        "https://app.example/callback/?own=1&code=c0de&state=STATE",
        "https://app.example:443/callback?own=1&code=c0de&state=STATE",
        "https://App.example/callback?own=1&code=c0de&state=STATE",
        "http://app.example/callback?own=1&code=c0de&state=STATE",
        "https://app.example.evil.example/callback?own=1&code=c0de&state=STATE",
        "https://app.example/callback#own=1&code=c0de&state=STATE",
        "https://app.example/callback?own=1&code=c0de&state=STATE&iss=https://evil.example",
        "https://app.example/callback?own=1&error=access_denied",
    ])
    func `a callback that differs from the request is refused, and no token is requested`(
        callback: String
    ) async {
        let server = AuthorizationServer()
        #expect(await chain(over: server, callback: callback).failing()?.reason == .malformed)
        #expect(server.tokenForms.isEmpty)
    }

    @Test func `an error in the callback is reported`() async {
        let callback = "https://app.example/callback?own=1&error=access_denied&error_description=no+way&state=STATE"
        let failure = await chain(callback: callback).failing()
        #expect(failure?.reason == .refused)
        #expect(failure?.code == "access_denied")
        #expect(failure?.detail?.reveal() == "no way")
        #expect(failure?.description.contains("access_denied") == true)
    }

    @Test(
        arguments: [
            ("https://auth.example.com", "https%3A%2F%2Fauth.example.com", true),
            ("https://auth.example.com", "https%3A%2F%2Fother.example.com", false),
            ("https://auth.example.com", nil, false), (nil, "https%3A%2F%2Fauth.example.com%2Ftenant", true),
        ] as [(String?, String?, Bool)])
    func `the issuer is checked if it is configured or sent`(issuer: String?, sent: String?, isGood: Bool) async {
        let callback = good + (sent.map { "&iss=" + $0 } ?? "")
        #expect((await chain(issuer: issuer, callback: callback).failing() == nil) == isGood)
    }

    @Test func `a canceled sign-in fails all waiting requests, and the next request shows the page again`() async throws
    {
        let calls = Atomic(0)
        let grant = OAuth2.Grant.authorizationCode(endpoint: page, redirectURI: redirect) { _ in
            guard calls.add(1, ordering: .relaxed).newValue > 1 else { throw CancellationError() }
            return try #require(URL(string: good.replacing("STATE", with: state)))
        }
        let chain = Authenticate(.testing(grant, random: appendixB)) --> AuthorizationServer()
        #expect(await chain.failing()?.reason == .refused)
        #expect(try await chain.ask() == .ok)
    }

    @Test func `after a refused refresh token the page is shown again`() async throws {
        let (server, opened) = (AuthorizationServer(), Opened())
        let chain = chain(over: server, callback: good, opened: opened)
        _ = try await chain.ask()
        server.revokeEverything()
        #expect(try await chain.ask() == .ok)
        #expect(opened.urls.withLock { $0.count } == 2)
        #expect(
            server.tokenForms.map { $0["grant_type"] } == ["authorization_code", "refresh_token", "authorization_code"])
    }

    @Test func `each sign-in has a separate state and verifier`() async throws {
        let opened = Opened()
        let grant = OAuth2.Grant.authorizationCode(endpoint: page, redirectURI: redirect) { url in
            opened.urls.withLock { $0.append(url) }
            throw CancellationError()
        }
        let chain = Authenticate(.testing(grant)) --> AuthorizationServer()
        for _ in 0..<2 { _ = await chain.failing() }
        let queries = opened.urls.withLock { $0.map { HTTPRequest(url: $0).query } }
        for name in ["state", "code_challenge"] {
            let values = queries.compactMap { $0[name] }
            #expect(Set(values).count == 2 && values.allSatisfy { $0.count == 43 })
        }
    }

    @Test(arguments: ["http://auth.example.com/authorize", "https://github.com@evil.test/authorize"])
    func `a page without TLS or with a user part is refused before it is shown`(page: String) async throws {
        let opened = Opened()
        let grant = OAuth2.Grant.authorizationCode(
            endpoint: try #require(URL(string: page)), redirectURI: redirect
        ) { url in
            opened.urls.withLock { $0.append(url) }
            return url
        }
        let failure = await (Authenticate(.testing(grant)) --> AuthorizationServer()).failing()
        #expect(failure?.reason == .misconfigured && failure?.message.contains("user part") == true)
        #expect(opened.urls.withLock { $0.isEmpty })
    }
}
