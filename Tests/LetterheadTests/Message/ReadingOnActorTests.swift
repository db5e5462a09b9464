import Dispatch
import Foundation
@testable import Letterhead
import LetterheadTesting
import Synchronization
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

        /// Returns two pieces and an end. It yields, so that only code that belongs to the main actor goes on there.
        func next() async -> Data? {
            await Task.yield()
            note()
            return all.count > 2 ? nil : Data("piece".utf8)
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
        let body = HTTPResponseBody(length: nil, pull: { await places.next() }).passing { next in try await next() }
        #expect(try await body.data() == Data("piecepiece".utf8))
        #expect(places.all == [true, true, true])
    }

    @Test func `a streamed response of a client`() async throws {
        let places = places
        let body = HTTPResponseBody.received(length: nil, pull: { await places.next() }, cancel: {})
        let tracked = TrackedBody(body, of: HTTPRequest(), onEnd: { _ in })
        for try await _ in tracked.body(length: nil) { #expect(places.isOnMain) }
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

    @Test func `a streamed response of a client with observers`() async throws {
        let places = places
        let server = try await MockServer.start { _ in MockServer.Response(body: Data(count: 3_000_000)) }
        var request = HTTPRequest(url: server.url)
        request.responseDelivery = .streamed
        request.onProgress = { _ in places.note() }
        let client = HTTPClient(observers: [StatisticsRecorder()])
        for try await _ in try await client.send(request).body { #expect(places.isOnMain) }
        #expect(!places.all.isEmpty && !places.all.contains(false))
        await server.stop()
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
        #expect(items == [1, 2])
        #expect(!Places.shared.all.isEmpty && !Places.shared.all.contains(false))
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
