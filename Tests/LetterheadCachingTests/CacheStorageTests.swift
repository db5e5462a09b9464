// SPDX-License-Identifier: MIT
import Foundation
import LetterheadTesting
import Testing

@testable import Letterhead
@testable import LetterheadCaching

@Suite struct CacheStorageTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "letterhead-\(UUID())")

    private func head(_ varied: [CachedHead.VariedField] = []) -> CachedHead {
        CachedHead(status: 200, headers: ["A": "b"], requestTime: 1, responseTime: 2, varied: varied)
    }

    private func store(_ storage: any CacheStorage, _ url: String, _ body: Data, _ head: CachedHead? = nil) throws {
        let writer = try storage.write(head ?? self.head(), for: CacheKey(url: url, identity: ""))
        _ = try writer.append(body)
        try writer.finish()
    }

    private func body(_ storage: any CacheStorage, _ url: String, _ fields: [String: String] = [:]) throws -> Data? {
        let entry = try storage.find(CacheKey(url: url, identity: "")) { names in
            names.map { CachedHead.VariedField(name: $0, value: fields[$0]) }
        }
        if case .data(let data) = entry?.body { return data }
        return nil
    }

    @Test(arguments: CacheStoreKind.allCases)
    func `the least recently used responses are removed over the limit, which is kept within 5 percent`(
        kind: CacheStoreKind
    ) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let storage = try kind.make(bytes: 200_000, in: folder).storage
        for number in 0..<100 {
            try store(storage, "u\(number)", Data(count: 5_000))
            _ = try body(storage, "u0")
        }
        #expect(try body(storage, "u0") != nil && body(storage, "u99") != nil && body(storage, "u1") == nil)
        if case let memory as MemoryCacheStorage = storage { #expect(memory.size.bytes <= 200_000) }
        if case let files as FileCacheStorage = storage {
            #expect(files.size.bytes <= 200_000)
            #expect(try diskBytes() <= 210_000)
        }
    }

    @Test func `the number of responses in memory is limited`() throws {
        let storage = MemoryCacheStorage(bytes: 1 << 20, entries: 10)
        for number in 0..<50 { try store(storage, "u\(number)", Data()) }
        #expect(storage.size.entries <= 10)
        #expect(try body(storage, "u49") != nil)
        for (bytes, entries) in [(0, 10), (10, 0), (-1, -1)] {
            let empty = MemoryCacheStorage(bytes: bytes, entries: entries)
            try store(empty, "u", Data())
            #expect(empty.size.entries == 0)
        }
    }

    @Test(.timeLimit(.minutes(2)), arguments: CacheStoreKind.allCases)
    func `1,000 variants of one URL are found by their fields`(kind: CacheStoreKind) throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let storage = try kind.make(in: folder).storage
        for number in 0..<1000 {
            let fields = [CachedHead.VariedField(name: "n", value: number == 0 ? nil : "\(number)")]
            try store(storage, "u", Data("\(number)".utf8), head(fields))
        }
        for number in stride(from: 1, to: 1000, by: 7) {
            #expect(try body(storage, "u", ["n": "\(number)"]) == Data("\(number)".utf8))
        }
        #expect(try body(storage, "u") == Data("0".utf8) && body(storage, "u", ["n": "x"]) == nil)
        try storage.remove(url: "u")
        #expect(try body(storage, "u") == nil)
    }

    @Test(arguments: CacheStoreKind.allCases)
    func `a response replaces the one with the same key, and keys with other credentials stay`(kind: CacheStoreKind)
        throws
    {
        defer { try? FileManager.default.removeItem(at: folder) }
        let storage = try kind.make(in: folder).storage
        try store(storage, "u", Data("1".utf8))
        try store(storage, "u", Data("2".utf8))
        #expect(try body(storage, "u") == Data("2".utf8))
        #expect(try storage.find(CacheKey(url: "u", identity: "other")) { _ in [] } == nil)
        let entry = try #require(try storage.find(CacheKey(url: "u", identity: "")) { _ in [] })
        var head = entry.head
        head.headers["A"] = "new"
        _ = try storage.update(entry, head: head)
        #expect(try storage.find(entry.key) { _ in [] }?.head.headers["A"] == "new")
        try storage.remove(entry)
        #expect(try body(storage, "u") == nil)
        _ = try storage.update(entry, head: head)
        #expect(try body(storage, "u") == nil)
    }

    private func diskBytes() throws -> Int {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).reduce(0) { sum, path in
            let facts = try FileManager.default.attributesOfItem(atPath: folder.appending(path: path).path)
            return sum
                + (facts[.type] as? FileAttributeType == .typeRegular ? (facts[.size] as? NSNumber)?.intValue ?? 0 : 0)
        }
    }
}
