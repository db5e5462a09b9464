// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Synchronization
import TestKit
import Testing

@Suite(.timeLimit(.minutes(3)))
struct TransferProgressTests {
    typealias Transport = TransportTests.Transport

    private let size = 3_000_000

    private func echo() async throws -> MockServer { try await MockServer.start { MockServer.Response(body: $0.body) } }

    private func steps(
        over transport: Transport, _ body: any HTTPBody, _ delivery: HTTPResponse.Delivery = .buffered
    ) async throws -> [HTTPRequest.Progress] {
        let server = try await echo()
        let box = Seen()
        var request = HTTPRequest(method: .post, url: server.url)
        request.body = body
        request.responseDelivery = delivery
        request.onProgress = { box.add($0) }
        let count = try await transport.loader.load(request).body.data().count
        #expect(count == size)
        await server.stop()
        return box.all
    }

    @Test func `each closure that a template adds is called`() {
        let (first, second) = (Seen(), Seen())
        let template = TestEndpoint().onProgress { first.add($0) }.onProgress { second.add($0) }
        template.options.onProgress?(HTTPRequest.Progress(direction: .upload, completedBytes: 1, totalBytes: 2))
        #expect(first.all.count == 1 && second.all == first.all)
    }

    @Test(arguments: Transport.allCases, [HTTPResponse.Delivery.buffered, .streamed])
    func `the fractions of both directions grow and end at 1`(_ transport: Transport, delivery: HTTPResponse.Delivery)
        async throws
    {
        let steps = try await steps(over: transport, DataBody(Data(count: size)), delivery)
        for direction in [HTTPRequest.Progress.Direction.upload, .download] {
            let fractions = steps.filter { $0.direction == direction }.compactMap(\.fractionCompleted)
            #expect(fractions.count > 2 && fractions == fractions.sorted() && fractions.last == 1)
            #expect(Set(fractions).count == fractions.count)
        }
    }

    @Test(arguments: Transport.allCases, [HTTPResponse.Delivery.buffered, .streamed])
    func `the body of an error is not reported, unless its status is accepted`(
        _ transport: Transport, delivery: HTTPResponse.Delivery
    ) async throws {
        let server = try await MockServer.start { _ in MockServer.Response(status: 404, body: Data(count: 9_000)) }
        let box = Seen()
        var request = HTTPRequest(url: server.url)
        request.responseDelivery = delivery
        request.onProgress = { box.add($0) }
        #expect(try await transport.loader.load(request).body.data().count == 9_000)
        #expect(box.all.isEmpty)
        request.acceptedStatuses = [404]
        #expect(try await transport.loader.load(request).body.data().count == 9_000)
        #expect(box.all.last?.fractionCompleted == 1)
        await server.stop()
    }

    @Test(arguments: Transport.allCases)
    func `a body of unknown length has no fraction`(_ transport: Transport) async throws {
        let stream = StreamBody {
            AsyncStream<Data> { continuation in
                for _ in 0..<3 { continuation.yield(Data(count: 1_000_000)) }
                continuation.finish()
            }
        }
        let uploads = try await steps(over: transport, stream).filter { $0.direction == .upload }
        #expect(uploads.count > 2 && uploads.last?.completedBytes == size)
        #expect(uploads.allSatisfy { $0.fractionCompleted == nil })
    }

    @Test(arguments: Transport.allCases)
    func `a limit applies to a response whose progress is reported`(_ transport: Transport) async throws {
        let server = try await echo()
        var request = HTTPRequest(method: .post, url: server.url)
        request.body = DataBody(Data(count: size))
        request.onProgress = { _ in }
        request.responseLimit = size - 1
        let error = await #expect(throws: HTTPError.self) { try await transport.loader.load(request) }
        #expect(error?.code == .responseTooLarge && error?.response?.status == 200)
        await server.stop()
    }
}

/// What was reported. A class, since the reporting closure and the test share it.
private final class Seen: Sendable {
    private let steps = Mutex<[HTTPRequest.Progress]>([])
    func add(_ step: HTTPRequest.Progress) { steps.withLock { $0.append(step) } }
    var all: [HTTPRequest.Progress] { steps.withLock { $0 } }
}
