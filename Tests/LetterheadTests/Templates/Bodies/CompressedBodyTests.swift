// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import TestKit
import Testing

@Suite struct CompressedBodyTests {
    private static let text = Data(String(repeating: "the same again, ", count: 20_000).utf8)

    @Test func `a compressed body declares its encoding in addition to its own headers`() {
        let body = TextBody("x").compressed()
        #expect(body.additionalHeaders["Content-Encoding"] == "gzip")
        #expect(body.additionalHeaders["Content-Type"] == "text/plain; charset=utf-8")
        #expect(
            TextBody("x", additionalHeaders: ["Content-Encoding": "br"]).compressed()
                .additionalHeaders["Content-Encoding"] == "br, gzip")
    }

    @Test func `the bytes are those of gzip, and the same each time`() throws {
        let body = DataBody(Self.text).compressed()
        let data = try body.encode()
        #expect(data.starts(with: [0x1F, 0x8B, 8]) && data.count < 3000)
        #expect(try body.encode() == data)
        #expect(try body.chunks().length == data.count)
    }

    @Test func `an empty body stays empty`() { #expect(DataBody(Data()).compressed().isEmpty) }

    @Test func `a stream is compressed as it arrives, and is replayable only if the stream is`() async throws {
        let body = StreamBody(length: 200_000) {
            let left = Counter()
            return AsyncStream<Data>(unfolding: { left.next() <= 4 ? noise(50_000) : nil })
        }.compressed()
        #expect(body.contentLength == nil && body.isReplayable)
        let first = try await body.walked()
        #expect(try await body.walked() == first && first.starts(with: [0x1F, 0x8B, 8]))
        #expect(!StreamBody(once: AsyncStream<Data> { $0.finish() }).compressed().isReplayable)
    }

    @Test func `a compressed stream shorter than its declared length is an error`() async {
        let body = StreamBody(length: 3) { AsyncStream<Data> { $0.finish() } }.compressed()
        await #expect(throws: HTTPBodyError.self) { try await body.walked() }
    }

    @Test(arguments: [-1, 0, 10]) func `an invalid level is refused`(level: Int) {
        #expect(throws: HTTPBodyError.self) { try DataBody(Self.text).compressed(level: level).encode() }
        #expect(throws: HTTPBodyError.self) { try DataBody(Self.text).compressed(level: level).chunks() }
    }

    #if os(Linux) || os(macOS)
        @Test func `gunzip restores the body`() async throws {
            let directory = try TemporaryDirectory()
            let file = try directory.file("a.bin", noise(300_000) + Self.text)
            let bodies: [any HTTPBody] = [
                FileBody(at: file).compressed(level: 1), DataBody(try Data(contentsOf: file)).compressed(level: 9),
            ]
            for body in bodies {
                let packed = try directory.file("a.gz", try await body.walked())
                let unpacked = try await ChildProcess.output(of: "gzip", ["-dc", packed.path])
                #expect(unpacked == noise(300_000) + Self.text)
            }
        }
    #endif
}
