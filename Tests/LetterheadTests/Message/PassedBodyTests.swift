import Foundation
import LetterheadTesting
import Synchronization
import Testing

@testable import Letterhead

/// The end of a body that a link passes on.
@Suite struct PassedBodyTests {
    /// What the link has seen, in order. A class, because closures share it.
    private final class Record: Sendable {
        private let entries = Mutex<[String]>([])

        var all: [String] { entries.withLock { $0 } }

        func note(_ entry: String) { entries.withLock { $0.append(entry) } }
    }

    private let record = Record()
    private let pulled = OneShot<Void>()
    private let answer = OneShot<Data?>()

    /// A body that is observed, and whose pull waits for the answer, regardless of a cancellation.
    private func observed() -> HTTPResponseBody {
        let (record, pulled, answer) = (record, pulled, answer)
        let body = HTTPResponseBody.received(
            length: nil,
            pull: {
                pulled.set(())
                return await answer.value
            }, cancel: { record.note("cancel") })
        return body.observing { next in
            do {
                let piece = try await next()
                record.note(piece.map { "piece of \($0.count)" } ?? "complete")
                return piece
            } catch {
                record.note("\(type(of: error))")
                throw error
            }
        } end: {
            record.note("end")
        }
    }

    @Test func `a cancelled body ends once, after the pull in progress has failed`() async {
        let iterator = observed().makeAsyncIterator()
        let read = Task {
            var iterator = iterator
            return try await iterator.next()
        }
        await pulled.value
        iterator.cancel()
        #expect(record.all == ["cancel"])
        answer.set(nil)
        await #expect(throws: CancellationError.self) { try await read.value }
        #expect(record.all == ["cancel", "CancellationError", "end"])
    }

    @Test func `a piece that arrives during a cancellation is seen before the end`() async throws {
        let iterator = observed().makeAsyncIterator()
        let read = Task {
            var iterator = iterator
            return try await iterator.next()
        }
        await pulled.value
        iterator.cancel()
        answer.set(Data("abc".utf8))
        _ = try? await read.value
        #expect(record.all == ["cancel", "piece of 3", "end"])
    }

    @Test func `a body that ends is not cancelled, and one that is dropped ends at once`() async throws {
        answer.set(nil)
        #expect(try await observed().data().isEmpty)
        #expect(record.all == ["complete", "end"])
        _ = observed().makeAsyncIterator()
        #expect(record.all == ["complete", "end", "cancel", "end"])
    }

    @Test func `a reset at the end of a body frees one slot of a throttle`() async throws {
        let throttle = Throttle(limit: 1)
        let (pulled, answer) = (pulled, answer)
        let transport = MockLoader { request in
            var response = HTTPResponse(request: request, status: 200)
            response.body = .received(
                length: nil,
                pull: {
                    pulled.set(())
                    return await answer.value
                }, cancel: {})
            return response
        }
        let chain: any HTTPLoader = Autocancel() --> throttle --> transport
        var request = HTTPRequest(url: try #require(URL(string: "https://a.test/")))
        request.responseDelivery = .streamed
        let body = try await chain.load(request).body
        let read = Task { try await body.data() }
        await pulled.value
        let reset = Task { await chain.reset() }
        answer.set(nil)
        await reset.value
        _ = await read.result
        #expect(throttle.running == 0)
        let first = try await chain.load(request)
        #expect(throttle.running == 1)
        withExtendedLifetime(first) {}
    }
}
