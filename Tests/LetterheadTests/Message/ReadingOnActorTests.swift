// SPDX-License-Identifier: MIT
import Dispatch
import Foundation
@testable import Letterhead
import LetterheadStreaming
import LetterheadTesting
import Synchronization
import TestKit
import Testing

/// What an actor reads is made on that actor: each hop to another thread and back would cost more than the bytes.
@MainActor @Suite struct ReadingOnActorTests {
    /// Where pieces were made. A class, because closures share it.
    private final class Places: Sendable {
        static let shared = Places()

        private let areMain = Mutex<[Bool]>([])
        private let key = DispatchSpecificKey<Bool>()

        init() { DispatchQueue.main.setSpecific(key: key, value: true) }

        var isOnMain: Bool { DispatchQueue.getSpecific(key: key) == true }
        var all: [Bool] { areMain.withLock { $0 } }

        /// Returns two pieces and an end. It yields, so that only code of the main actor continues on the main thread.
        func next(_ piece: String = "piece") async -> Data? {
            await Task.yield()
            note()
            return all.count > 2 ? nil : Data(piece.utf8)
        }

        func note() { areMain.withLock { $0.append(isOnMain) } }
    }

    private let places = Places()

    @Test func `this test tells the main actor from others`() async {
        #expect(places.isOnMain)
        let places = places
        let isOnMain = await Task.detached { places.isOnMain }.value
        #expect(!isOnMain)
    }

    @Test func `a streamed response`() async throws {
        let places = places
        for try await _ in HTTPResponseBody(length: nil, pull: { await places.next() }) { #expect(places.isOnMain) }
        #expect(places.all == [true, true, true])
    }

    @Test func `a streamed response that a link watches`() async throws {
        let places = places
        let body = HTTPResponseBody(length: nil, pull: { await places.next() }).map { $0 }
        #expect(try await body.data() == Data("piecepiece".utf8))
        #expect(places.all == [true, true, true])
    }

    @Test func `a streamed response of a client`() async throws {
        let places = places
        let body = HTTPResponseBody.received(length: nil, pull: { await places.next() }, cancel: {})
        let client = HTTPClient(
            transport: MockLoader { request in
                var response = HTTPResponse(request: request, status: 200)
                response.body = body
                return response
            })
        for try await _ in try await client.send(HTTPRequest(url: #require(URL(string: "https://a.test/")))).body {
            #expect(places.isOnMain)
        }
        #expect(places.all == [true, true, true])
    }

    @Test func `a response that a client receives over a connection`() async throws {
        let places = places
        let server = try await MockServer.start { _ in MockServer.Response(body: Data(count: 3_000_000)) }
        var request = HTTPRequest(url: server.url)
        request.responseDelivery = .streamed
        request.onProgress = { _ in places.note() }
        for try await _ in try await HTTPClient().send(request).body { #expect(places.isOnMain) }
        #expect(!places.all.isEmpty && !places.all.contains(false))
        await server.stop()
    }

    /// Notes where the pieces are received.
    private struct Watch: HTTPObserver {
        let places: Places

        func record(_ event: HTTPEvent) { if event.name == "body.piece" { places.note() } }
    }

    @Test(arguments: TransportTests.Transport.allCases)
    func `the pieces that observers see`(transport: TransportTests.Transport) async throws {
        let server = try await MockServer.start { _ in MockServer.Response(body: Data(count: 3_000_000)) }
        let client = HTTPClient(
            environment: ServerEnvironment(baseURL: server.url), observers: [Watch(places: places)],
            transport: transport.loader)
        for try await _ in try await client.stream(TestEndpoint("a")).body {}
        #expect(!places.all.isEmpty && !places.all.contains(false))
        await server.stop()
    }

    @Test func `lines, events and JSON values`() async throws {
        for try await _ in body("line\n").lines {}
        #expect(places.all == [true, true, true])
        for type in ["text/event-stream", "application/x-ndjson"] {
            let places = Places()
            let transport = MockLoader { [self] request in
                var response = HTTPResponse(request: request, status: 200, headers: [.contentType: type])
                response.body = body(type.hasPrefix("text") ? "data: 1\n\n" : "1\n", places)
                return response
            }
            let client = HTTPClient(environment: .of("https://a.test"), transport: transport)
            var values: [Int] = []
            if type.hasPrefix("text") {
                for try await value in client.events(of: TestEndpoint<HTTPResponse>("a"), as: Int.self) {
                    values.append(value)
                }
            } else {
                for try await value in client.values(of: TestEndpoint<HTTPResponse>("a"), as: Int.self) {
                    values.append(value)
                }
            }
            #expect(values == [1, 1] && places.all == [true, true, true])
        }
    }

    private nonisolated func body(_ piece: String, _ places: Places? = nil) -> HTTPResponseBody {
        let places = places ?? self.places
        return .received(length: nil, pull: { await places.next(piece) }, cancel: {})
    }

    @Test func `a reader that never waits lets other code of its actor run`() async throws {
        let places = places
        let left = Mutex(24)
        let body = HTTPResponseBody(
            length: nil,
            pull: {
                left.withLock { left in
                    left -= 1
                    return left < 0 ? nil : Data(count: 256 << 10)
                }
            })
        Task { places.note() }
        for try await _ in body {}
        #expect(places.all == [true])
    }

    @Test func `the pieces of a request's body`() async throws {
        let places = places
        for try await _ in BodyChunks(pull: { await places.next() }) { #expect(places.isOnMain) }
        #expect(places.all == [true, true, true])
    }

    @Test func `the items of pages`() async throws {
        let server = try await PagedServer([
            PagedServer.Answer("/numbers?page=1", #"{"numbers":[1,2]}"#),
            PagedServer.Answer("/numbers?page=2", #"{"numbers":[]}"#),
        ])
        var items: [Int] = []
        for try await item in server.client.items(of: ListNumbers().paginated(), at: \.items) { items.append(item) }
        #expect(items == [1, 2] && !Places.shared.all.isEmpty && !Places.shared.all.contains(false))
        await server.stop()
    }

    private struct ListNumbers: RequestTemplate {
        struct Response: Decodable, Sendable {
            let numbers: [Int]

            var items: [Int] {
                Places.shared.note()
                return numbers
            }
        }

        var path: RequestPath { "numbers" }
    }
}
