// SPDX-License-Identifier: MIT
import Foundation
import LetterheadTesting
import Synchronization
import TestKit
import Testing

@testable import Letterhead
@testable import LetterheadCaching

@Suite(.timeLimit(.minutes(2))) struct RemovingTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "letterhead-\(UUID())")

    /// A server with responses that are fresh for a minute and depend on the language.
    private let scene = CacheScene { request in
        HTTPResponse(
            request: request, status: .ok, headers: ["Cache-Control": "max-age=60", "Vary": "Accept-Language"],
            body: HTTPResponseBody(Data("body".utf8)))
    }

    private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    private func isStored(_ url: String, in client: HTTPClient) async -> Bool {
        (try? await client.get(url) { $0.caching = .onlyIfCached }) != nil
    }

    private static let variants: [HTTPHeaders] = [
        [:], ["Accept-Language": "de"], ["Accept-Language": "en"], ["Authorization": "Bearer t"],
    ]

    @Test(arguments: CacheStoreKind.allCases)
    func `all variants of a URL are removed, and other URLs stay`(kind: CacheStoreKind) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let cache = scene.cache(try kind.make(in: folder))
        let client = scene.client(cache)
        for headers in Self.variants {
            for path in ["x", "x?q", "x/y"] {
                _ = try await client.get("https://a.example/\(path)") { $0.headers = headers }
            }
        }
        cache.remove(try url("https://A.example:443/x#part"))
        for headers in Self.variants {
            #expect(try await client.get("https://a.example/x?q") { $0.headers = headers }.cache == .hit)
            #expect(try await client.get("https://a.example/x/y") { $0.headers = headers }.cache == .hit)
            #expect(try await client.get("https://a.example/x") { $0.headers = headers }.cache == .stored)
        }
        #expect(scene.errors.withLock { $0.isEmpty })
    }

    @Test(arguments: [true, false])
    func `a template is removed for the URL in its client's environment`(isProvided: Bool) async throws {
        let cache = scene.cache()
        let environment = ServerEnvironment.of("https://a.example/v1", query: ["key": "1"])
        let client = HTTPClient(
            environment: isProvided ? .provided { _ in environment } : environment, cache: cache,
            transport: scene.server)
        let (german, english) = (client.query("lang", "de"), client.query("lang", "en"))
        for client in [german, english] { try await client.send(TestEndpoint("x")) }
        try await cache.remove(TestEndpoint("x"), for: german)
        #expect(try await english.send(TestEndpoint("x")).cache == .hit)
        #expect(try await german.send(TestEndpoint("x")).cache == .stored)
        #expect(scene.server.requests.last?.target == "/v1/x?lang=de&key=1")
    }

    @Test func `a template that can't be built is an error`() async throws {
        let cache = scene.cache()
        await #expect(throws: HTTPError.self) { try await cache.remove(TestEndpoint("x"), for: scene.client(cache)) }
    }

    private static let urls = [
        "https://a.example/users", "https://a.example/users?page=2", "https://a.example/users?page=2&x=1",
        "https://a.example/users?page=20", "https://a.example/users/ada", "https://a.example/users-online",
        "https://a.example/", "https://a.example:8443/users", "https://b.example/users", "http://a.example/users",
    ]

    @Test(
        arguments: CacheStoreKind.allCases,
        [
            ("https://a.example/users", 0..<5), ("https://A.example:443/users#part", 0..<5),
            ("https://a.example/users/", 4..<5), ("https://a.example/users?page=2", 1..<3),
            ("https://a.example", 0..<7), ("https://a.example/us", 0..<0), ("https://a.example:8443/", 7..<8),
        ])
    func `a URL and what is below it are removed`(kind: CacheStoreKind, _ removal: (String, Range<Int>)) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let cache = scene.cache(try kind.make(in: folder))
        let client = scene.client(cache)
        for url in Self.urls { _ = try await client.get(url) }
        cache.removeAll(under: try url(removal.0))
        for (number, url) in Self.urls.enumerated() {
            #expect(await isStored(url, in: client) != removal.1.contains(number), "\(url)")
        }
    }

    @Test(
        arguments: [
            ("?dir=/", ["?dir=/", "?dir=/&x"], ["", "?dir=/x", "?dir=/x&y"]), ("?a&", ["?a&", "?a&b"], ["?a", "?ab"]),
            ("?", ["?", "?a"], [""]),
        ])
    func `below a URL with a query are only URLs with more items`(
        query: String, removed: [String], kept: [String]
    ) async throws {
        let cache = scene.cache()
        let client = scene.client(cache)
        for query in removed + kept { _ = try await client.get("https://a.example/x\(query)") }
        cache.removeAll(under: try url("https://a.example/x\(query)"))
        for query in removed { #expect(await !isStored("https://a.example/x\(query)", in: client)) }
        for query in kept { #expect(await isStored("https://a.example/x\(query)", in: client)) }
    }

    @Test(arguments: [true, false])
    func `a response to a request in flight is not stored`(isBranch: Bool) async throws {
        let gate = OneShot<Void>()
        let scene = CacheScene { request in
            await gate.value
            return HTTPResponse(request: request, status: .ok, headers: ["Cache-Control": "max-age=60"])
        }
        let cache = scene.cache()
        let client = scene.client(cache)
        async let first = client.get("https://a.example/x")
        async let other = client.get("https://a.example/y")
        await until { scene.server.requests.count == 2 }
        if isBranch {
            cache.removeAll(under: try url("https://a.example/x"))
        } else {
            cache.remove(try url("https://a.example/x"))
        }
        gate.set(())
        #expect(try await first.response.cacheDecision.reason == CacheRules.Refusal.outdated.rawValue)
        #expect(try await other.cache == .stored)
        #expect(await !isStored("https://a.example/x", in: client))
    }

    @Test(arguments: [true, false])
    func `another store of the same folder finds the response no longer`(isBranch: Bool) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let caches = [
            scene.cache(try .files(in: folder, bytes: 1 << 20)), scene.cache(try .files(in: folder, bytes: 1 << 20)),
        ]
        let clients = caches.map { scene.client($0) }
        _ = try await clients[0].get("https://a.example/x")
        let target = try url("https://a.example/x")
        if isBranch { caches[1].removeAll(under: target) } else { caches[1].remove(target) }
        for client in clients { #expect(await !isStored("https://a.example/x", in: client)) }
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
        #expect(!files.contains { $0.hasSuffix(".head") || $0.hasSuffix(".body") })
    }

    @Test func `a damaged head, which could belong to any URL, is removed as well`() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let cache = scene.cache(try .files(in: folder, bytes: 1 << 20))
        _ = try await scene.client(cache).get("https://a.example/x")
        let heads = {
            try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".head") }
        }
        truncate(folder.appending(path: try #require(try heads().first)).path, 20)
        cache.removeAll(under: try url("https://a.example/y"))
        #expect(try heads().isEmpty)
    }

    @Test func `a URL without a host removes nothing`() async throws {
        let cache = scene.cache()
        let client = scene.client(cache)
        _ = try await client.get()
        cache.remove(URL(filePath: "/"))
        cache.removeAll(under: URL(filePath: "/"))
        #expect(try await client.get().cache == .hit)
    }
}
