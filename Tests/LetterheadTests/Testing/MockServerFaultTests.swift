// SPDX-License-Identifier: MIT
import Foundation
import LetterheadTesting
import Testing

@Suite(.timeLimit(.minutes(3))) struct MockServerFaultTests {
    private static let request = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 8\r\n\r\nabcdefgh"
    private static let answer = MockServer.Answer.response(MockServer.Response(body: Data("12345678".utf8)))
    private static let head = "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n"

    /// What has come out when a moment is reached.
    private static func sent(at moment: MockServer.Moment) -> String {
        switch moment {
        case .requestStart, .requestBody, .responseStart: ""
        case .responseBody: head + "1234"
        case .responseEnd: head + "12345678"
        }
    }

    /// Starts a server with one answer in its queue, and a client that has sent one request.
    private func exchange(
        _ answer: MockServer.Answer, clock: any Clock<Duration> = ContinuousClock(),
        _ body: (MockServer, RawClient) async throws -> Void
    ) async throws {
        let server = try await MockServer.start(MockServer.Configuration().with { $0.clock = clock })
        server.enqueue(answer)
        let client = try RawClient(port: server.port)
        await client.send(Self.request)
        try await body(server, client)
        await server.stop()
    }

    @Test(
        arguments: [(.close, .end), (.reset, .reset)] as [(MockServer.Effect, RawClient.Ending)],
        MockServer.Moment.allCases)
    func `close and reset end the connection in each phase`(
        row: (effect: MockServer.Effect, ending: RawClient.Ending), moment: MockServer.Moment
    ) async throws {
        try await exchange(Self.answer.fault(row.effect, at: moment)) { server, client in
            #expect(await client.readAll() == (Self.sent(at: moment), row.ending))
            #expect(server.connections.first?.ending == .byServer)
        }
    }

    @Test(arguments: MockServer.Moment.allCases)
    func `half-close ends the response and continues to read`(_ moment: MockServer.Moment) async throws {
        try await exchange(Self.answer.fault(.halfClose, at: moment)) { server, client in
            #expect(await client.readAll() == (Self.sent(at: moment), .end))
            #expect(server.connections.first?.isOpen == true)
            #expect(await client.send(Data(count: 2_000_000)))
            client.endOutput()
            let record = try await server.record { $0.connections.first?.isOpen == false }
            #expect(record.connections[0].ending == .byServer)
        }
    }

    @Test(arguments: MockServer.Moment.allCases)
    func `stall sends no more, until the client leaves`(_ moment: MockServer.Moment) async throws {
        let text = Self.sent(at: moment)
        try await exchange(Self.answer.fault(.stall, at: moment)) { server, client in
            if !text.isEmpty { #expect(await client.read(count: text.utf8.count) == text) }
            try await server.record { $0.connections.first?.requests == 1 }
            #expect(server.connections.first?.isOpen == true)
            client.endOutput()
            #expect(await client.readAll().text == "")
            let record = try await server.record { $0.connections.first?.isOpen == false }
            #expect(record.connections[0].ending == .byClient)
        }
    }

    @Test(arguments: MockServer.Moment.allCases)
    func `a stall for a time continues after it`(_ moment: MockServer.Moment) async throws {
        let clock = RecordingClock()
        try await exchange(Self.answer.fault(.stall(for: .seconds(30)), at: moment), clock: clock) { server, client in
            let text = Self.head + "12345678"
            #expect(await client.read(count: text.utf8.count) == text)
            server.enqueue(.response(.text("again")))
            await client.send(Self.request)
            #expect(await client.read(until: "again").hasSuffix("again"))
            #expect(clock.sleeps == [.seconds(30)])
        }
    }

    @Test(arguments: MockServer.Moment.allCases)
    func `slow sends the given number of bytes at a time`(_ moment: MockServer.Moment) async throws {
        let clock = RecordingClock()
        try await exchange(Self.answer.fault(.slow(bytes: 2, every: .seconds(9)), at: moment), clock: clock) {
            server, client in
            let text = Self.head + "12345678"
            #expect(await client.read(count: text.utf8.count) == text)
            let slowBytes =
                moment == .requestBody ? text.utf8.count : text.utf8.count - Self.sent(at: moment).utf8.count
            #expect(clock.sleeps.count >= max(0, slowBytes / 2 - 1) && Set(clock.sleeps).isSubset(of: [.seconds(9)]))

            // It stays slow, the next request too.
            let before = clock.sleeps.count
            server.enqueue(Self.answer)
            await client.send(Self.request)
            #expect(await client.read(count: text.utf8.count) == text)
            #expect(clock.sleeps.count - before >= (text.utf8.count + Self.request.utf8.count) / 2 - 1)
        }
    }

    @Test(arguments: [MockServer.Moment.requestStart, .requestBody])
    func `a request that a fault cut short is recorded as incomplete`(_ moment: MockServer.Moment) async throws {
        try await exchange(Self.answer.fault(.close, at: moment)) { server, client in
            _ = await client.readAll()
            #expect(server.requests.map(\.isComplete) == [false])
            #expect(server.connections[0].requests == 1 && server.connections[0].responses == 0)
        }
    }

    @Test func `a fault in the request's body waits for half of it`() async throws {
        let server = try await MockServer.start()
        server.enqueue(Self.answer.fault(.close, at: .requestBody))
        let client = try RawClient(port: server.port)
        await client.send(String(Self.request.dropLast(5)))
        try await server.record { $0.connections.first?.bytesReceived == Self.request.utf8.count - 5 }
        #expect(server.connections[0].isOpen)
        await client.send("d")
        #expect(await client.readAll() == ("", .end))
        #expect(server.requests.map(\.bodySize) == [4])
        await server.stop()
    }

    @Test func `a fault in a response of chunks occurs after the first`() async throws {
        let chunks = AsyncStream<Data> { continuation in
            for text in ["ab", "cd"] { continuation.yield(Data(text.utf8)) }
            continuation.finish()
        }
        let answer = MockServer.Answer.response(MockServer.Response(chunks: chunks))
        try await exchange(answer.fault(.reset, at: .responseBody)) { _, client in
            let (text, ending) = await client.readAll()
            #expect(text.hasSuffix("\r\n\r\n2\r\nab\r\n") && ending == .reset)
        }
    }

    @Test func `faults in one phase occur in order`() async throws {
        let clock = RecordingClock()
        let answer = Self.answer.fault(.stall(for: .seconds(1)), at: .responseEnd).fault(.reset, at: .responseEnd)
        try await exchange(answer, clock: clock) { _, client in
            #expect(await client.readAll() == (Self.head + "12345678", .reset))
            #expect(clock.sleeps == [.seconds(1)])
        }
    }

    @Test func `a closure may choose the fault of its response`() async throws {
        let server = try await MockServer.start { _ in
            MockServer.Response(body: Data("12345678".utf8)).fault(.close, at: .responseBody)
        }
        let client = try RawClient(port: server.port)
        await client.send(Self.request)
        #expect(await client.readAll() == (Self.head + "1234", .end))
        #expect(server.failures.isEmpty)
        await server.stop()
    }

    @Test func `a fault that is too late is a failure`() async throws {
        let server = try await MockServer.start { _ in MockServer.Response().fault(.close, at: .requestStart) }
        let client = try RawClient(port: server.port)
        await client.send(Self.request)
        #expect(await client.read(until: "\n").hasPrefix("HTTP/1.1 500"))
        #expect(server.failures.count == 1)
        await server.stop()
    }

    @Test func `the server can close a connection with a stalled response`() async throws {
        try await exchange(Self.answer.fault(.stall(for: .seconds(3600)), at: .responseStart)) { server, client in
            try await server.record { $0.requests.count == 1 }
            await server.closeConnections()
            #expect(await client.readAll().text == "")
        }
    }

    @Test func `a stall of the longest duration does not overflow`() async throws {
        try await exchange(Self.answer.fault(.stall(for: .seconds(Int64.max)), at: .responseStart)) { server, _ in
            try await server.record { $0.requests.count == 1 }
        }
    }
}
