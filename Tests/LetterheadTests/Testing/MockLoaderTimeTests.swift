// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

/// The time limits of a request hold over a mock, by the clock that a test moves.
@Suite(.timeLimit(.minutes(3))) struct MockLoaderTimeTests {
    private let clock = TestClock()

    /// A mock with a handler that waits until its task is cancelled, or continues to wait after that.
    private func silent(isStubborn: Bool = false) -> MockLoader {
        MockLoader(clock: clock) { request in
            let (never, continuation) = AsyncStream.makeStream(of: Void.self)
            if isStubborn {
                await Task { for await _ in never {} }.value
            } else {
                for await _ in never {}
            }
            withExtendedLifetime(continuation) {}
            return .ok(request)
        }
    }

    private func failure(_ loader: any HTTPLoader, after time: Duration, _ change: (inout HTTPRequest) -> Void)
        async throws
        -> HTTPError
    {
        let sent = try HTTPRequest.to("https://h/p").with(change)
        let task = Task { try await loader.load(sent) }
        await clock.waitForSleepers(1)
        clock.advance(by: time)
        return try await #require(throws: HTTPError.self) { try await task.value }
    }

    @Test(arguments: [false, true])
    func `a timeout ends a load whose handler does not return`(isStubborn: Bool) async throws {
        let error = try await failure(silent(isStubborn: isStubborn), after: .seconds(5)) { $0.timeout = .seconds(5) }
        #expect(error.code == .timedOut && error.message == "the attempt timeout passed while waiting for the response")
    }

    @Test func `a deadline ends a load whose handler does not return`() async throws {
        let error = try await failure(Deadline(clock: clock) --> silent(), after: .seconds(5)) {
            $0.deadline = .seconds(5)
        }
        #expect(error.code == .timedOut && error.message == "the deadline passed while waiting for the response")
    }

    @Test func `an idle timeout ends a load whose handler does not return`() async throws {
        let error = try await failure(silent(), after: .seconds(5)) {
            $0.idleTimeout = .seconds(5)
            $0.timeout = .seconds(50)
        }
        #expect(error.message == "the idle timeout passed while waiting for the response")
    }

    @Test func `a response before the limit is returned`() async throws {
        var request = try HTTPRequest.to("https://h/p")
        (request.timeout, request.idleTimeout) = (.seconds(5), .seconds(5))
        #expect(try await MockLoader(clock: clock) { .ok($0) }.load(request).status == 200)
    }

    /// A body without its second piece.
    private func stalling(_ status: HTTPStatus) -> MockLoader {
        MockLoader(clock: clock) { request in
            let pieces = Counter()
            let body = HTTPResponseBody(length: nil) {
                if pieces.next() == 1 { return Data("some".utf8) }
                for await _ in AsyncStream<Void>(unfolding: { try? await Task.sleep(for: .seconds(3600)) }) {}
                return nil
            }
            return HTTPResponse(request: request, status: status, body: body)
        }
    }

    @Test func `a timeout bounds the body of an error response to a streamed request`() async throws {
        let client = HTTPClient(environment: .of("https://h"), transport: stalling(500))
        let task = Task { try await client.stream(TestEndpoint("a").timeout(.seconds(5))) }
        let advance = Task {
            // Once for the head, which comes at once, and once for the piece that does not.
            while !Task.isCancelled {
                clock.advance(by: .seconds(1))
                await Task.yield()
            }
        }
        let error = try await #require(throws: HTTPError.self) { try await task.value }
        advance.cancel()
        #expect([.unacceptableStatus, .timedOut].contains(error.code))
    }

    @Test func `a timeout does not bound the body of a streamed response, and an idle timeout does`() async throws {
        let client = HTTPClient(environment: .of("https://h"), transport: stalling(200))
        let template = TestEndpoint("a").timeout(.seconds(5)).idleTimeout(.seconds(9))
        let response = try await client.stream(template)
        var chunks = response.body.makeAsyncIterator()
        #expect(try await chunks.next() == Data("some".utf8))
        let reading = Task { [chunks] in
            var chunks = chunks
            return try await chunks.next()
        }
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(6))
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(3))
        let error = try await #require(throws: HTTPError.self) { _ = try await reading.value }
        #expect(error.message == "the idle timeout passed while receiving the body")
    }

    @Test func `a limit of zero or less is refused`() async throws {
        let request = try HTTPRequest.to("https://h/p").with { $0.idleTimeout = .zero }
        let error = await #expect(throws: HTTPError.self) { try await MockLoader { .ok($0) }.load(request) }
        #expect(error?.code == .invalidRequest && error?.message.contains("idleTimeout") == true)
    }
}
