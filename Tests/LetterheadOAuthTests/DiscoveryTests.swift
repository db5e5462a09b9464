// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadOAuth
import LetterheadTesting
import Synchronization
import TestKit
import Testing

private let issuer = "https://auth.example.com/t/1"
private let places = [
    "https://auth.example.com/.well-known/oauth-authorization-server/t/1",
    "https://auth.example.com/.well-known/openid-configuration/t/1",
    "https://auth.example.com/t/1/.well-known/openid-configuration",
]
private let document =
    #"{"issuer":"https://auth.example.com/t/1","token_endpoint":"https://auth.example.com/token","#
    + #""authorization_endpoint":"https://auth.example.com/authorize","#
    + #""device_authorization_endpoint":"https://auth.example.com/device","#
    + #""revocation_endpoint":"https://auth.example.com/revoke","registration_endpoint":"https://auth.example.com/new","#
    + #""authorization_response_iss_parameter_supported":true}"#

private let api = "https://api.example.com/mcp"
private let link = "https://api.example.com/meta"
private let wellKnown = "https://api.example.com/.well-known/oauth-protected-resource"
private let resource =
    #"{"resource":"https://api.example.com/mcp","scopes_supported":["read","write"],"#
    + #""authorization_servers":["https://auth.example.com/t/1"]}"#

/// The answer of an API that tells where its metadata is.
private func challenge(_ parameters: String) -> Scene.Answer {
    Scene.Answer(
        status: .unauthorized, headers: [.wwwAuthenticate: "Basic realm=\"x\", Bearer error=\"e\"\(parameters)"])
}

@Suite(.timeLimit(.minutes(1))) struct IssuerDiscoveryTests {
    @Test(arguments: places.indices)
    func `the metadata of an issuer with a path is searched at each place, in order`(place: Int) async throws {
        let scene = Scene([places[place]: [.json(document)]])
        let server = try await OAuth2.discovered(issuer: issuer, over: scene)
        #expect(scene.urls == Array(places[...place]))
        #expect(server.issuer == issuer && server.tokenEndpoint.absoluteString == "https://auth.example.com/token")
        #expect(server.authorizationEndpoint?.absoluteString == "https://auth.example.com/authorize")
        #expect(server.deviceAuthorizationEndpoint?.absoluteString == "https://auth.example.com/device")
        #expect(server.revocationEndpoint?.absoluteString == "https://auth.example.com/revoke")
        #expect(server.sendsIssuer && server.resource == nil && server.scope.isEmpty)
        #expect(server.metadata["registration_endpoint"]?.string == "https://auth.example.com/new")
    }

    @Test(arguments: ["https://auth.example.com", "https://auth.example.com/"])
    func `the metadata of an issuer without a path is searched at two places`(issuer: String) async throws {
        let scene = Scene()
        let failure = await authenticationFailure { _ = try await OAuth2.discovered(issuer: issuer, over: scene) }
        #expect(failure?.reason == .malformed && failure?.message.contains("no metadata") == true)
        #expect(
            scene.urls == [
                "https://auth.example.com/.well-known/oauth-authorization-server",
                "https://auth.example.com/.well-known/openid-configuration",
            ])
    }

    @Test(arguments: [
        "https://auth.example.com/t/1/", "https://auth.example.com:443/t/1", "https://AUTH.example.com/t/1",
        "https://auth.example.com/t/%31", "https://auth.example.com", "https://other.example.com/t/1",
    ])
    func `metadata of an issuer that differs in any byte is refused, and no other place is tried`(
        other: String
    ) async throws {
        let scene = Scene([places[0]: [.json(document.replacing(issuer, with: other))], places[1]: [.json(document)]])
        let failure = await authenticationFailure { _ = try await OAuth2.discovered(issuer: issuer, over: scene) }
        #expect(failure?.reason == .malformed && failure?.message.contains("a different issuer") == true)
        #expect(scene.urls.count == 1)
    }

    @Test(arguments: ["token", "authorize", "device", "revoke"])
    func `an endpoint without TLS, on this machine or without a host is refused`(name: String) async throws {
        let good = "\"https://auth.example.com/\(name)\""
        for bad in ["\"http://auth.example.com/x\"", "\"http://127.0.0.1/x\"", "\"ftp://localhost/x\"", "\"/x\"", "7"] {
            let scene = Scene([places[0]: [.json(document.replacing(good, with: bad))]])
            let failure = await authenticationFailure { _ = try await OAuth2.discovered(issuer: issuer, over: scene) }
            #expect(failure?.reason == .malformed, "\(bad)")
        }
    }

    @Test func `metadata without a token endpoint is refused, and other endpoints may be missing`() async throws {
        let least = #"{"issuer":"\#(issuer)","revocation_endpoint":null"#
        let scene = Scene([places[0]: [.json(least + "}")]])
        #expect(
            await authenticationFailure { _ = try await OAuth2.discovered(issuer: issuer, over: scene) }?.reason
                == .malformed)
        scene.answer(places[0], .json(least + #","token_endpoint":"https://auth.example.com/token"}"#))
        let server = try await OAuth2.discovered(issuer: issuer, over: scene)
        #expect(server.authorizationEndpoint == nil && server.revocationEndpoint == nil && !server.sendsIssuer)
    }

    @Test func `a page, a redirect and an empty response are no metadata`() async throws {
        let scene = Scene([
            places[0]: [.status(.ok, "<html>not found</html>")], places[1]: [.status(.found)],
            places[2]: [.status(.ok)],
        ])
        #expect(
            await authenticationFailure { _ = try await OAuth2.discovered(issuer: issuer, over: scene) }?.reason
                == .malformed)
        #expect(scene.urls == places)
    }

    @Test func `a server that fails and a document that is too large end the search`() async throws {
        let large = document.replacing("{", with: "{\"x\":\"\(String(repeating: "x", count: 1 << 20))\",")
        for answer in [Scene.Answer.status(.badGateway), .json(large)] {
            let scene = Scene([places[0]: [answer], places[1]: [.json(document)]])
            let failure = await authenticationFailure { _ = try await OAuth2.discovered(issuer: issuer, over: scene) }
            #expect(failure?.reason == .unavailable && scene.urls.count == 1)
        }
    }

    @Test(arguments: [
        "http://auth.example.com", "https://auth.example.com?a=b", "https://auth.example.com#a", "auth.example.com", "",
    ])
    func `an issuer identifier that RFC 8414 does not allow is refused before a request`(issuer: String) async throws {
        let scene = Scene()
        let failure = await authenticationFailure { _ = try await OAuth2.discovered(issuer: issuer, over: scene) }
        #expect(failure?.reason == .misconfigured && scene.requests.isEmpty)
    }
}

