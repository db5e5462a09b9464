// SPDX-License-Identifier: MIT
import Foundation
import LetterheadTesting
import Synchronization
import TestKit
import Testing

@testable import Letterhead
@testable import LetterheadCaching

@Suite struct ResponseCacheTests {
    @Test func `a fresh response is reused with its age, and validated when it is stale`() async throws {
        let scene = CacheScene.counting("max-age=60")
        let client = scene.client()
        #expect(try await client.get().cache == .stored)
        scene.advance(59)
        let hit = try await client.get()
        #expect(hit.cache == .hit && hit.text == "body 1" && hit.response.headers[.age] == "59")
        scene.advance(1)
        let checked = try await client.get()
        #expect(checked.cache == .revalidated && checked.text == "body 1" && checked.response.status == .ok)
        #expect(try await client.get().cache == .hit)
        #expect(scene.server.requests.map { $0.headers[.ifNoneMatch] } == [nil, "\"v\""])
    }

    @Test func `each policy does what its name promises`() async throws {
        let scene = CacheScene.counting("max-age=60")
        let client = scene.client()
        let error = await #expect(throws: HTTPError.self) { try await client.get { $0.caching = .onlyIfCached } }
        #expect(error?.code == .notCached && error?.mayHaveBeenSent == false && scene.server.requests.isEmpty)
        #expect(try await client.get { $0.caching = .bypass }.cache == .bypassed)
        #expect(try await client.get().text == "body 2")
        #expect(try await client.get { $0.caching = .onlyIfCached }.cache == .hit)
        #expect(try await client.get { $0.caching = .revalidate }.cache == .revalidated)
        #expect(scene.server.requests.last?.headers[.cacheControl] == "max-age=0")
        scene.advance(70)
        #expect(try await client.get { $0.caching = .staleAllowed(.seconds(10)) }.cache == .stale)
        #expect(try await client.get { $0.caching = .staleAllowed(.seconds(9)) }.cache == .revalidated)
    }

