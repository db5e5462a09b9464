// SPDX-License-Identifier: MIT
import Foundation
import LetterheadTesting
import TestKit
import Testing

@testable import Letterhead
@testable import LetterheadCaching
import LetterheadStreaming

/// The kinds of stores, for tests that hold for both.
enum CacheStoreKind: CaseIterable {
    case memory, files

    func make(bytes: Int = 4 << 20, in folder: URL) throws -> ResponseCache.Store {
        switch self {
        case .memory: .memory(bytes: bytes)
        case .files: try .files(in: folder, bytes: bytes)
        }
    }
}

@Suite struct StreamedCachingTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "letterhead-\(UUID())")

    /// A server with a body of ten pieces, which breaks off after some of them.
    private func scene(pieces: Int = 10, breaking: Bool = false) -> CacheScene {
        CacheScene { request in
            let chunks = Chunks(pieces)
            let body = HTTPResponseBody(length: nil) {
                if let chunk = chunks.next() { return chunk }
                if breaking { throw HTTPError(.connectionLost, request: request) }
                return nil
            }
            return HTTPResponse(request: request, status: .ok, headers: ["Cache-Control": "max-age=60"], body: body)
        }
    }

    @Test(arguments: CacheStoreKind.allCases)
    func `a body is stored when it has been read completely`(kind: CacheStoreKind) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let scene = scene()
        let client = scene.client(scene.cache(try kind.make(in: folder)))
        let first = try await client.stream(try HTTPRequest("https://a.example/"))
        #expect(
            try await client.get {
                $0.caching = .default; $0.responseDelivery = .streamed
            }.cache == .stored)
        #expect(try await first.body.data().count == 10)
        let hit = try await client.get { $0.caching = .onlyIfCached }
        #expect(hit.text == "xxxxxxxxxx")
        let streamed = try await client.stream(try HTTPRequest("https://a.example/"))
        #expect(streamed.cache == .hit)
        #expect(try await streamed.body.data().count == 10)
    }

    @Test(arguments: CacheStoreKind.allCases, [true, false])
    func `a body that breaks off or is dropped stores nothing`(kind: CacheStoreKind, breaking: Bool) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let scene = scene(breaking: breaking)
        let client = scene.client(scene.cache(try kind.make(in: folder)))
        do {
            let response = try await client.stream(try HTTPRequest("https://a.example/"))
            var chunks = response.body.makeAsyncIterator()
            _ = try await chunks.next()
            if breaking { while try await chunks.next() != nil {} }
        } catch {}
        let error = await #expect(throws: HTTPError.self) { try await client.get { $0.caching = .onlyIfCached } }
        #expect(error?.code == .notCached)
        #expect(try files() == [])
    }

    @Test(arguments: CacheStoreKind.allCases)
    func `a body over the limit of the store is read, and not stored`(kind: CacheStoreKind) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let scene = scene(pieces: 400)
        let client = scene.client(scene.cache(try kind.make(bytes: 1500, in: folder)))
        let response = try await client.stream(try HTTPRequest("https://a.example/"))
        #expect(try await response.body.data().count == 400)
        #expect(try await client.get { $0.responseDelivery = .streamed }.cache == .stored)
        #expect(try files() == [])
    }

    @Test func `a response with no-store leaves nothing on the disk while it is read`() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let scene = CacheScene { request in
            let chunks = Chunks(3)
            return HTTPResponse(
                request: request, status: .ok, headers: ["Cache-Control": "max-age=60, no-store"],
                body: HTTPResponseBody(length: nil) { chunks.next() })
        }
        let client = scene.client(scene.cache(try .files(in: folder, bytes: 1 << 20)))
        let response = try await client.stream(try HTTPRequest("https://a.example/"))
        for try await _ in response.body { #expect(try files() == []) }
    }

    @Test func `a download to a file does not use the cache`() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let scene = CacheScene.counting("max-age=60")
        let client = scene.client()
        _ = try await client.get()
        let file = folder.appending(path: "download")
        let response = try await client.download(try HTTPRequest("https://a.example/"), to: file)
        #expect(response.cache == .bypassed)
        #expect(try String(contentsOf: file, encoding: .utf8) == "body 2")
    }

    /// The files of the store, without folders.
    private func files() throws -> [String] {
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        return try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.contains(".") }
    }

    @Test func `a live stream is neither stored nor reused, whatever the policy of the client`() async throws {
        let mock = MockLoader { HTTPResponse(request: $0, status: .ok, headers: [.cacheControl: "max-age=600"]) }
        let client = HTTPClient(cache: ResponseCache(store: .memory(bytes: 1 << 20)), transport: mock)
            .caching(.onlyIfCached)
        var request = try HTTPRequest("https://events.example.com/")
        request.isLiveStream = true
        for _ in 1...2 { #expect(try await client.send(request).cache == .bypassed) }
        #expect(mock.requests.count == 2)
    }

    @Test(arguments: [nil, "text/event-stream", "application/x-events"])
    func `each stream of events has its own request, whatever it accepts`(accept: String?) async throws {
        let mock = MockLoader {
            HTTPResponse(
                request: $0, status: .ok,
                headers: ["Content-Type": "text/event-stream", "Cache-Control": "max-age=600", "ETag": #""1""#],
                body: HTTPResponseBody(Data("data: 1\n\n".utf8)))
        }
        let client = HTTPClient(
            environment: ServerEnvironment("https://events.example.com"),
            cache: ResponseCache(store: .memory(bytes: 1 << 20)), transport: mock)
        let template = Get<String>("/").header("Accept", accept)
            .header("Cache-Control", "max-age=1")
        for _ in 1...2 {
            var events = 0
            for try await _ in client.events(of: template) { events += 1 }
            #expect(events == 1)
        }
        #expect(mock.requests.count == 2 && mock.requests.allSatisfy { !$0.headers.contains(.ifNoneMatch) })
    }
}
