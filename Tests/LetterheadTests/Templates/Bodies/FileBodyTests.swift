// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import TestKit
import Testing

@Suite struct FileBodyTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    @Test(arguments: [0, 1, 262_144, 700_001]) func `a file is read in pieces of at most 256 KiB`(size: Int)
        async throws
    {
        let data = noise(size)
        let body = FileBody(at: try directory.file("a.png", data))
        #expect(body.contentLength == size && body.additionalHeaders["Content-Type"] == "image/png")
        var pieces: [Data] = []
        for try await piece in try body.chunks() { pieces.append(piece) }
        #expect(pieces.allSatisfy { $0.count <= 262_144 } && Data(pieces.joined()) == data)
        #expect(try body.encode() == data)
        #expect(try await body.walked() == data)
    }

    @Test(arguments: ["missing", "missing/deeper", ""])
    func `a path without a file is refused before anything is sent`(name: String) {
        let url = directory.url.appendingPathComponent(name)
        let error = #expect(throws: HTTPBodyError.self) { try FileBody(at: url).chunks() }
        #expect(error?.file == url && FileBody(at: url).contentLength == nil)
    }

    @Test func `a pipe is refused without waiting for it`() throws {
        let url = directory.url.appendingPathComponent("pipe")
        #expect(mkfifo(url.path, 0o600) == 0)
        #expect(throws: HTTPBodyError.self) { try FileBody(at: url).chunks() }
        #expect(throws: HTTPBodyError.self) { try FileBody(at: url).encode() }
    }

    @Test(arguments: ["file:///dev/zero", "https://example.com/a"])
    func `a device, and a URL that is not a file URL, are refused`(text: String) throws {
        let url = try #require(URL(string: text))
        #expect(throws: HTTPBodyError.self) { try FileBody(at: url).chunks() }
    }

    @Test(arguments: [99_999, 100_001])
    func `a file that changes its size before it is opened is an error`(size: Int) async throws {
        let url = try directory.file("a.bin", noise(100_000))
        var walk = try FileBody(at: url).chunks().makeAsyncIterator()
        _ = try directory.file("a.bin", noise(size))
        await #expect(throws: HTTPBodyError.self) { try await walk.next() }
    }

    @Test(arguments: [300_000, 400_001])
    func `a file that changes its size while it is sent is an error`(size: Int) async throws {
        let url = try directory.file("a.bin", noise(400_000))
        var walk = try FileBody(at: url).chunks().makeAsyncIterator()
        #expect(try await walk.next()?.count == 262_144)
        let handle = try FileHandle(forWritingTo: url)
        try handle.truncate(atOffset: UInt64(size))
        try handle.close()
        await #expect(throws: HTTPBodyError.self) { while try await walk.next() != nil {} }
    }

    @Test(arguments: [
        ("a.PNG", "image/png"), ("a.tar.gz", "application/gzip"), ("noext", "application/octet-stream"),
        (".png", "application/octet-stream"), ("a.unknown", "application/octet-stream"),
        ("dir.png/a", "application/octet-stream"), ("a.", "application/octet-stream"),
    ]) func `the media type is that of the extension`(name: String, type: String) {
        #expect(MediaType(filename: name).description == type)
    }

    #if os(Linux)
        @Test func `a file without a known size is refused, and not sent empty`() async throws {
            let body = FileBody(at: URL(filePath: "/proc/version"))
            let error = #expect(throws: HTTPBodyError.self) { try body.encode() }
            #expect(error.map { "\($0)" }?.contains("size") == true)
            var walk = try body.chunks().makeAsyncIterator()
            await #expect(throws: HTTPBodyError.self) { while try await walk.next() != nil {} }
        }
    #endif

    @Test(arguments: [0..<0, 0..<100_000, 5..<6, 65_000..<99_999])
    func `a range of a file is sent with its length`(range: Range<Int>) async throws {
        let body = FileBody(at: try directory.file("a.png", noise(100_000)), range: range)
        #expect(body.contentLength == range.count && body.additionalHeaders["Content-Type"] == "image/png")
        #expect(try body.encode() == noise(100_000)[range])
        for _ in 1...2 { #expect(try await body.walked() == noise(100_000)[range]) }
    }

    @Test(arguments: [-1..<1, 0..<4, 4..<5, 0..<Int.max, Int.min..<Int.max])
    func `a range that is not in the file is refused before anything is sent`(range: Range<Int>) throws {
        let body = FileBody(at: try directory.file("a", Data([1, 2, 3])), range: range)
        let error = #expect(throws: HTTPBodyError.self) { try body.chunks() }
        #expect(error?.description.contains("the range") == true && body.contentLength == nil)
        #expect(throws: HTTPBodyError.self) { try body.encode() }
    }

    @Test func `a file of which a range is sent may grow, but not shrink`() async throws {
        let url = try directory.file("a", Data([1, 2, 3]))
        let chunks = try FileBody(at: url, range: 1..<3).chunks()
        try Data([1, 2, 3, 4]).write(to: url)
        var walk = chunks.makeAsyncIterator()
        #expect(try await walk.next() == Data([2, 3]))
        let later = try FileBody(at: url, range: 1..<3).chunks()
        try Data([1, 2]).write(to: url)
        var other = later.makeAsyncIterator()
        await #expect(throws: HTTPBodyError.self) { try await other.next() }
    }
}
