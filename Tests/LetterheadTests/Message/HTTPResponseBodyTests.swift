// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import Synchronization
import Testing

/// A source of pieces that counts what is asked of it. A class, because the body and the test share the counts.
private final class Source: Sendable {
    private let left: Mutex<[Data]>
    private let error: (any Error)?
    let pulls = Atomic<Int>(0)
    let cancels = Atomic<Int>(0)

    init(_ pieces: [String], error: (any Error)? = nil) {
        left = Mutex(pieces.map { Data($0.utf8) })
        self.error = error
    }

    func body(length: Int? = nil) -> HTTPResponseBody {
        HTTPResponseBody(length: length) {
            self.pulls.add(1, ordering: .relaxed)
            if let piece = self.left.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { return piece }
            if let error = self.error { throw error }
            return nil
        } cancel: {
            self.cancels.add(1, ordering: .relaxed)
        }
    }
}

private struct Broken: Error {}

@Suite struct HTTPResponseBodyTests {
    @Test func `a buffered body is read any number of times`() async throws {
        let body = HTTPResponseBody(Data("hello".utf8))
        for _ in 0..<2 {
            #expect(try await body.data() == Data("hello".utf8))
            var pieces: [Data] = []
            for try await piece in body { pieces.append(piece) }
            #expect(pieces == [Data("hello".utf8)])
        }
        #expect(body.length == 5 && body.buffered == Data("hello".utf8))
    }

    @Test func `an empty body has no pieces`() async throws {
        for try await _ in HTTPResponseBody() { Issue.record("a piece of nothing") }
    }

    @Test func `a streamed body is read piece by piece, without empty ones`() async throws {
        let source = Source(["a", "", "b"])
        let body = source.body(length: 2)
        #expect(source.pulls.load(ordering: .relaxed) == 0 && body.buffered == nil && body.length == 2)
        var pieces: [String] = []
        for try await piece in body { pieces.append(String(decoding: piece, as: UTF8.self)) }
        #expect(pieces == ["a", "b"])
        #expect(source.cancels.load(ordering: .relaxed) == 0)
    }

    @Test func `a second iteration of a streamed body throws`() async throws {
        let body = Source(["a"]).body()
        _ = try await body.data()
        await #expect(throws: HTTPBodyError.alreadyRead) { try await body.data() }
    }

    @Test func `a body over its limit throws, and its source is cancelled`() async {
        let source = Source(["abc", "def"])
        let body = source.body()
        await #expect(throws: HTTPBodyError.tooLarge(limit: 5)) { try await body.data(upTo: 5) }
        #expect(source.cancels.load(ordering: .relaxed) == 1)
    }

    @Test func `a body of exactly its limit is accepted`() async throws {
        #expect(try await Source(["abc", "def"]).body().data(upTo: 6).count == 6)
    }

    @Test func `leaving the iteration cancels the source once`() async throws {
        let source = Source(["a", "b"])
        let body = source.body()
        for try await _ in body { break }
        #expect(source.cancels.load(ordering: .relaxed) == 1)
    }

    @Test func `an error of the source reaches the reader, and nothing is read after it`() async throws {
        let source = Source(["a"], error: Broken())
        let body = source.body()
        var iterator = body.makeAsyncIterator()
        #expect(try await iterator.next() == Data("a".utf8))
        await #expect(throws: Broken.self) { try await iterator.next() }
        #expect(try await iterator.next() == nil)
        #expect(source.pulls.load(ordering: .relaxed) == 2)
    }
}
