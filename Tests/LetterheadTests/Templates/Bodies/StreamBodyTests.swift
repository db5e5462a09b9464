// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import TestKit
import Testing

@Suite struct StreamBodyTests {
    private func stream(_ pieces: [String]) -> AsyncStream<Data> {
        AsyncStream { continuation in
            for piece in pieces { continuation.yield(Data(piece.utf8)) }
            continuation.finish()
        }
    }

    @Test func `a stream that a closure creates can be sent again`() async throws {
        let body = StreamBody(length: 4, contentType: "text/plain") { stream(["ab", "cd"]) }
        #expect(body.contentLength == 4 && body.isReplayable && body.additionalHeaders["Content-Type"] == "text/plain")
        #expect(try await body.walked() == Data("abcd".utf8))
        #expect(try await body.walked() == Data("abcd".utf8))
    }

    @Test func `a one-shot stream is sent once, and the second time is an error`() async throws {
        let body = StreamBody(once: stream(["ab"]))
        #expect(body.contentLength == nil && !body.isReplayable)
        #expect(try await body.walked() == Data("ab".utf8))
        await #expect(throws: HTTPBodyError.self) { try await body.walked() }
    }

    @Test(arguments: [3, 5]) func `a stream longer or shorter than its declared length is an error`(length: Int) async {
        await #expect(throws: HTTPBodyError.self) {
            try await StreamBody(length: length) { stream(["ab", "cd"]) }.walked()
        }
    }

    @Test func `a negative length is refused before the stream is created`() {
        #expect(throws: HTTPBodyError.self) { try StreamBody(length: -1) { stream([]) }.chunks() }
    }

    @Test func `an error of the stream is thrown`() async {
        let body = StreamBody {
            AsyncThrowingStream<Data, any Error> { $0.finish(throwing: CocoaError(.fileReadUnknown)) }
        }
        await #expect(throws: CocoaError.self) { try await body.walked() }
    }

    @Test func `an error of the closure that creates the stream is thrown`() async {
        let body = StreamBody { () throws -> AsyncStream<Data> in throw CocoaError(.fileReadUnknown) }
        await #expect(throws: CocoaError.self) { try await body.walked() }
    }

    @Test func `the next piece is read only when it is requested`() async throws {
        let count = Counter()
        let body = StreamBody { AsyncStream<Data>(unfolding: { Data([UInt8(truncatingIfNeeded: count.next())]) }) }
        var walk = try body.chunks().makeAsyncIterator()
        #expect(try await walk.next() == Data([1]))
        #expect(try await walk.next() == Data([2]))
        #expect(count.value == 2)
    }

    @Test func `the pieces of a collection can be sent again`() async throws {
        let body = StreamBody([Data("ab".utf8), Data(), Data("cd".utf8)], length: 4, contentType: "text/plain")
        #expect(body.isReplayable && body.contentLength == 4 && body.additionalHeaders["Content-Type"] == "text/plain")
        for _ in 1...2 { #expect(try await body.walked() == Data("abcd".utf8)) }
    }

    @Test func `the pieces of any other sequence are sent once`() async throws {
        let body = StreamBody(Countdown(left: 3))
        #expect(!body.isReplayable)
        #expect(try await body.walked() == Data([3, 2, 1]))
        await #expect(throws: HTTPBodyError.self) { try await body.walked() }
    }

    #if Foundation || canImport(Darwin)
        @Test func `a stream of Foundation is sent once, in order`() async throws {
            let data = noise(200_000)
            let body = StreamBody(InputStream(data: data), length: data.count)
            #expect(!body.isReplayable && body.contentLength == data.count)
            #expect(try await body.walked() == data)
            await #expect(throws: HTTPBodyError.self) { try await body.walked() }
        }

        @Test func `a stream of Foundation that cannot be read is an error`() async throws {
            let missing = URL(filePath: "/missing/\(UUID().uuidString)")
            let body = StreamBody(try #require(InputStream(url: missing)))
            let error = await #expect(throws: HTTPBodyError.self) { try await body.walked() }
            #expect(error?.description.contains("cannot be read") == true)
        }
    #endif

    private struct Countdown: Sequence, IteratorProtocol, Sendable {
        var left: UInt8

        mutating func next() -> Data? {
            guard left > 0 else { return nil }
            left -= 1
            return Data([left + 1])
        }
    }
}