@Suite(.timeLimit(.minutes(1))) struct ResourceDiscoveryTests {
    private func scene(_ answers: [String: [Scene.Answer]]) -> Scene {
        Scene([places[0]: [.json(document)], places[0] + "?key=1": [.json(document)]].merging(answers) { $1 })
    }

    private func failure(over scene: Scene) async -> HTTPAuthentication.Failure? {
        await authenticationFailure { _ = try await OAuth2.discovered(from: Scene.api, over: scene) }
    }

    @Test func `the challenge of an API leads to its metadata, and that to the server`() async throws {
        let scene = scene([api: [challenge(", resource_metadata=\"\(link)\", scope=\"a b\"")], link: [.json(resource)]])
        let server = try await OAuth2.discovered(from: Scene.api, over: scene)
        #expect(scene.urls == [api, link, places[0]])
        #expect(server.issuer == issuer && server.resource == Scene.api && server.scope == ["a", "b"])
        #expect(scene.requests.allSatisfy { !$0.headers.contains(.authorization) && $0.method == .get })
    }

    @Test func `a URL that a document names receives nothing of the chain's environment`() async throws {
        let scene = scene([api: [challenge(", resource_metadata=\"\(link)\"")], link: [.json(resource)]])
        let home = ServerEnvironment("https://auth.example.com", headers: ["X-Tenant": "7"], query: ["key": "1"])
        _ = try await OAuth2.discovered(from: Scene.api, over: ApplyEnvironment(home) --> scene)
        #expect(scene.urls == [api, link, places[0]] && scene.requests.allSatisfy { !$0.headers.contains("X-Tenant") })
        _ = try await OAuth2.discovered(issuer: issuer, over: ApplyEnvironment(home) --> scene)
        #expect(scene.urls.last == places[0] + "?key=1" && scene.requests.last?.headers["X-Tenant"] == "7")
    }

    @Test(arguments: [false, true])
    func `without a link, the metadata is at the well-known URL of the API, or of its origin`(
        isOfOrigin: Bool
    ) async throws {
        let place = isOfOrigin ? wellKnown : wellKnown + "/mcp"
        let text = isOfOrigin ? resource.replacing(api, with: "https://api.example.com") : resource
        let scene = scene([api: [challenge("")], place: [.json(text)]])
        let server = try await OAuth2.discovered(from: Scene.api, over: scene)
        #expect(scene.urls == [api, wellKnown + "/mcp"] + (isOfOrigin ? [wellKnown] : []) + [places[0]])
        #expect(server.resource?.absoluteString == (isOfOrigin ? "https://api.example.com" : api))
        #expect(server.scope == ["read", "write"])
    }

    @Test(arguments: [
        "https://api.example.com/mcp?tenant=a", "https://api.example.com/mcp?tenant=b", "https://api.example.com/mcp",
        "https://a@api.example.com/mcp?tenant=a", "https://api.example.com/mcp?tenant=a#b", "https://api.example.com",
    ])
    func `the query of a resource belongs to its well-known URL and to its identifier`(named: String) async throws {
        let tenant = try #require(URL(string: api + "?tenant=a"))
        let place = wellKnown + "/mcp?tenant=a"
        let scene = scene([place: [.json(resource.replacing(api, with: named))]])
        let failure = await authenticationFailure { _ = try await OAuth2.discovered(from: tenant, over: scene) }
        #expect(scene.urls.prefix(2) == [api + "?tenant=a", place])
        #expect(failure?.reason == (named == tenant.absoluteString ? nil : .malformed))
    }

    @Test(arguments: [
        "https://other.example.com/mcp", "http://api.example.com/mcp", "https://api.example.com/mc",
        "https://api.example.com/mcp/more", "https://api.example.com:8443/mcp", "mcp", "",
    ])
    func `metadata of another resource is refused`(other: String) async throws {
        let scene = scene([
            api: [challenge(", resource_metadata=\"\(link)\"")], link: [.json(resource.replacing(api, with: other))],
        ])
        let failure = await failure(over: scene)
        #expect(failure?.reason == .malformed && failure?.message.contains("a different resource") == true)
        #expect(!scene.urls.contains(places[0]))
    }

    @Test(arguments: ["http://api.example.com/meta", "http://localhost/meta", "file:///etc/passwd", "meta"])
    func `a link without TLS or to this machine is not followed`(link: String) async throws {
        let scene = scene([api: [challenge(", resource_metadata=\"\(link)\"")]])
        #expect(await failure(over: scene)?.reason == .malformed)
        #expect(scene.urls == [api])
    }

    @Test(arguments: ["http://auth.example.com", "http://127.0.0.1", "https://auth.example.com?x"])
    func `an API that names a server without TLS, or on this machine, is refused`(other: String) async throws {
        let scene = scene([api: [challenge("")], wellKnown + "/mcp": [.json(resource.replacing(issuer, with: other))]])
        #expect(await failure(over: scene)?.reason == .malformed)
        #expect(scene.urls == [api, wellKnown + "/mcp"])
    }

    @Test func `an API that does not name the expected issuer is refused`() async throws {
        let named = resource.replacing("[\"https://auth", with: "[\"https://evil.example.com\",\"https://auth")
        let scene = scene([wellKnown + "/mcp": [.json(named)]])
        let server = try await OAuth2.discovered(from: Scene.api, issuer: issuer, over: scene)
        #expect(server.issuer == issuer)
        let failure = await authenticationFailure {
            _ = try await OAuth2.discovered(from: Scene.api, issuer: issuer + "/", over: scene)
        }
        #expect(failure?.reason == .refused && failure?.message.contains("expected") == true)
    }

    @Test func `an API without metadata needs an issuer`() async throws {
        let scene = scene([:])
        let failure = await failure(over: scene)
        #expect(failure?.reason == .malformed && failure?.message.contains("pass the issuer") == true)
        let server = try await OAuth2.discovered(from: Scene.api, issuer: issuer, over: scene)
        #expect(server.resource == Scene.api && server.issuer == issuer)
    }

    @Test func `an API without TLS is refused before a request`() async throws {
        let scene = Scene()
        let insecure = try #require(URL(string: "http://api.example.com/mcp"))
        #expect(
            await authenticationFailure { _ = try await OAuth2.discovered(from: insecure, over: scene) }?.reason
                == .misconfigured)
        #expect(scene.requests.isEmpty)
    }

    @Test func `a secret is sent only to a server that the caller knows`() async throws {
        let scene = scene([wellKnown + "/mcp": [.json(resource)]])
        let client = OAuth2.Client(id: "app", secret: "s3cret")
        let found = try await OAuth2.discovered(from: Scene.api, over: scene)
        #expect(throws: HTTPAuthentication.Failure.self) {
            try OAuth2.Session.testing(over: scene, client: client, server: found)
        }
        let known = try await OAuth2.discovered(from: Scene.api, issuer: issuer, over: scene)
        try await OAuth2.Session.testing(over: scene, client: client, server: known).signIn()
        #expect(scene.requests.last?.headers[.authorization]?.hasPrefix("Basic ") == true)
    }

    @Test(arguments: ["authorize", "device", "revoke"])
    func `a server that only the API has named has all endpoints at the origin of its issuer`(name: String) async throws
    {
        // The API could otherwise combine the page of an honest server with its own token endpoint.
        let mixed = document.replacing("https://auth.example.com/\(name)", with: "https://honest.example.com/\(name)")
        let scene = Scene([wellKnown + "/mcp": [.json(resource)], places[0]: [.json(mixed)]])
        let found = try await OAuth2.discovered(from: Scene.api, over: scene)
        #expect(throws: HTTPAuthentication.Failure.self) { try OAuth2.Session.testing(over: scene, server: found) }
        let known = try await OAuth2.discovered(from: Scene.api, issuer: issuer, over: scene)
        #expect(throws: Never.self) { try OAuth2.Session.testing(over: scene, server: known) }
    }

    @Test func `a server that only the API has named shows no page of another server`() async throws {
        let honest = "https://honest.example.com/device"
        let scene = scene([wellKnown + "/mcp": [.json(resource)]])
        let found = try await OAuth2.discovered(from: Scene.api, over: scene)
        let known = try await OAuth2.discovered(from: Scene.api, issuer: issuer, over: scene)
        let shown = Mutex<[URL]>([])
        func signIn(_ server: OAuth2.Server, pages: [URL] = []) async -> HTTPAuthentication.Failure? {
            let signIn = OAuth2.SignIn.deviceCode(pages: pages) { code in
                shown.withLock { $0.append(code.verificationURL) }
            }
            return await authenticationFailure {
                try await OAuth2.Session.testing(over: scene, signIn: signIn, server: server).signIn()
            }
        }
        let complete = #"","verification_uri_complete":"\#(honest)?code=WDJB-MJHT"}"#
        for body in [
            Scene.device.replacing("https://auth.example.com/device", with: honest),
            Scene.device.replacing(#""}"#, with: complete),
        ] {
            scene.answer("https://auth.example.com/device", .json(body))
            let failure = await signIn(found)
            #expect(failure?.reason == .refused && shown.withLock { $0.isEmpty } && scene.forms("/token").isEmpty)
            for name in ["https://auth.example.com", "https://honest.example.com"] {
                #expect(failure?.message.contains(name) == true)
            }
        }
        #expect(await signIn(found, pages: [try #require(URL(string: honest))]) == nil)
        #expect(await signIn(known) == nil && shown.withLock { $0.count } == 2)
        scene.answer("https://auth.example.com/device", .json(Scene.device))
        #expect(await signIn(found) == nil)
    }

    @Test(arguments: [
        "authorization_servers\":[\"https://", "resource_metadata=\"https://", "token_endpoint\":\"https://",
    ])
    func `a URL with a user part is refused`(part: String) async throws {
        func named(_ text: String) -> String { text.replacing(part, with: part + "github.com@") }
        let scene = Scene([
            api: [challenge(named(", resource_metadata=\"\(link)\""))], link: [.json(named(resource))],
            places[0]: [.json(named(document))],
        ])
        #expect(await failure(over: scene)?.reason == .malformed)
    }

    @Test(arguments: [
        "resource", "scopes_supported", "authorization_servers", "issuer", "token_endpoint", "scope", "name",
    ])
    func `metadata and challenges take linear time in combining marks`(name: String) async throws {
        let ratio = await growth(of: 10_000) { count in
            let (value, list) = (#""\#(name)":"\#(marks(count))""#, #""\#(name)":["a","\#(marks(count))"]"#)
            let member =
                switch name {
                case "scope": ""
                case "name": #""a\#(marks(count))":1,"#
                case "scopes_supported", "authorization_servers": list + ","
                default: value + ","
                }
            let scene = Scene([
                api: [
                    challenge(
                        ", resource_metadata=\"\(link)\"" + (name == "scope" ? ", scope=\"a \(marks(count))\"" : ""))
                ],
                link: [.json("{" + member + resource.dropFirst())],
                places[0]: [.json("{" + member + document.dropFirst())],
            ])
            _ = await authenticationFailure {
                let server = try await OAuth2.discovered(from: Scene.api, over: scene)
                #expect(server.scope.allSatisfy { $0.utf8.count < 10 })
            }
        }
        #expect(ratio < 10)
    }

    @Test func `metadata that a link names describe a parent only at the place of the parent`() async throws {
        let parent = resource.replacing("https://api.example.com/mcp", with: "https://api.example.com/")
        let linked = scene([api: [challenge(", resource_metadata=\"\(link)\"")], link: [.json(parent)]])
        let failure = await authenticationFailure { _ = try await OAuth2.discovered(from: Scene.api, over: linked) }
        #expect(failure?.message.contains("a different resource") == true)
        let atHome = scene([api: [challenge(", resource_metadata=\"\(wellKnown)\"")], wellKnown: [.json(parent)]])
        #expect(
            try await OAuth2.discovered(from: Scene.api, over: atHome).resource?.absoluteString
                == "https://api.example.com/")
    }

    @Test(arguments: ["https://auth.example.com/t/2", "https://auth.example.com/t/1/"])
    func `a callback of another issuer is refused, also if none was promised or the page has another origin`(
        other: String
    ) async throws {
        let scene = scene([places[0]: [.json(document.replacing("supported\":true", with: "supported\":false"))]])
        var found = try await OAuth2.discovered(issuer: issuer, over: scene)
        found.resource = Scene.api
        if other.hasSuffix("2") { found.authorizationEndpoint = URL(string: "https://login.example.com/authorize") }
        let callback = try #require(URL(string: "https://app.example.com/callback"))
        let sessions = try [issuer, other].map { named in
            let signIn = OAuth2.SignIn.authorizationCode(redirectURI: callback) { page in
                var request = HTTPRequest(url: callback)
                request.query["code"] = "c"
                request.query["state"] = HTTPRequest(url: page).query["state"]
                request.query["iss"] = named
                return try request.url()
            }
            return try OAuth2.Session.testing(over: scene, signIn: signIn, server: found)
        }
        #expect(await authenticationFailure { try await sessions[1].signIn() }?.reason == .malformed)
        #expect(scene.forms("/token").isEmpty)
        try await sessions[0].signIn()
        #expect(scene.forms("/token").count == 1)
    }

    @Test func `a page and a token request name the resource`() async throws {
        let scene = scene([wellKnown + "/mcp": [.json(resource)]])
        let found = try await OAuth2.discovered(from: Scene.api, over: scene)
        let callback = try #require(URL(string: "https://app.example.com/callback"))
        let pages = Mutex<[URL]>([])
        let signIn = OAuth2.SignIn.authorizationCode(redirectURI: callback) { page in
            pages.withLock { $0.append(page) }
            let state = HTTPRequest(url: page).query["state"] ?? ""
            let answer = "?code=c&state=\(state)&iss=https%3A%2F%2Fauth.example.com%2Ft%2F1"
            return try #require(URL(string: callback.absoluteString + answer))
        }
        try await OAuth2.Session.testing(over: scene, signIn: signIn, server: found).signIn()
        let query = HTTPRequest(url: try #require(pages.withLock { $0.first })).query
        #expect(query["resource"] == api && query["scope"] == "read write")
        #expect(scene.forms("/token").first?["resource"] == api)
    }

    @Test func `an API and its server may be on this machine`() async throws {
        let (home, api) = ("http://127.0.0.1:8080", "http://127.0.0.1:8080/mcp")
        let scene = Scene([
            api: [Scene.Answer()],
            "\(home)/.well-known/oauth-protected-resource/mcp": [
                .json(#"{"resource":"\#(api)","authorization_servers":["\#(home)"]}"#)
            ],
            "\(home)/.well-known/openid-configuration": [
                .json(#"{"issuer":"\#(home)","token_endpoint":"\#(home)/token"}"#)
            ],
        ])
        let server = try await OAuth2.discovered(from: try #require(URL(string: api)), over: scene)
        #expect(server.tokenEndpoint.absoluteString == "\(home)/token")
    }
}
