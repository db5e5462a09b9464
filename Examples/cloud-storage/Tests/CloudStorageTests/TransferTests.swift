// SPDX-License-Identifier: MIT
import CloudStorage
import Foundation
import Letterhead
import LetterheadTesting
import Synchronization
import Testing

@Suite struct DownloadTests {
    private let content = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 8) })

    @Test(arguments: Store.allCases)
    func `the content of a generation is saved`(kind: Store) async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "a")
            try await withStore(kind, answers: { [content] in .content(content, for: $0) }) { store, server in
                try await store.download(StorageObject("a", content), to: file)
                #expect(server.requests[0].queryValue("generation") == "7")
            }
            #expect(try Data(contentsOf: file) == content)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a"])
        }
    }

    @Test(arguments: Store.allCases)
    func `a lost connection is continued`(kind: Store) async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "a")
            try await withStore(kind, answers: server(.cut(100_000), .whole)) { store, server in
                try await store.download(StorageObject("a", content), to: file)
                #expect(server.requests.map { $0.headers.contains(.range) } == [false, true])
            }
            #expect(try Data(contentsOf: file) == content)
        }
    }

    @Test(arguments: Store.allCases)
    func `a later call continues, and the file stays until then`(kind: Store) async throws {
        try await withFolder { folder in
            let (file, object) = (folder.appending(path: "a"), StorageObject("a", content))
            try Data("old".utf8).write(to: file)
            try await withStore(kind, answers: server(.cut(100_000), .refusal, .whole)) { store, server in
                await #expect(throws: StorageError.self) { try await store.download(object, to: file) }
                #expect(try Data(contentsOf: file) == Data("old".utf8))
                try await store.download(object, to: file)
                #expect(server.requests.map { $0.headers.contains(.range) } == [false, true, true])
            }
            #expect(try Data(contentsOf: file) == content)
        }
    }

    @Test(arguments: Store.allCases)
    func `changed content is loaded from its beginning`(kind: Store) async throws {
        try await withFolder { folder in
            let (file, object) = (folder.appending(path: "a"), StorageObject("a", content))
            try await withStore(kind, answers: server(.cut(100_000), .refusal, .other)) { store, _ in
                await #expect(throws: StorageError.self) { try await store.download(object, to: file) }
                try await store.download(object, to: file)
            }
            #expect(try Data(contentsOf: file) == content)
        }
    }

    @Test(arguments: Store.allCases)
    func `damaged content replaces nothing`(kind: Store) async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "a")
            try Data("old".utf8).write(to: file)
            try await withStore(kind, answers: { [content] in .content(content, for: $0) }) { store, _ in
                let error = try await #require(throws: StorageError.self) {
                    try await store.download(StorageObject("a", content, crc32c: "AAAAAA=="), to: file)
                }
                #expect(error.code == .damaged)
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a"])
            #expect(try Data(contentsOf: file) == Data("old".utf8))
        }
    }

    /// How the server responds to one request.
    private enum Step { case cut(Int), whole, other, refusal }

    /// Responds with these steps in order.
    private func server(_ steps: Step...) -> MockServer.Closure {
        let left = Left(steps)
        return { [content] request in
            switch left.next() {
            case .cut(let count): .content(content, for: request, cutAt: count)
            case .whole: .content(content, for: request)
            case .other: .content(content, for: request, eTag: "\"other\"")
            case .refusal, nil: MockServer.Response(status: 403)
            }
        }
    }

    private final class Left: Sendable {
        private let steps: Mutex<[Step]>
        init(_ steps: [Step]) { self.steps = Mutex(steps) }
        func next() -> Step? { steps.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
    }
}