    @Test func `a template chooses the policy, and Cache-Control of a request has the same effect`() async throws {
        let scene = CacheScene.counting("max-age=60")
        let client = HTTPClient(
            environment: ServerEnvironment(baseURL: try #require(URL(string: "https://a.example"))),
            cache: scene.cache(),
            transport: scene.server)
        let first = try await client.sendWithResponse(Get<String>("x").decoder(JSONDecoder()).caching(.bypass))
        #expect(first.response.cache == .bypassed)
        _ = try await client.send(Get<String>("x"))
        let second = try await client.sendWithResponse(Get<String>("x").header("Cache-Control", "no-cache"))
        #expect(second.response.cache == .revalidated)
        let third = try await client.sendWithResponse(Get<String>("x").header("Cache-Control", "only-if-cached"))
        #expect(third.response.cache == .hit)
    }

    @Test func `a response without permission is not stored, and the reason is known`() async throws {
        let scene = CacheScene.counting("no-store")
        let client = scene.client()
        let response = try await client.get().response
        #expect(response.cacheDecision.description == "missed: \(CacheRules.Refusal.responseForbids.rawValue)")
        #expect(try await client.get().text == "body 2")
    }

    @Test func `a QUERY is stored by its body`() async throws {
        let scene = CacheScene.counting("max-age=60")
        let client = scene.client()
        for text in ["a", "b", "a"] {
            _ = try await client.get { request in
                request.method = .query
                request.body = TextBody(text)
            }
        }
        #expect(scene.server.requests.count == 2)
    }

    @Test func `HEAD and a range are taken from a fresh stored response`() async throws {
        let scene = CacheScene.counting("max-age=60")
        let client = scene.client()
        _ = try await client.get()
        let head = try await client.get { $0.method = .head }
        #expect(head.cache == .hit && head.text.isEmpty)
        let part = try await client.get { $0.headers[.range] = "bytes=0-3" }
        #expect(part.text == "body" && part.response.status == .partialContent)
        #expect(part.response.headers[.contentRange] == "bytes 0-3/6")
        #expect(try await client.get { $0.headers[.range] = "bytes=9-" }.cache == .bypassed)
        #expect(try await client.get { $0.headers[.ifNoneMatch] = "\"x\"" }.cache == .bypassed)
    }

    @Test func `an error is replaced by a stale response if the server or the request allows it`() async throws {
        let isBroken = Mutex(false)
        let scene = CacheScene { request in
            if isBroken.withLock({ $0 }) {
                guard request.path.string == "/503" else { throw HTTPError(.connectionLost, request: request) }
                return HTTPResponse(request: request, status: .serviceUnavailable)
            }
            return HTTPResponse(
                request: request, status: .ok,
                headers: ["Cache-Control": "max-age=1, stale-if-error=60", "ETag": "\"a\""])
        }
        let client = scene.client()
        for path in ["503", "lost"] { _ = try await client.get("https://a.example/\(path)") }
        isBroken.withLock { $0 = true }
        scene.advance(61)
        for path in ["503", "lost"] { #expect(try await client.get("https://a.example/\(path)").cache == .stale) }
        scene.advance(1)
        await #expect(throws: HTTPError.self) { try await client.get("https://a.example/lost") }
        let allowed = try await client.get("https://a.example/lost") {
            $0.caching = .staleAllowed(.seconds(600), onErrorOnly: true)
        }
        #expect(allowed.cache == .stale)
    }

    @Test func `the cookies of a stored response are not applied again`() async throws {
        let scene = CacheScene { request in
            HTTPResponse(
                request: request, status: .ok, headers: ["Cache-Control": "max-age=60", "Set-Cookie": "a=old; Path=/"])
        }
        let jar = CookieJar()
        let client = scene.client(cookies: jar)
        _ = try await client.get()
        jar.set(CookieJar.Cookie("a", "new", domain: "a.example", isSecure: false))
        let hit = try await client.get()
        #expect(hit.cache == .hit && hit.response.headers[.setCookie] == "a=old; Path=/")
        #expect(jar.cookies.map(\.value) == ["new"])
    }

    @Test func `a stored response over the limit of a request is not reused`() async throws {
        let client = CacheScene.counting("max-age=60").client()
        _ = try await client.get()
        let error = await #expect(throws: HTTPError.self) { try await client.get { $0.responseLimit = 3 } }
        #expect(error?.code == .responseTooLarge)
    }

    @Test func `a request that must not be sent is never sent`() async throws {
        let scene = CacheScene.counting("max-age=60")
        let client = scene.client()
        _ = try await client.get()
        for change: (inout HTTPRequest) -> Void in [
            { $0.method = .post }, { $0.headers[.ifNoneMatch] = "x" }, { $0.headers[.range] = "bytes=99-" },
        ] {
            let error = await #expect(throws: HTTPError.self) {
                try await client.get { request in
                    request.caching = .onlyIfCached
                    change(&request)
                }
            }
            #expect(error?.code == .notCached)
        }
        #expect(scene.server.requests.count == 1)
    }

    @Test func `a stale response for a request that must not be sent is not validated later`() async throws {
        let scene = CacheScene.counting("max-age=1, stale-while-revalidate=60")
        let (cache, client) = try await scene.stale()
        #expect(try await client.get { $0.caching = .onlyIfCached }.cache == .stale)
        #expect(cache.validations.running == 0 && scene.server.requests.count == 1)
    }

    @Test func `a Host field separates responses`() async throws {
        let client = CacheScene.counting("max-age=60").client()
        for (host, text) in [("a.test", "body 1"), ("b.test", "body 2"), ("A.test", "body 1")] {
            #expect(try await client.get { $0.headers[.host] = host }.text == text)
        }
        #expect(try await client.get().text == "body 3")
    }

    /// A POST as a live stream, and a POST whose response is too large.
    @Test(arguments: [true, false])
    func `each POST that the server has processed removes the stored response`(isLive: Bool) async throws {
        let count = Counter()
        let client = CacheScene { request in
            var response = HTTPResponse(request: request, status: .ok, headers: ["Cache-Control": "max-age=60"])
            if request.method == .post, !isLive {
                throw HTTPError(.responseTooLarge, request: request, response: response)
            }
            response.body = HTTPResponseBody(Data("body \(count.next())".utf8))
            return response
        }.client()
        #expect(try await client.get().text == "body 1")
        _ = try? await client.get { ($0.method, $0.isLiveStream) = (.post, isLive) }
        #expect(try await client.get().cache == .stored)
    }

    @Test func `a response that is too large is not replaced by a stale one`() async throws {
        let isLarge = Mutex(false)
        let scene = CacheScene { request in
            let response = HTTPResponse(
                request: request, status: .ok,
                headers: ["Cache-Control": "max-age=1, stale-if-error=60", "ETag": "\"a\""])
            if isLarge.withLock({ $0 }) { throw HTTPError(.responseTooLarge, request: request, response: response) }
            return response
        }
        let (_, client) = try await scene.stale()
        isLarge.withLock { $0 = true }
        let error = await #expect(throws: HTTPError.self) { try await client.get() }
        #expect(error?.code == .responseTooLarge)
    }

    @Test(arguments: [HTTPResponse.Delivery.buffered, .streamed])
    func `a body that may be truncated is not stored`(delivery: HTTPResponse.Delivery) async throws {
        let client = CacheScene { request in
            let left = Mutex([Data("half".utf8)])
            let pull = { @Sendable () -> Data? in left.withLock { $0.popLast() } }
            var response = HTTPResponse(request: request, status: .ok, headers: ["Cache-Control": "max-age=60"])
            response.body =
                delivery == .streamed ? HTTPResponseBody(length: nil, pull: pull) : HTTPResponseBody(Data("half".utf8))
            response.metrics.hasUnauthenticatedEnd = true
            return response
        }.client()
        for _ in 0..<2 { #expect(try await client.get { $0.responseDelivery = delivery }.cache != .hit) }
    }

    @Test func `a malformed request is refused even if its response is stored`() async throws {
        let client = CacheScene.counting("max-age=60").client()
        _ = try await client.get()
        let error = await #expect(throws: HTTPError.self) { try await client.get { $0.headers["X"] = "a\r\nb" } }
        #expect(error?.code == .invalidRequest)
    }

    @Test func `Cache-Status describes each response`() async throws {
        let scene = CacheScene.counting("max-age=60")
        let client = scene.client(scene.cache(statusName: "app"))
        #expect(try await client.get().response.headers["Cache-Status"] == "\"app\";fwd=miss;stored")
        scene.advance(10)
        #expect(try await client.get().response.headers["Cache-Status"] == "\"app\";hit;ttl=50")
        let bypassed = try await client.get { $0.caching = .bypass }.response.headers["Cache-Status"]
        #expect(bypassed == "\"app\";fwd=bypass;detail=\"the request bypasses the cache\"")
    }

    @Test func `the progress of a reused response is complete`() async throws {
        let client = CacheScene.counting("max-age=60").client()
        _ = try await client.get()
        let steps = Mutex<[HTTPRequest.Progress]>([])
        _ = try await client.get { $0.onProgress = { step in steps.withLock { $0.append(step) } } }
        #expect(steps.withLock { $0 } == [HTTPRequest.Progress(direction: .download, completedBytes: 6, totalBytes: 6)])
    }
}
