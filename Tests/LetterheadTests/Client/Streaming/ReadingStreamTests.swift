// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

/// An `AsyncThrowingStream` that reads a sequence.
@Suite(.timeLimit(.minutes(1))) struct ReadingStreamTests {
    private struct Broken: Error {}

    /// Counts the pieces that were pulled, and whether the body was dropped.
    private struct Source: Sendable {
        let pulls = Observed(0)
        let isDropped = Observed(false)

        var body: HTTPResponseBody {
            HTTPResponseBody(
                length: nil,
                pull: { [pulls] in
                    pulls.change { $0 += 1 }
                    return Data("\(pulls.value)\n".utf8)
                }, cancel: { [isDropped] in isDropped.change { $0 = true } })
        }
    }

    @Test func `it has the elements of the sequence, and its error`() async throws {
        let whole = AsyncThrowingStream(reading: StreamedBody.of("a\nb\nc").lines)
        #expect(try await whole.all() == ["a", "b", "c"])
        let body = StreamedBody.of([Data("a\n".utf8)], failing: Broken())
        var iterator = AsyncThrowingStream(reading: body.lines.map { $0 + "!" }).makeAsyncIterator()
        #expect(try await iterator.next() == "a!")
        await #expect(throws: Broken.self) { try await iterator.next() }
        await #expect(throws: HTTPBodyError.alreadyRead) { try await iterator.next() }
    }

    @Test func `it reads nothing before its reader asks, and nothing ahead`() async throws {
        let source = Source()
        var iterator = AsyncThrowingStream(reading: source.body).makeAsyncIterator()
        #expect(source.pulls.value == 0)
        for count in 1...3 {
            _ = try await iterator.next()
            #expect(source.pulls.value == count)
        }
    }

    @Test func `releasing it drops the body`() async throws {
        let source = Source()
        var stream: AsyncThrowingStream<Data, any Error>? = AsyncThrowingStream(reading: source.body)
        if let stream { for try await _ in stream { break } }
        stream = nil
        await source.isDropped.wait { $0 }
    }

    @Test func `a read in parallel is an error, and the first one continues`() async throws {
        let (begun, gate) = (Observed(0), Observed(false))
        let body = HTTPResponseBody(
            length: nil,
            pull: {
                begun.change { $0 += 1 }
                await gate.wait { $0 }
                return begun.value < 3 ? Data([1]) : nil
            })
        let stream = AsyncThrowingStream(reading: body)
        let first = Task { try await stream.all() }
        await begun.wait { $0 == 1 }
        await #expect(throws: HTTPBodyError.alreadyRead) { for try await _ in stream {} }
        gate.change { $0 = true }
        #expect(try await first.value == [Data([1]), Data([1])])
    }
}
