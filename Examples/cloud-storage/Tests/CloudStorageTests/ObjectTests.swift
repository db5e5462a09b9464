// SPDX-License-Identifier: MIT
import CloudStorage
import Foundation
import Letterhead
import LetterheadTesting
import Testing

@Suite struct ObjectTests {
    @Test func `the checksum of nine digits is the one of the RFC`() {
        var sum = CRC32C()
        sum.add(Data("123456789".utf8))
        #expect(sum.base64 == "4waSgw==")
    }

    @Test(arguments: Store.allCases)
    func `all pages of a listing are read, also an empty one`(kind: Store) async throws {
        try await withStore(kind) { store, server in
            server.enqueue(
                .response(try .json(page("x/1", "a", "b"))),
                .response(try .json(["nextPageToken": "x/2"])),
                .response(try .json(page(nil, "c"))))
            var names: [String] = []
            for try await object in store.objects(in: "zoo", prefix: "2026/") { names.append(object.name) }
            #expect(names == ["a", "b", "c"])
            #expect(server.requests.map { $0.queryValue("pageToken") } == [nil, "x/1", "x/2"])
            #expect(server.requests.allSatisfy { $0.queryValue("prefix") == "2026/" })
        }
    }

    @Test(arguments: Store.allCases)
    func `a listing that repeats a page ends with an error`(kind: Store) async throws {
        try await withStore(kind, answers: { _ in try .json(page("same", "a")) }) { store, _ in
            let error = try await #require(throws: StorageError.self) {
                for try await _ in store.objects(in: "zoo", prefix: nil) {}
            }
            #expect(error.code == .malformed)
        }
    }

    @Test(arguments: Store.allCases)
    func `a name with slashes is one segment`(kind: Store) async throws {
        try await withStore(kind, userProject: "payer") { store, server in
            server.enqueue(
                .response(
                    MockServer.Response(
                        headers: ["Content-Type": "application/json"],
                        body: Data(
                            """
                            {"name": "a/b c?", "bucket": "zoo", "generation": "7", "size": "3", "crc32c": "AAAAAA==",
                             "updated": "2026-01-02T03:04:05.250Z"}
                            """.utf8))))
            let object = try await store.object("a/b c?", in: "zoo")
            #expect(object.updated == Date(timeIntervalSince1970: 1_767_323_045.25))
            #expect(server.requests[0].target == "/storage/v1/b/zoo/o/a%2Fb%20c%3F")
            #expect(server.requests[0].headers["Authorization"] == "Bearer t1")
            #expect(server.requests[0].headers["X-Goog-User-Project"] == "payer")
        }
    }

    @Test(arguments: Store.allCases)
    func `a name that would change the path is refused`(kind: Store) async throws {
        try await withStore(kind) { store, server in
            let error = try await #require(throws: StorageError.self) { _ = try await store.object("..", in: "zoo") }
            #expect(error.code == .local)
            #expect(server.requests.isEmpty)
        }
    }

    @Test(arguments: Store.allCases)
    func `a refusal has the reason of the service`(kind: Store) async throws {
        try await withStore(kind) { store, server in
            let failure = StorageFailure(code: 404, reason: "notFound", message: "No such object: zoo/a")
            server.enqueue(.response(try .json(failure, status: .notFound)))
            let refused = StorageError(.refused, status: 404, reason: "notFound", message: "No such object: zoo/a")
            await #expect(throws: refused) { _ = try await store.object("a", in: "zoo") }
        }
    }

    @Test(arguments: Store.allCases)
    func `a busy service is asked again, and not without end`(kind: Store) async throws {
        try await withStore(kind, answers: { _ in MockServer.Response(status: 503) }) { store, server in
            server.enqueue(
                .response(MockServer.Response(status: 503)), .response(MockServer.Response(status: 429)),
                .closure.fault(.reset, at: .responseStart), .response(try .json(StorageObject("a"))))
            #expect(try await store.object("a", in: "zoo").name == "a")
            let error = try await #require(throws: StorageError.self) { _ = try await store.object("a", in: "zoo") }
            #expect(error.status == 503)
            #expect(server.requests.count == 4 + 5)
        }
    }

    @Test(arguments: Store.allCases)
    func `a response that breaks off is requested again`(kind: Store) async throws {
        try await withStore(kind) { store, server in
            server.enqueue(
                .response(try .json(StorageObject("a"))).fault(.close, at: .responseBody),
                .response(try .json(StorageObject("a"))))
            #expect(try await store.object("a", in: "zoo").name == "a")
        }
    }

    @Test(arguments: Store.allCases)
    func `a body that is no JSON is malformed`(kind: Store) async throws {
        try await withStore(kind, answers: { _ in .text("<html>") }) { store, _ in
            let error = try await #require(throws: StorageError.self) { _ = try await store.object("a", in: "zoo") }
            #expect(error.code == .malformed)
        }
    }

    @Test(arguments: Store.allCases)
    func `a generation is deleted`(kind: Store) async throws {
        try await withStore(kind, answers: { _ in MockServer.Response(status: 204) }) { store, server in
            try await store.delete("a", in: "zoo", generation: "7")
            #expect(server.requests[0].method == .delete)
            #expect(server.requests[0].queryValue("ifGenerationMatch") == "7")
        }
    }
}

/// A page of objects with these names.
private func page(_ next: String?, _ names: String...) -> ObjectPage {
    ObjectPage(items: names.map { StorageObject($0) }, nextPageToken: next)
}

@Suite struct TokenTests {
    @Test(arguments: Store.allCases)
    func `simultaneous requests share one token`(kind: Store) async throws {
        let tokens = CountingTokens()
        try await withStore(kind, tokens: tokens, answers: { _ in try .json(StorageObject("a")) }) { store, _ in
            try await withThrowingTaskGroup(of: StorageObject.self) { group in
                for _ in 0..<8 { group.addTask { try await store.object("a", in: "zoo") } }
                try await group.waitForAll()
            }
            #expect(tokens.count == 1)
        }
    }

    @Test(arguments: Store.allCases)
    func `an old token is replaced before it is used`(kind: Store) async throws {
        let tokens = CountingTokens(life: 30)
        try await withStore(kind, tokens: tokens, answers: { _ in try .json(StorageObject("a")) }) { store, server in
            _ = try await store.object("a", in: "zoo")
            _ = try await store.object("a", in: "zoo")
            #expect(server.requests.map { $0.headers["Authorization"] } == ["Bearer t1", "Bearer t2"])
        }
    }

    @Test(arguments: Store.allCases)
    func `a refused token is replaced once`(kind: Store) async throws {
        let tokens = CountingTokens()
        try await withStore(kind, tokens: tokens, answers: { _ in MockServer.Response(status: 401) }) { store, server in
            server.enqueue(.response(MockServer.Response(status: 401)), .response(try .json(StorageObject("a"))))
            #expect(try await store.object("a", in: "zoo").name == "a")
            #expect(server.requests.map { $0.headers["Authorization"] } == ["Bearer t1", "Bearer t2"])
            let error = try await #require(throws: StorageError.self) { _ = try await store.object("a", in: "zoo") }
            #expect(error.status == 401)
            #expect(tokens.count == 3)
        }
    }

    @Test(arguments: Store.allCases)
    func `without a token, nothing is sent`(kind: Store) async throws {
        try await withStore(kind, tokens: NoTokens()) { store, server in
            let error = try await #require(throws: StorageError.self) { _ = try await store.object("a", in: "zoo") }
            #expect(error.code == .cannotSignIn)
            #expect(server.requests.isEmpty)
        }
    }
}