@Suite struct UploadTests {
    @Test(arguments: Store.allCases)
    func `metadata with the checksum and the content are sent as related parts`(kind: Store) async throws {
        try await withFile { file in
            try await withStore(kind, answers: { _ in try .json(StorageObject("b/a")) }) { store, server in
                let object = try await store.upload(
                    file, as: "b/a", in: "zoo", contentType: "text/plain", replacing: nil)
                #expect(object.name == "b/a")
                let request = server.requests[0]
                #expect(request.path == "/upload/storage/v1/b/zoo/o")
                #expect(request.queryValue("uploadType") == "multipart")
                #expect(request.headers[.contentLength] == "\(request.body.count)")
                #expect(request.headers[.contentType]?.hasPrefix("multipart/related; boundary=") == true)
                let parts = String(decoding: request.body, as: UTF8.self).components(separatedBy: "\r\n\r\n")
                let draft = try JSONDecoder().decode(
                    ObjectDraft.self, from: Data(parts[1].prefix { $0 != "\r\n" }.utf8))
                #expect(draft == ObjectDraft(name: "b/a", contentType: "text/plain", crc32c: "4waSgw=="))
                #expect(parts[2].hasPrefix("123456789\r\n--"))
            }
        }
    }

    @Test(arguments: Store.allCases)
    func `an upload is retried only with a condition`(kind: Store) async throws {
        try await withFile { file in
            try await withStore(kind, answers: { _ in try .json(StorageObject("a")) }) { store, server in
                server.enqueue(.response(MockServer.Response(status: 503)))
                _ = try await store.upload(file, as: "a", in: "zoo", contentType: "text/plain", replacing: "0")
                #expect(server.requests.map { $0.queryValue("ifGenerationMatch") } == ["0", "0"])
                #expect(server.requests[0].body == server.requests[1].body)
                server.enqueue(.response(MockServer.Response(status: 503)))
                await #expect(throws: StorageError.self) {
                    _ = try await store.upload(file, as: "a", in: "zoo", contentType: "text/plain", replacing: nil)
                }
                #expect(server.requests.count == 3)
            }
        }
    }

    @Test(arguments: Store.allCases)
    func `a missing file is found before anything is sent`(kind: Store) async throws {
        try await withFolder { folder in
            try await withStore(kind) { store, server in
                let error = try await #require(throws: StorageError.self) {
                    _ = try await store.upload(
                        folder.appending(path: "none"), as: "a", in: "zoo", contentType: "a/b", replacing: nil)
                }
                #expect(error.code == .local)
                #expect(server.requests.isEmpty)
            }
        }
    }

    private func withFile(_ test: (URL) async throws -> Void) async throws {
        try await withFolder { folder in
            let file = folder.appending(path: "digits.txt")
            try Data("123456789".utf8).write(to: file)
            try await test(file)
        }
    }
}

@Suite struct OperationTests {
    private static let name = "projects/_/buckets/zoo/operations/op-1"

    @Test(arguments: Store.allCases)
    func `a restore ends with its operation`(kind: Store) async throws {
        try await withStore(kind) { store, server in
            var running = try MockServer.Response.json(StorageOperation(name: Self.name))
            running.headers[.eTag] = "\"1\""
            server.enqueue(
                .response(try .json(StorageOperation(name: Self.name))), .response(running),
                .response(MockServer.Response(status: 304)),
                .response(try .json(StorageOperation(name: Self.name, done: true))))
            try await store.restore(["2026/**"], in: "zoo", polling: .milliseconds(1))
            #expect(server.requests.map(\.path).first == "/storage/v1/b/zoo/o/bulkRestore")
            #expect(server.requests.map(\.path).last == "/storage/v1/b/zoo/operations/op-1")
            #expect(server.requests.map { $0.headers[.ifNoneMatch] } == [nil, nil, "\"1\"", "\"1\""])
            let sent = try JSONDecoder().decode(RestoreRequest.self, from: server.requests[0].body)
            #expect(sent == RestoreRequest(matchGlobs: ["2026/**"]))
        }
    }

    @Test(arguments: Store.allCases)
    func `the failure of an operation is an error`(kind: Store) async throws {
        try await withStore(kind) { store, server in
            let failure = StorageOperation.Failure(code: 8, message: "out of quota")
            server.enqueue(.response(try .json(StorageOperation(name: Self.name, done: true, error: failure))))
            await #expect(throws: StorageError(.operationFailed, message: "out of quota")) {
                try await store.restore(["*"], in: "zoo", polling: .milliseconds(1))
            }
        }
    }
}
