// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadCaching
import LetterheadTesting
import Synchronization
import Testing

/// A storage that is written with the public API only.
private final class DictionaryStorage: ResponseCache.Storage {
    private let table = Mutex<[String: [String: ResponseCache.Record]]>([:])
    let saves = Mutex(0)

    var all: [ResponseCache.Record] { table.withLock { $0.values.flatMap(\.values) } }

    func records(for url: String) -> [ResponseCache.Record] { table.withLock { Array($0[url, default: [:]].values) } }

    func save(_ record: ResponseCache.Record) {
        saves.withLock { $0 += 1 }
        table.withLock { $0[record.url, default: [:]][record.id] = record }
    }

    func remove(_ id: String?, for url: String) {
        table.withLock { table in
            if let id { table[url]?[id] = nil } else { table[url] = nil }
        }
    }

    func urls(withPrefix prefix: String) -> [String] { table.withLock { $0.keys.filter { $0.hasPrefix(prefix) } } }

    func removeAll() { table.withLock { $0 = [:] } }

    /// Returns a storage with the changed records.
    func changed(_ change: (ResponseCache.Record) -> ResponseCache.Record) -> DictionaryStorage {
        let copy = DictionaryStorage()
        for record in all { copy.save(change(record)) }
        return copy
    }
}

private final class Time: Sendable {
    let now = Mutex(Date(timeIntervalSince1970: 1_800_000_000))
}

/// A storage that cannot be used.
private struct BrokenStorage: ResponseCache.Storage {
    struct Failure: Error {}

    func records(for url: String) throws -> [ResponseCache.Record] { throw Failure() }
    func save(_ record: ResponseCache.Record) throws { throw Failure() }
    func remove(_ id: String?, for url: String) throws { throw Failure() }
    func urls(withPrefix prefix: String) throws -> [String] { throw Failure() }
    func removeAll() throws { throw Failure() }
}

@Suite struct CustomStorageTests {
    private let storage = DictionaryStorage()
    private let time = Time()

    /// A server with responses that are fresh for a minute. It confirms its tag.
    private let server = MockLoader { request in
        var headers: HTTPHeaders = ["Cache-Control": "max-age=60", "ETag": "\"v\"", "Vary": "Accept-Language"]
        if request.headers["If-None-Match"] != nil {
            headers["X-Checked"] = "yes"
            return HTTPResponse(request: request, status: .notModified, headers: headers)
        }
        let text = "\(request.headers["Accept-Language"] ?? "-") \(request.headers["Authorization"] ?? "-")"
        return HTTPResponse(request: request, status: .ok, headers: headers, body: HTTPResponseBody(Data(text.utf8)))
    }

    private func client(
        _ storage: (any ResponseCache.Storage)? = nil, bodyLimit: Int = 1 << 20,
        onError: @escaping @Sendable (any Error) -> Void = { Issue.record($0) }
    ) -> HTTPClient {
        let store = ResponseCache.Store.custom(storage ?? self.storage, bodyLimit: bodyLimit)
        return HTTPClient(
            cache: ResponseCache(store: store, now: { [time] in time.now.withLock { $0 } }, onError: onError),
            transport: server)
    }

    private func get(
        _ client: HTTPClient, _ language: String? = nil, user: String? = nil, at url: String = "https://a.example/"
    ) async throws -> (text: String, cache: ResponseCache.Outcome) {
        var request = try HTTPRequest(url)
        request.headers["Accept-Language"] = language
        request.headers["Authorization"] = user
        let response = try await client.send(request)
        return (String(decoding: try await response.body.data(), as: UTF8.self), response.cache)
    }

    @Test func `variants and credentials are separate records without secrets`() async throws {
        for round in ["stored", "hit"] {
            for (language, user) in [("de", "Bearer s3cret"), ("en", "Bearer s3cret"), ("de", "Bearer other")] {
                let result = try await get(client(), language, user: user)
                #expect(result.text == "\(language) \(user)" && "\(result.cache)" == round)
            }
        }
        #expect(Set(storage.all.map(\.id)).count == 3)
        for record in storage.all {
            #expect(record.url == "https://a.example/" && record.id.count == 64)
            #expect(!String(decoding: record.head, as: UTF8.self).contains("s3cret"))
            #expect(!"\(record)".contains("a.example"))
        }
    }

    @Test func `a confirmed response is saved with its new head`() async throws {
        _ = try await get(client())
        time.now.withLock { $0 += 61 }
        #expect(try await get(client()).cache == .revalidated)
        #expect(try await get(client()).cache == .hit)
        #expect(storage.saves.withLock { $0 } == 2 && storage.all.count == 1)
        #expect(String(decoding: storage.all[0].head, as: UTF8.self).contains("X-Checked"))
    }

    @Test func `a damaged record, and a body of another record, count as missing`() async throws {
        for change in [
            { ResponseCache.Record(url: $0.url, id: $0.id, head: Data($0.head.dropLast()), body: $0.body) },
            { ResponseCache.Record(url: $0.url, id: $0.id, head: $0.head, body: Data("other".utf8)) },
            { ResponseCache.Record(url: $0.url, id: String($0.id.reversed()), head: $0.head, body: $0.body) },
        ] as [(ResponseCache.Record) -> ResponseCache.Record] {
            storage.removeAll()
            #expect(try await get(client()).cache == .stored)
            #expect(try await get(client(storage.changed(change))).cache == .stored)
        }
    }

    @Test func `a body over the limit of the store is not saved`() async throws {
        #expect(try await get(client(bodyLimit: 2)).text == "- -")
        #expect(storage.all.isEmpty)
    }

    @Test func `a successful POST removes the records of its URL, and a reset removes all`() async throws {
        let client = client()
        for url in ["https://a.example/", "https://a.example/b"] { _ = try await get(client, at: url) }
        var post = try HTTPRequest("https://a.example/b")
        post.method = .post
        _ = try await client.send(post)
        #expect(storage.all.map(\.url) == ["https://a.example/"])
        await client.reset()
        #expect(storage.all.isEmpty)
    }

    @Test func `the records for a URL, and for all URLs below one, can be removed`() async throws {
        let cache = ResponseCache(store: .custom(storage))
        let client = HTTPClient(cache: cache, transport: server)
        let urls = ["https://a.example/u", "https://a.example/u/v", "https://a.example/u?w", "https://a.example/uv"]
        for url in urls { _ = try await get(client, at: url) }
        _ = try await get(client, "de", at: urls[0])
        cache.remove(try #require(URL(string: urls[0])))
        #expect(
            storage.all.map(\.url).sorted() == [
                "https://a.example/u/v", "https://a.example/u?w", "https://a.example/uv",
            ])
        cache.removeAll(under: try #require(URL(string: urls[0])))
        #expect(storage.all.map(\.url) == ["https://a.example/uv"])
    }

    @Test func `a removal that fails is reported`() throws {
        let errors = Mutex(0)
        let cache = ResponseCache(store: .custom(BrokenStorage()), onError: { _ in errors.withLock { $0 += 1 } })
        let url = try #require(URL(string: "https://a.example/"))
        cache.remove(url)
        cache.removeAll(under: url)
        #expect(errors.withLock { $0 } == 2)
    }

    @Test func `no request fails because of a storage, and its error is reported`() async throws {
        let errors = Mutex(0)
        let client = client(BrokenStorage()) { error in
            #expect(error is BrokenStorage.Failure)
            errors.withLock { $0 += 1 }
        }
        #expect(try await get(client).text == "- -")
        #expect(errors.withLock { $0 } > 0)
    }
}
