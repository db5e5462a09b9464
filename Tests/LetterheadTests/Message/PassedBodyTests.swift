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

    /// Returns true once.
    private final class Once: Sendable {
        private let isLeft = Mutex(true)

        func take() -> Bool {
            isLeft.withLock { isLeft in
                defer { isLeft = false }
                return isLeft
            }
        }
    }

    private let record = Record()
    private let pulled = OneShot<Void>()
    private let answer = OneShot<Data?>()
    private let cancelled = OneShot<Void>()

    /// A body that is observed, and whose first pull waits for the answer, regardless of a cancellation. A later pull
    /// ends the body.
    private func observed() -> HTTPResponseBody {
        let (record, pulled, answer, isFirst) = (record, pulled, answer, Once())
        let body = HTTPResponseBody.received(
            length: nil,
            pull: {
                let isFirst = isFirst.take()
                guard isFirst else { return nil }
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
        if last == nil {
            await #expect(throws: CancellationError.self) { try await read.value }
        } else {
            _ = await read.result
        }
        #expect(record.all == entries)
    }

    @Test func `a body that one copy of an iterator ends is not over while another copy pulls`() async throws {
        let iterator = observed().makeAsyncIterator()
        let read = Task {
            var iterator = iterator
            return try await iterator.next()
        }
        await pulled.value
        var copy = iterator
        #expect(try await copy.next() == nil)
        #expect(record.all == ["complete"])
        answer.set(Data("abc".utf8))
        #expect(try await read.value == Data("abc".utf8))
        #expect(record.all == ["complete", "piece of 3", "end"])
    }

    @Test func `after the end, nothing is pulled`() async throws {
        let record = record
        let cancelled = PassedEnd { record.note("end") }
        cancelled.cancel {}
        await #expect(throws: CancellationError.self) {
            try await cancelled.pull {
                record.note("pull")
                return Data()
            }
        }
        let complete = PassedEnd { record.note("end") }
        #expect(try await complete.pull { nil } == nil)
        #expect(
            try await complete.pull {
                record.note("pull")
                return Data()
            } == nil)
        #expect(record.all == ["end", "end"])
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
