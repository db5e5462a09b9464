// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadRelay
import LetterheadTesting
import Synchronization
import TestKit
import Testing

/// Bodies in both directions: in memory, streamed and in files, with their limits and their ends.
@Suite(.timeLimit(.minutes(3))) struct RelayBodyTests {
    private func request(_ delivery: HTTPResponse.Delivery = .buffered) -> HTTPRequest {
        var request = HTTPRequest()
        (request.host, request.path, request.responseDelivery) = ("example.com", "a", delivery)
        return request
    }

    /// A loader with a body in pieces, which are produced when they are read. The body ends with an error or waits
    /// without end.
    private final class Pieces: HTTPLoader {
        let produced = Counter()
        let isDropped = Mutex(false)
        private let count: Int
        private let failure: HTTPError.Code?

        init(_ count: Int, failure: HTTPError.Code? = nil) { (self.count, self.failure) = (count, failure) }

        func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
            let body = HTTPResponseBody(
                length: nil,
                pull: {
                    let number = self.produced.next()
                    if number <= self.count { return Data(repeating: UInt8(truncatingIfNeeded: number), count: 1000) }
                    guard let failure = self.failure else { return nil }
                    throw HTTPError(failure, request: request, message: "no more")
                }, cancel: { self.isDropped.withLock { $0 = true } })
            var response = HTTPResponse(request: request, status: .ok, body: body)
            response.provide(
                metrics: { HTTPResponse.Metrics() }, trailers: { ["X-T": "t", "Set-Cookie": "a=b", "X-U": "\u{1}"] })
            return try await response.delivered(to: request)
        }
    }

    @Test func `a streamed body arrives as it is read, with its trailers`() async throws {
        let far = Pieces(5)
        let server = RelayServer(far)
        let response = try await Relay.streaming { server.answers(to: $0) }.load(request(.streamed))
        #expect(far.produced.value == 0 && response.body.buffered == nil && response.trailers.isEmpty)
        var pieces: [Data] = []
        for try await piece in response.body {
            pieces.append(piece)
            #expect(far.produced.value == pieces.count)
        }
        #expect(pieces == (1...5).map { Data(repeating: $0, count: 1000) })
        #expect(response.trailers == ["X-T": "t", "X-U": "\u{1}"])
    }

    @Test func `a body without bytes for the idleTimeout fails, whether or not empty pieces arrive`() async throws {
        let clock = TestClock()
        let pulls = Counter()
        let relay = Relay.streaming(clock: clock) { _ in
            AsyncStream {
                let number = pulls.next()
                if number == 1 {
                    return Data(#"{"letterhead":1,"streams":true,"response":{"status":200,"headers":[]}}"#.utf8 + [10])
                }
                await clock.waitForSleepers(1)
                clock.advance(by: .seconds(number < 5 ? 3 : 2))
                switch number {
                case 2, 3: return Data(#"{"letterhead":1,"length":1}"#.utf8 + [10, 65])
                case 4: return Data(#"{"letterhead":1,"length":0}"#.utf8 + [10])
                default:
                    try? await Task.sleep(for: .seconds(86_400))
                    return nil
                }
            }
        }
        var sent = request(.streamed)
        sent.idleTimeout = .seconds(5)
        var pieces: [Data] = []
        let response = try await relay.load(sent)
        let error = await failure { for try await piece in response.body { pieces.append(piece) } }
        #expect(pieces == [Data([65]), Data([65])] && error?.code == .timedOut)
        #expect(error?.message.hasPrefix("the idleTimeout passed while ") == true)
    }

    @Test(arguments: [(2, 5, "timeout"), (5, 2, "idleTimeout")])
    func `the error of a body names the limit that has passed`(timeout: Int, idle: Int, name: String) async throws {
        let clock = TestClock()
        let isBegun = SharedValue(false)
        let relay = Relay.streaming(clock: clock) { _ in
            AsyncStream {
                let isHead = isBegun.withLock { isBegun in
                    defer { isBegun = true }
                    return !isBegun
                }
                if isHead {
                    return Data(#"{"letterhead":1,"streams":true,"response":{"status":503,"headers":[]}}"#.utf8 + [10])
                }
                await clock.waitForSleepers(1)
                clock.advance(by: .seconds(2))
                try? await Task.sleep(for: .seconds(86_400))
                return nil
            }
        }
        var sent = request(.streamed)
        (sent.timeout, sent.idleTimeout) = (.seconds(timeout), .seconds(idle))
        let response = try await relay.load(sent)
        let error = await #expect(throws: HTTPError.self) { for try await _ in response.body {} }
        #expect(error?.code == .timedOut && error?.message.hasPrefix("the \(name) passed while ") == true)
    }

    @Test func `a request that was cancelled while its body was read is not sent`() async throws {
        final class Token: Sendable {}
        let (messages, isRead) = (SharedValue([Data]()), SharedValue(false))
        let relay = Relay { data in
            messages.withLock { $0.append(data) }
            return Data()
        }
        /// Returns a weak reference to what the request holds, so that its end can be awaited.
        func cancelled() async -> @Sendable () -> Bool {
            let token = Token()
            var sent = request()
            sent.method = .put
            // The stream ends when its task is cancelled, so the body is incomplete.
            sent.body = StreamBody { [token] in
                isRead.withLock { $0 = true }
                return withExtendedLifetime(token) { AsyncStream<Data> { _ in } }
            }
            let task = Task { [sent] in _ = try await relay.load(sent) }
            await until { isRead.withLock { $0 } }
            task.cancel()
            let error = await #expect(throws: HTTPError.self) { try await task.value }
            #expect(error?.code == .cancelled)
            return { [weak token] in token == nil }
        }
        let hasEnded = await cancelled()
        await until(hasEnded)
        await until { !messages.withLock { $0.isEmpty } }
        #expect(messages.withLock { $0.map { String(decoding: $0, as: UTF8.self).contains("cancel") } } == [true])
    }

    @Test func `a body that fails at the far end fails at the near end`() async throws {
        let server = RelayServer(Pieces(2, failure: .connectionLost))
        let response = try await Relay.streaming { server.answers(to: $0) }.load(request(.streamed))
        let error = await #expect(throws: HTTPError.self) { try await response.body.data() }
        #expect(error?.code == .connectionLost && error?.message == "at the other end of the relay: no more")
    }

    @Test func `a sequence that ends before the body is a lost connection`() async throws {
        let server = RelayServer(Pieces(5))
        let response = try await Relay.streaming { server.answers(to: $0).prefix(3) }.load(request(.streamed))
        let error = await #expect(throws: HTTPError.self) { try await response.body.data() }
        #expect(error?.code == .connectionLost)
    }

    @Test func `an error of the sequence is a lost connection`() async throws {
        let server = RelayServer(Pieces(5))
        let relay = Relay.streaming { data in
            let number = Counter()
            return server.answers(to: data).map { piece in
                if number.next() == 3 { throw CancellationError() }
                return piece
            }
        }
        let response = try await relay.load(request(.streamed))
        let error = await #expect(throws: HTTPError.self) { try await response.body.data() }
        #expect(error?.code == .connectionLost && error?.underlying is CancellationError)
    }

    @Test func `a piece that is lost or is not one is an error`() async throws {
        let server = RelayServer(Pieces(5))
        let lossy = Relay.streaming { data in
            let number = Counter()
            return server.answers(to: data).filter { _ in number.next() != 3 }
        }
        let response = try await lossy.load(request(.streamed))
        let error = await #expect(throws: HTTPError.self) { try await response.body.data() }
        #expect(error?.code == .connectionLost)
        // The head again, as from a closure that returns the first piece only.
        let stuck = Relay.streaming { data in
            let head = await server.answers(to: data).first { _ in true } ?? Data()
            return AsyncStream { head }
        }
        let endless = try await stuck.load(request(.streamed))
        let malformed = await #expect(throws: HTTPError.self) { try await endless.body.data() }
        #expect(malformed?.code == .invalidResponse)
    }

    @Test func `dropping a streamed body ends it at the far end`() async throws {
        let far = Pieces(5)
        let server = RelayServer(far)
        var response: HTTPResponse? = try await Relay.streaming { server.answers(to: $0) }.load(request(.streamed))
        var iterator = response?.body.makeAsyncIterator()
        _ = try await iterator?.next()
        (response, iterator) = (nil, nil)
        await until { far.isDropped.withLock { $0 } }
    }

    @Test(arguments: RelayTests.Kind.allCases) func `a download is saved at the near end`(kind: RelayTests.Kind)
        async throws
    {
        let file = FileManager.default.temporaryDirectory.appending(path: "relay-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let client = HTTPClient(transport: kind.relay(to: RelayServer(Pieces(300))))
        let response = try await client.download(request(), to: file)
        #expect(response.savedFile == file && response.savedByteCount == 300_000)
        #expect(try Data(contentsOf: file).count == 300_000)
    }

    @Test(arguments: RelayTests.Kind.allCases) func `the limit of a response holds`(kind: RelayTests.Kind) async {
        for delivery in [HTTPResponse.Delivery.buffered, .streamed] {
            var sent = request(delivery)
            sent.responseLimit = 2500
            let error = await #expect(throws: HTTPError.self) {
                let response = try await kind.relay(to: RelayServer(Pieces(3))).load(sent)
                _ = try await response.body.data()
            }
            #expect(error?.code == .responseTooLarge)
        }
    }

    @Test func `a buffered response may be streamed while it travels`() async throws {
        let server = RelayServer(Pieces(3))
        let response = try await Relay.streaming { server.answers(to: $0) }.load(request())
        #expect(response.body.buffered?.count == 3000 && response.trailers == ["X-T": "t", "X-U": "\u{1}"])
    }

    @Test func `a streamed request body is read before it travels, and has a limit`() async throws {
        let far = MockLoader { .ok($0) }
        var sent = request()
        sent.method = .put
        sent.body = StreamBody { AsyncStream(of: Data("abc".utf8)) }
        _ = try await Relay { await RelayServer(far).answer($0) }.load(sent)
        #expect(try far.requests.first?.body.encode() == Data("abc".utf8))
        sent.body = DataBody(Data(count: (64 << 20) + 1))
        let error = await failure { try await Relay { await RelayServer(far).answer($0) }.load(sent) }
        #expect(error?.code == .invalidRequest && far.requests.count == 1)
    }
}
