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
    private let cancelled = OneShot<Void>()

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

    @Test(arguments: [
        (nil, ["cancel", "CancellationError", "end"]), (Data("abc".utf8), ["cancel", "piece of 3", "end"]),
    ])
    func `a body that is cancelled during a pull ends once, after the pull`(last: Data?, entries: [String]) async {
        let iterator = observed().makeAsyncIterator()
        let read = Task {
            var iterator = iterator
            return try await iterator.next()
        }
        await pulled.value
        iterator.cancel()
        #expect(record.all == ["cancel"])
        answer.set(last)
        _ = await read.result
        #expect(record.all == entries)
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
        let (pulled, answer, cancelled) = (pulled, answer, cancelled)
        let transport = MockLoader { request in
            var response = HTTPResponse(request: request, status: 200)
            response.body = .received(
                length: nil,
                pull: {
                    pulled.set(())
                    return await answer.value
                }, cancel: { cancelled.set(()) })
            return response
        }
        let chain: any HTTPLoader = Autocancel() --> throttle --> transport
        var request = HTTPRequest(url: try #require(URL(string: "https://a.test/")))
        request.responseDelivery = .streamed
        let body = try await chain.load(request).body
        let read = Task { try await body.data() }
        await pulled.value
        let reset = Task { await chain.reset() }
        await cancelled.value
        answer.set(nil)
        await reset.value
        _ = await read.result
        #expect(throttle.running == 0)
        let first = try await chain.load(request)
        #expect(throttle.running == 1)
        withExtendedLifetime(first) {}
    }
}
