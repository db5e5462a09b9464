// SPDX-License-Identifier: MIT
import Foundation
import LetterheadTesting
import Synchronization
import Testing

@testable import Letterhead
@testable import LetterheadCaching

@Suite struct FileCacheTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "letterhead-\(UUID())")

    private func remove() { try? FileManager.default.removeItem(at: folder) }

    private func files(_ suffix: String) throws -> [URL] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(suffix) }
            .map { folder.appending(path: $0) }
    }

    @Test func `responses survive the client, in files that only the owner can read and that contain no secret name`()
        async throws
    {
        defer { remove() }
        let scene = CacheScene.counting("max-age=60")
        let client = scene.client(scene.cache(try .files(in: folder, bytes: 1 << 20)))
        _ = try await client.get("https://a.example/?token=s3cret") { $0.headers[.authorization] = "Bearer t0ken" }
        let again = scene.client(scene.cache(try .files(in: folder, bytes: 1 << 20)))
        let hit = try await again.get("https://a.example/?token=s3cret") { $0.headers[.authorization] = "Bearer t0ken" }
        #expect(hit.cache == .hit && hit.text == "body 1")
        #expect(try await again.get("https://a.example/?token=s3cret").cache == .stored)
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) + ["."] {
            #expect(!path.contains("s3cret") && !path.contains("t0ken") && !path.contains("example"))
            let facts = try FileManager.default.attributesOfItem(atPath: folder.appending(path: path).path)
            let mode = (facts[.posixPermissions] as? NSNumber)?.intValue
            #expect(mode == (facts[.type] as? FileAttributeType == .typeDirectory ? 0o700 : 0o600), "\(path)")
        }
        for file in try files("") where try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true {
            #expect(try Data(contentsOf: file).range(of: Data("t0ken".utf8)) == nil)
        }
    }

    @Test(arguments: [Int64.min, .min + 1, -1 << 50, 1 << 50, .max - 1, .max])
    func `a record whose times cannot be calculated with counts as missing`(time: Int64) {
        for (request, response) in [(time, 0), (0, time), (time, time)] as [(Int64, Int64)] {
            let head = CachedHead(status: 200, headers: [:], requestTime: request, responseTime: response)
            let file = FileCacheHead(url: "https://a.example/", head: head, bodyCount: 0, bodyChecksum: 0)
            #expect(FileCacheHead(Array(file.data)) == nil)
        }
    }

    @Test func `a file from the far past or future is not an error`() async throws {
        defer { remove() }
        let scene = CacheScene.counting("max-age=60")
        _ = try await scene.client(scene.cache(try .files(in: folder, bytes: 1 << 20))).get()
        for time in [-1e10, 1.5e10, 1e12] {
            for file in try files(".head") + files(".body") {
                try FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSince1970: time)], ofItemAtPath: file.path)
            }
            let client = scene.client(scene.cache(try .files(in: folder, bytes: 1 << 20)))
            #expect(try await client.get().cache == .hit)
        }
    }

    @Test func `secret fields that Vary names are stored as a hash`() async throws {
        defer { remove() }
        let scene = CacheScene { request in
            HTTPResponse(
                request: request, status: .ok,
                headers: ["Cache-Control": "max-age=60", "Vary": "Cookie, Authorization, X-Plain"],
                body: HTTPResponseBody(Data((request.headers["Cookie"] ?? "none").utf8.reversed())))
        }
        let client = scene.client(scene.cache(try .files(in: folder, bytes: 1 << 20)))
        for cookie in ["sid=c00kie", "sid=0ther"] {
            let change = { (request: inout HTTPRequest) in
                request.headers["Cookie"] = cookie
                request.headers["Authorization"] = "Bearer t0ken"
                request.headers["X-Plain"] = "plain"
            }
            #expect(try await client.get("https://a.example/", change).cache == .stored)
            let hit = try await client.get("https://a.example/", change)
            #expect(hit.cache == .hit && hit.text == String(cookie.reversed()))
        }
        var all = Data()
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path) {
            all += (try? Data(contentsOf: folder.appending(path: path))) ?? Data()
        }
        for secret in ["c00kie", "0ther", "t0ken"] { #expect(all.range(of: Data(secret.utf8)) == nil, "\(secret)") }
        #expect(all.range(of: Data("plain".utf8)) != nil)
    }

    @Test(arguments: [".head", ".body"])
    func `a damaged byte makes an entry a miss, and is reported once`(suffix: String) async throws {
        defer { remove() }
        let scene = CacheScene.counting("max-age=60")
        let client = scene.client(scene.cache(try .files(in: folder, bytes: 1 << 20)))
        _ = try await client.get()
        let file = try #require(try files(suffix).first)
        let intact = try Data(contentsOf: file)
        var reports = 0
        for place in stride(from: 0, to: intact.count, by: 5) {
            var damaged = intact
            damaged[place] ^= 0x10
            try #require(try files(suffix).first).withUnsafeFileSystemRepresentation { path in
                damaged.withUnsafeBytes { bytes in
                    let descriptor = open(path.unsafelyUnwrapped, O_WRONLY | O_TRUNC)
                    _ = write(descriptor, bytes.baseAddress, bytes.count)
                    close(descriptor)
                }
            }
            #expect(try await client.get().cache == .stored)
            reports += 1
            #expect(scene.errors.withLock { $0.count } == reports)
        }
        #expect(try await client.get().cache == .hit)
    }

    @Test func `a file of another version is removed, and is no error`() async throws {
        defer { remove() }
        let scene = CacheScene.counting("max-age=60")
        let client = scene.client(scene.cache(try .files(in: folder, bytes: 1 << 20)))
        _ = try await client.get()
        let file = try #require(try files(".head").first)
        var earlier = try Data(contentsOf: file)
        #expect(earlier.starts(with: Data("LHC4".utf8)))
        earlier[3] = UInt8(ascii: "1")
        try earlier.write(to: file)
        #expect(try await client.get().cache == .stored)
        #expect(scene.errors.withLock { $0 } == [] && !FileManager.default.fileExists(atPath: file.path))
    }

    @Test(arguments: [".head", ".body"])
    func `a truncated or missing file makes an entry a miss`(suffix: String) async throws {
        defer { remove() }
        let scene = CacheScene.counting("max-age=60")
        let client = scene.client(scene.cache(try .files(in: folder, bytes: 1 << 20)))
        _ = try await client.get()
        truncate(try #require(try files(suffix).first).path, 3)
        #expect(try await client.get().cache == .stored)
        try FileManager.default.removeItem(at: try #require(try files(suffix).first))
        #expect(try await client.get().cache == .stored)
        #expect(try await client.get().cache == .hit && files(".head").count == 1 && files(".body").count == 1)
    }

    @Test func `files that an interrupted program left are removed after an hour`() throws {
        defer { remove() }
        _ = try FileCacheStorage(folder: folder, bytes: 1000)
        let shard = folder.appending(path: "0a")
        try FileManager.default.createDirectory(at: shard, withIntermediateDirectories: true)
        for (name, age) in [("1.part", 7200.0), ("2.body", 7200), ("3.part", 0), ("4.body", 0)] {
            let file = shard.appending(path: name)
            try Data("x".utf8).write(to: file)
            try FileManager.default.setAttributes([.modificationDate: Date() - age], ofItemAtPath: file.path)
        }
        let storage = try FileCacheStorage(folder: folder, bytes: 1000)
        #expect(storage.size.entries == 0)
        #expect(try Set(files("").map(\.lastPathComponent)) == ["0a", "3.part", "4.body"])
    }

    @Test func `a body of several megabytes is read in pieces`() async throws {
        defer { remove() }
        let body = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let scene = CacheScene { request in
            HTTPResponse(
                request: request, status: .ok, headers: ["Cache-Control": "max-age=60"], body: HTTPResponseBody(body))
        }
        let client = scene.client(scene.cache(try .files(in: folder, bytes: 100 << 20)))
        _ = try await client.send(try HTTPRequest("https://a.example/"))
        let buffered = try await client.send(try HTTPRequest("https://a.example/"))
        #expect(buffered.cache == .hit && buffered.body.buffered == body)
        let hit = try await client.stream(try HTTPRequest("https://a.example/"))
        #expect(hit.cache == .hit && hit.body.buffered == nil && hit.body.length == body.count)
        #expect(try await hit.body.data() == body)
    }

    @Test func `a folder that cannot be used is an error when the store is created`() throws {
        #expect(throws: (any Error).self) { try ResponseCache.Store.files(in: URL(filePath: "/proc/cache"), bytes: 1) }
        let file = FileManager.default.temporaryDirectory.appending(path: "letterhead-\(UUID())")
        try Data().write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(throws: (any Error).self) { try ResponseCache.Store.files(in: file, bytes: 1) }
    }

    @Test func `a head is read as it was written, and a name too`() throws {
        let head = CachedHead(
            status: 404, headers: ["A": "b", "Ü": "é"], requestTime: -1, responseTime: CachedHead.times.upperBound,
            varied: [.init(name: "a", value: nil), .init(name: "b", value: "")])
        let file = FileCacheHead(url: "https://a.example/ü", head: head, bodyCount: 5, bodyChecksum: .max)
        #expect(FileCacheHead(Array(file.data)) == file)
        let name = FileCacheName(CacheKey(url: "u", identity: "i"), varied: head.varied, body: 1, bodyCount: 300)
        let text = Array(name.head.utf8)
        #expect(text.withUnsafeBufferPointer { FileCacheName($0) } == name)
        for bad in ["", ".head", "1-2.head", name.head + "x", "g" + name.head, "00" + name.head] {
            #expect(Array(bad.utf8).withUnsafeBufferPointer { FileCacheName($0) } == nil, "\(bad)")
        }
    }

    @Test func `a checksum does not depend on the pieces`() {
        let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        for size in [1, 3, 7, 8, 9, 64, 999] {
            var checksum = CacheChecksum()
            for start in stride(from: 0, to: bytes.count, by: size) {
                checksum.append(bytes[start..<min(start + size, bytes.count)])
            }
            #expect(checksum.value == CacheChecksum.of(bytes))
        }
        #expect(CacheChecksum.of([0]) != CacheChecksum.of([0, 0]))
    }
}
