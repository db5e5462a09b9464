// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadAsyncHTTPClient
import LetterheadTesting
import Synchronization
import Testing

/// Bodies that are streamed, in both directions.
extension TransportTests {
    @Test func `a streamed body is read in pieces and iterated once`() async throws {
        let server = try await echo()
        var request = request(.get, "large", on: server)
        request.responseDelivery = .streamed
        let response = try await loader.load(request)
        var count = 0
        for try await chunk in response.body { count += chunk.count }
        #expect(count == 3_000_000 && response.body.length == 3_000_000)
        await #expect(throws: HTTPBodyError.alreadyRead) { for try await _ in response.body {} }
        await server.stop()
    }

    @Test func `a response is saved to a file`() async throws {
        let server = try await echo()
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("letterhead-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let client = HTTPClient(environment: ServerEnvironment(baseURL: server.url), transport: loader)
        try await client.download(Get<Data>("large"), to: file)
        #expect(try Data(contentsOf: file).count == 3_000_000)
        await server.stop()
    }

    @Test func `dropping a streamed body closes its connection, and leaves the transport able to load`() async throws {
        let server = try await MockServer.start { request in
            request.path == "/200"
                ? MockServer.Response()
                : MockServer.Response(chunks: AsyncStream { $0.yield(Data(count: 10)) })
        }
        var request = HTTPRequest(url: server.url)
        request.responseDelivery = .streamed
        for _ in 0..<3 {
            for try await _ in try await loader.load(request).body { break }
        }
        try await server.record { record in
            record.connections.count == 3 && record.connections.allSatisfy { !$0.isOpen }
        }
        #expect(try await loader.load(self.request(.get, "200", on: server)).status == .ok)
        await server.stop()
    }

    @Test func `a body that nobody reads holds the server back`() async throws {
        let total = 64 << 20
        let server = try await MockServer.start { _ in MockServer.Response(body: Data(count: total)) }
        var request = HTTPRequest(url: server.url)
        request.responseDelivery = .streamed
        var body = try await loader.load(request).body.makeAsyncIterator()
        var count = try await body.next()?.count ?? 0
        // The system's buffers take some megabytes. A transport that reads ahead would take all.
        try await Task.sleep(for: .milliseconds(300))
        #expect(server.connections.map(\.bytesSent).reduce(0, +) < total / 2)
        while let piece = try await body.next() { count += piece.count }
        #expect(count == total)
        await server.stop()
    }

    @Test(arguments: [HTTPResponse.Delivery.buffered, .streamed])
    func `a body of unknown length is sent completely`(delivery: HTTPResponse.Delivery) async throws {
        let server = try await echo()
        var request = request(.post, "echo", on: server)
        request.body = Numbered(count: 100)
        request.responseDelivery = delivery
        #expect(try await loader.load(request).body.data().count == 500_000)
        #expect(server.requests.first?.headers[.transferEncoding] == "chunked")
        await server.stop()
    }

    @Test func `pieces of a body are produced as the server takes them`() async throws {
        let server = try await MockServer.start()
        server.enqueue(.response(MockServer.Response()).fault(.stall, at: .requestStart))
        let body = Numbered(count: 100_000)
        var request = HTTPRequest(method: .post, url: server.url)
        request.body = body
        request.idleTimeout = .milliseconds(500)
        let sent = request
        let error = await #expect(throws: HTTPError.self) { try await loader.load(sent) }
        // The whole body has 500 MB.
        #expect(error?.code == .timedOut && body.produced < 20_000)
        await server.stop()
    }

    @Test func `an error of the body ends the upload`() async throws {
        let server = try await echo()
        var request = request(.post, "echo", on: server)
        request.body = Numbered(count: 10, failsAt: 5)
        let sent = request
        let error = await #expect(throws: HTTPError.self) { try await loader.load(sent) }
        #expect(
            error?.code == .invalidRequest && error?.underlying is Numbered.Broken && error?.mayHaveBeenSent == true)
        try await server.record { $0.connections.allSatisfy { !$0.isOpen } }
        await server.stop()
    }

    @Test func `a cancelled upload cancels the production of its body`() async throws {
        let server = try await echo()
        let (ended, end) = AsyncStream<Void>.makeStream()
        var request = request(.post, "echo", on: server)
        request.body = StreamBody {
            AsyncStream<Data> { stream in
                stream.yield(Data(count: 10))
                stream.onTermination = { _ in end.finish() }
            }
        }
        let load = Task { [request] in try await loader.load(request) }
        try await server.record { $0.connections.contains { $0.bytesReceived > 0 } }
        load.cancel()
        let error = await #expect(throws: HTTPError.self) { try await load.value }
        #expect(error?.code == .cancelled)
        for await _ in ended {}
        await server.stop()
    }

    @Test(arguments: [401, 413])
    func `a response before the end of the upload is returned`(status: Int) async throws {
        let server = try await MockServer.start()
        server.enqueue(
            .response(MockServer.Response(status: HTTPStatus(status), body: Data("early".utf8))).beforeBody())
        var request = HTTPRequest(method: .post, url: server.url)
        request.body = Numbered(count: 1000)
        let response = try await loader.load(request)
        #expect(response.status.code == status && response.body.buffered == Data("early".utf8))
        await server.stop()
    }

    @Test func `a connection that is reset during the upload is lost`() async throws {
        let server = try await MockServer.start()
        server.enqueue(.response(MockServer.Response()).fault(.reset, at: .requestBody), times: 20)
        for _ in 0..<20 {
            var request = HTTPRequest(method: .put, url: server.url)
            request.body = Numbered(count: 60)
            let sent = request
            let error = await #expect(throws: HTTPError.self) { try await loader.load(sent) }
            #expect(error?.code == .connectionLost && error?.mayHaveBeenSent == true)
        }
        await server.stop()
    }

    @Test(arguments: [HTTPResponse.Delivery.buffered, .streamed])
    func `the progress of both directions grows and ends at 1`(delivery: HTTPResponse.Delivery) async throws {
        let server = try await echo()
        let steps = Steps()
        var request = request(.post, "echo", on: server)
        request.body = DataBody(Data(count: 3_000_000))
        request.responseDelivery = delivery
        request.onProgress = { steps.add($0) }
        #expect(try await loader.load(request).body.data().count == 3_000_000)
        for direction in [HTTPRequest.Progress.Direction.upload, .download] {
            let fractions = steps.all.filter { $0.direction == direction }.compactMap(\.fractionCompleted)
            #expect(fractions.count > 2 && fractions == fractions.sorted() && fractions.last == 1)
            #expect(Set(fractions).count == fractions.count)
        }
        await server.stop()
    }
}

/// A body of pieces of 5,000 bytes and of unknown length.
final class Numbered: HTTPBody {
    struct Broken: Error {}

    private let count: Int
    private let failure: Int?
    private let next = Mutex(0)

    init(count: Int, failsAt failure: Int? = nil) { (self.count, self.failure) = (count, failure) }

    /// How many pieces were produced.
    var produced: Int { next.withLock { $0 } }

    func chunks() -> BodyChunks {
        BodyChunks { [self] in
            let number = next.withLock { next in
                defer { next += 1 }
                return next
            }
            if number == failure { throw Broken() }
            return number < count ? Data(count: 5000) : nil
        }
    }
}

private final class Steps: Sendable {
    private let steps = Mutex<[HTTPRequest.Progress]>([])
    func add(_ step: HTTPRequest.Progress) { steps.withLock { $0.append(step) } }
    var all: [HTTPRequest.Progress] { steps.withLock { $0 } }
}
