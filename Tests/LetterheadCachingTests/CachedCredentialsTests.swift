// SPDX-License-Identifier: MIT
import Foundation
import LetterheadTesting
import Synchronization
import TestKit
import Testing

@testable import Letterhead
@testable import LetterheadCaching

/// Which users share a stored response.
@Suite struct CachedCredentialsTests {
    /// A server that responds with the request's credential.
    private func scene(_ control: String = "max-age=60", _ headers: HTTPHeaders = [:]) -> CacheScene {
        CacheScene { request in
            var headers = headers
            headers[.cacheControl] = control
            let user = request.headers[.authorization] ?? request.headers[.cookie] ?? request.query["token"] ?? "nobody"
            return HTTPResponse(
                request: request, status: .ok, headers: headers, body: HTTPResponseBody(Data(user.utf8)))
        }
    }

    private func client(
        _ scene: CacheScene, _ cache: ResponseCache, signing: HTTPAuthentication? = nil, below: (any LoaderLink)? = nil
    ) -> HTTPClient {
        HTTPClient(
            environment: .provided { _ in ServerEnvironment(baseURL: try #require(URL(string: "https://a.example/"))) },
            authentication: signing, cache: cache, attemptLinks: below, transport: scene.server)
    }

    private func bearer(_ user: String) -> ModifyRequest {
        ModifyRequest { $0.headers[.authorization] = "Bearer \(user)" }
    }

    /// A method with a different signature for each request.
    private func counting(_ place: HTTPHeaders.Name = "X-Signature") -> HTTPAuthentication {
        let count = Counter()
        return .method(
            "HMAC",
            link: ModifyRequest { request in
                request.headers.setSecret("signature \(count.next())", for: place)
            })
    }

    @Test(arguments: ["attemptLinks", "cookie", "query", "deduplicated"])
    func `a response is not stored if a link below has added a credential`(place: String) async throws {
        let scene = scene()
        let cache = scene.cache()
        for user in ["ada", "bob", "ada"] {
            let link: any LoaderLink =
                switch place {
                case "cookie": ModifyRequest { $0.headers[.cookie] = "Bearer \(user)" }
                case "query": ModifyRequest { $0.query["token"] = "Bearer \(user)" }
                case "deduplicated": Deduplicate() --> bearer(user)
                default: bearer(user)
                }
            let (text, outcome, response) = try await client(scene, cache, below: link).get()
            #expect(text == "Bearer \(user)" && outcome == .missed)
            #expect(response.cacheDecision.reason.contains("credential"))
        }
        #expect(try await client(scene, cache).get().text == "nobody")
    }

    @Test func `a request that has joined an equal one is not stored with the credential of the other`() async throws {
        let gate = OneShot<Void>()
        let scene = CacheScene { request in
            await gate.value
            return HTTPResponse(request: request, status: .ok, headers: ["Cache-Control": "max-age=60"])
        }
        let cache = scene.cache()
        let deduplicate = Deduplicate()
        let client = client(scene, cache, below: deduplicate --> bearer("ada"))
        let outcomes = try await withThrowingTaskGroup(of: ResponseCache.Outcome.self) { group in
            for _ in 0..<2 { group.addTask { try await client.get().cache } }
            while deduplicate.waiting < 2 { await Task.yield() }
            gate.set(())
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes == [.missed, .missed] && scene.server.requests.count == 1)
    }

    @Test(arguments: ["public, max-age=60", "public, private, max-age=60", "s-maxage=60"])
    func `no response is stored if a link below has added a credential or changed the path`(control: String)
        async throws
    {
        let scene = scene(control, ["ETag": "\"a\""])
        #expect(try await client(scene, scene.cache(), below: bearer("ada")).get().cache == .missed)
        let path = ModifyRequest { $0.path = "/bot-token/me" }
        #expect(try await client(scene, scene.cache(), below: path).get().cache == .missed)
    }

    @Test func `a response is not stored if a link below has changed a field that Vary names`() async throws {
        let scene = scene("public, max-age=60", ["Vary": "X-Tenant"])
        let cache = scene.cache()
        let link = ModifyRequest { $0.headers["X-Tenant"] = "acme" }
        #expect(try await client(scene, cache, below: link).get().cache == .missed)
        #expect(
            try await client(scene, cache, below: ModifyRequest { $0.headers["X-Other"] = "1" }).get().cache == .stored)
    }

    @Test func `a 304 to a request with a credential from below does not confirm the stored response for others`()
        async throws
    {
        let scene = CacheScene.counting("max-age=1")
        let cache = scene.cache()
        let user = Mutex("")
        let link = ModifyRequest { request in
            let user = user.withLock { $0 }
            if !user.isEmpty { request.headers[.authorization] = "Bearer \(user)" }
        }
        let client = client(scene, cache, below: link)
        #expect(try await client.get().cache == .stored)
        scene.advance(2)
        user.withLock { $0 = "ada" }
        #expect(try await client.get().cache == .revalidated)
        user.withLock { $0 = "" }
        #expect(try await client.get().cache == .stored)
    }

    @Test(arguments: ["X-Signature", "Authorization", "Cookie"])
    func `requests that one method signs share a response, although each signature is different`(name: String)
        async throws
    {
        let place = HTTPHeaders.Name(name)
        let scene = scene("max-age=60", ["Vary": "Authorization, X-Signature"])
        let store = ResponseCache.Store.memory(bytes: 1 << 20)
        let cache = scene.cache(store)
        let first = client(scene, cache, signing: counting(place))
        #expect(try await first.get().cache == .stored)
        for _ in 0..<5 { #expect(try await first.get().cache == .hit) }
        #expect(try #require(store.storage as? MemoryCacheStorage).size.entries == 1)
        // Another method belongs to another user.
        #expect(try await client(scene, cache, signing: counting(place)).get().cache == .stored)
        #expect(try await client(scene, cache).get().cache == .stored)
        #expect(scene.server.requests.count == 3)
    }

    @Test func `a signature in the query is not part of the URL of a stored response`() async throws {
        let scene = scene()
        let count = Counter()
        let method = HTTPAuthentication.method(
            "URL",
            link: ModifyRequest { request in
                let number = count.next()
                request.query["expires"] = "\(number)"
                request.query.setSecret("\(number)", for: "signature")
            })
        let client = client(scene, scene.cache(), signing: method)
        #expect(try await client.get("https://a.example/?page=1").cache == .stored)
        #expect(try await client.get("https://a.example/?page=1").cache == .hit)
        #expect(try await client.get("https://a.example/?page=2").cache == .stored)
        _ = try await client.get("https://a.example/?page=1") { $0.method = .delete }
        #expect(try await client.get("https://a.example/?page=1").cache == .stored)
    }

    @Test func `a reset ends the identity of a method`() async throws {
        let scene = scene()
        let store = ResponseCache.Store.memory(bytes: 1 << 20)
        let method = counting()
        let signed = client(scene, scene.cache(store), signing: method)
        #expect(try await signed.get().cache == .stored)
        // This client has no part in the store.
        await HTTPClient(authentication: method, transport: scene.server).reset()
        #expect(try await signed.get().cache == .stored)
    }

    private struct Key: CredentialProvider {
        let name: String
        let count = Counter()

        func credential(for need: HTTPAuthentication.Need<String>) -> String? { name }
        func sign(_ request: inout HTTPRequest, with credential: String) {
            request.headers.setSecret("\(credential) \(count.next())", for: .authorization)
        }
        func identity(of credential: String) -> String? { credential }
    }

    @Test func `credentials of a provider with one identity share a response, although each signature is different`()
        async throws
    {
        let scene = scene()
        let cache = scene.cache()
        let first = client(scene, cache, signing: .shared(Key(name: "a")))
        #expect(try await first.get().cache == .stored)
        #expect(try await first.get().cache == .hit)
        #expect(try await client(scene, cache, signing: .shared(Key(name: "a"))).get().cache == .hit)
        #expect(try await client(scene, cache, signing: .shared(Key(name: "b"))).get().cache == .stored)
    }

    @Test(arguments: [
        "cookie authorization", "Accept, x y", "Accept; q=1", "\u{301}", "Accept,\u{301}Cookie", "*", "Ac\"cept",
    ])
    func `a member of Vary that is not a name counts as an asterisk`(vary: String) async throws {
        let scene = scene("max-age=60", ["Vary": vary])
        let client = scene.client()
        for user in ["ada", "bob"] {
            let response = try await client.get { $0.headers[.cookie] = "Bearer \(user)" }
            #expect(response.text == "Bearer \(user)" && response.cache == .missed)
        }
        #expect(Vary.names(in: ["Vary": ", Accept ,,Accept-Language,"]) == ["accept", "accept-language"])
    }

    @Test func `credentials that differ only in their normalization are different`() async throws {
        let scene = scene("max-age=60", ["Vary": "X-User"])
        let client = scene.client()
        for user in ["\u{E9}", "e\u{301}"] {
            #expect(try await client.get { $0.headers["X-User"] = user }.cache == .stored)
            #expect(try await client.get { $0.headers[.authorization] = user }.cache == .stored)
        }
    }
}
