// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Synchronization
import Testing

/// Bodies that are still being read when their chain is reset.
@Suite(.timeLimit(.minutes(3))) struct AutocancelStreamTests {
    /// A body that has one piece, and then nothing until its reader's pull is cancelled.
    ///
    /// A class, because the chain and the test share what they see of it.
    private final class Stalling: HTTPLoader {
        let pulls = AsyncStream<Int>.makeStream()
        let ends = Mutex(0)
        private let count = Mutex(0)

        func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
            HTTPResponse(
                request: request, status: .ok,
                body: HTTPResponseBody(length: nil) { [self] in
                    let number = count.withLock { count in
                        count += 1
                        return count
                    }
                    pulls.continuation.yield(number)
                    if number > 1 { try await Task.sleep(for: .seconds(3_600)) }
                    return Data("x".utf8)
                } cancel: { [self] in
                    ends.withLock { $0 += 1 }
                })
        }
    }

    private let stalling = Stalling()
    private let link = Autocancel()

    private func load() async throws -> HTTPResponse {
        try await (link --> stalling).load(try .to("https://a.test"))
    }

    @Test func `a reset ends a body whose next piece is awaited, with .cancelled`() async throws {
        let response = try await load()
        let reader = Task { try await response.body.data() }
        for await pull in stalling.pulls.stream where pull == 2 { break }
        #expect(link.running == 1)
        await (link --> stalling).reset()
        #expect(link.running == 0 && stalling.ends.withLock { $0 } == 1)
        let error = await #expect(throws: HTTPError.self) { try await reader.value }
        #expect(error?.code == .cancelled && !reader.isCancelled && error?.request.id == response.request.id)
    }

    @Test(arguments: [0, 1])
    func `a reset ends a body that is not being read, and the next read reports it`(pieces: Int) async throws {
        let response = try await load()
        var chunks = response.body.makeAsyncIterator()
        for _ in 0..<pieces { _ = try await chunks.next() }
        await (link --> stalling).reset()
        #expect(link.running == 0 && stalling.ends.withLock { $0 } == 1)
        let error = await #expect(throws: HTTPError.self) { try await chunks.next() }
        #expect(error?.code == .cancelled)
        #expect(try await chunks.next() == nil)
    }
}
