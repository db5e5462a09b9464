// SPDX-License-Identifier: MIT
import Foundation
import LetterheadTesting
import TestKit
import Testing

@testable import Letterhead

/// The end of a streamed body: once, never during a pull, and also when code other than its reader ends it.
@Suite(.timeLimit(.minutes(3))) struct BodyEndTests {
    private struct Odd: Error {}

    private let record = Journal()
    private let pulled = OneShot<Void>()
    private let answer = OneShot<Data?>()

    /// A body like the transport's. Its first pull waits for the answer, regardless of a cancellation. A later pull
    /// ends the body.
    private func body() -> HTTPResponseBody {
        let (record, pulled, answer, pulls) = (record, pulled, answer, Counter())
        let body = HTTPResponseBody.received(
            length: nil,
            pull: {
                guard pulls.next() == 1 else { return nil }
                pulled.set(())
                return await answer.value
            }, cancel: { record.write("cancel") })
        body.onEnd { record.write($0) }
        return body
    }

    /// The same body with a link that sees its pieces.
    private func mapped() -> HTTPResponseBody {
        let record = record
        let body = body().map { piece in
            record.write("piece of \(piece.count)")
            return piece
        }
        body.onEnd { _ in record.write("end") }
        return body
    }

    private func cancel(_ body: HTTPResponseBody) { body.canceller(throwing: Odd())() }

    @Test(arguments: [nil, Data("abc".utf8)])
    func `a body that is cancelled during a pull ends once, after the pull`(last: Data?) async {
        let body = mapped()
        let read = Task { try await body.data() }
        await pulled.value
        cancel(body)
        cancel(body)
        #expect(record.all == ["cancel"])
        answer.set(last)
        await #expect(throws: Odd.self) { try await read.value }
        #expect(record.all == ["cancel", "dropped", "end"])
    }

    @Test func `a body that is cancelled between two pulls ends at once, and its next read throws the error once`()
        async throws
    {
        answer.set(Data("abc".utf8))
        let body = mapped()
        var pieces = body.makeAsyncIterator()
        #expect(try await pieces.next() == Data("abc".utf8))
        cancel(body)
        #expect(record.all == ["piece of 3", "cancel", "dropped", "end"])
        await #expect(throws: Odd.self) { try await pieces.next() }
        #expect(try await pieces.next() == nil)
        #expect(record.all.count == 4)
    }

    @Test func `a body that one copy of an iterator ends is not over while another copy pulls`() async throws {
        let iterator = body().makeAsyncIterator()
        let read = Task {
            var iterator = iterator
            return try await iterator.next()
        }
        await pulled.value
        var copy = iterator
        #expect(try await copy.next() == nil)
        #expect(record.all.isEmpty)
        answer.set(Data("abc".utf8))
        #expect(try await read.value == Data("abc".utf8))
        #expect(record.all == ["complete"])
    }

    @Test func `a body that ends is not cancelled, and one that is dropped ends at once`() async throws {
        answer.set(nil)
        #expect(try await mapped().data().isEmpty)
        #expect(record.all == ["complete", "end"])
        _ = mapped().makeAsyncIterator()
        _ = mapped()
        #expect(record.all.suffix(6) == ["cancel", "dropped", "end", "cancel", "dropped", "end"])
    }

    @Test func `a pull that fails ends the body with its error`() async {
        let record = record
        let body = HTTPResponseBody(length: nil, pull: { throw Odd() }, cancel: { record.write("cancel") })
        body.onEnd { record.write($0) }
        await #expect(throws: Odd.self) { try await body.data() }
        #expect(record.all == ["cancel", "failed: Odd"])
        body.onEnd { _ in record.write("late") }
        #expect(record.all.last == "late")
    }

    @Test func `a map that throws ends the body below it`() async {
        answer.set(Data("abc".utf8))
        let body = body().map { _ in throw Odd() }
        await #expect(throws: Odd.self) { try await body.data() }
        #expect(record.all == ["cancel", "dropped"])
    }

    @Test func `a map changes the pieces of a stream, and the bytes of a body in memory`() async throws {
        let louder = { @Sendable (piece: Data) in piece + Data("!".utf8) }
        answer.set(Data("abc".utf8))
        let streamed = body().map(louder)
        #expect(streamed.length == nil)
        #expect(try await streamed.data() == Data("abc!".utf8))
        #expect(HTTPResponseBody(Data("abc".utf8)).map(louder).buffered == Data("abc!".utf8))
        #expect(HTTPResponseBody().map(louder).buffered == Data())
        let failing = HTTPResponseBody(Data("abc".utf8)).map { _ in throw Odd() }
        await #expect(throws: Odd.self) { try await failing.data() }
        #expect(HTTPResponseBody(length: 3) { nil }.map(length: 3) { $0 }.length == 3)
    }

    @Test func `a body in memory has ended`() {
        let record = record
        HTTPResponseBody(Data("abc".utf8)).onEnd { record.write($0) }
        #expect(record.all == ["complete"])
    }

    @Test func `cancelling a body ends a pull of the caller's closure, and not the task of the reader`() async throws {
        let (record, pulled) = (record, pulled)
        let body = HTTPResponseBody(
            length: nil,
            pull: {
                pulled.set(())
                do { try await Task.sleep(for: .seconds(3_600)) } catch {
                    record.write("cancelled")
                    throw error
                }
                return nil
            }, cancel: { record.write("cancel") })
        body.onEnd { record.write($0) }
        let read = Task {
            let error = await #expect(throws: Odd.self) { try await body.data() }
            return (error, Task.isCancelled)
        }
        await pulled.value
        cancel(body)
        #expect(await read.value.1 == false)
        #expect(Set(record.all) == ["cancel", "cancelled", "failed: Odd"])
        #expect(record.all.last == "failed: Odd")
    }

    @Test(arguments: [true, false])
    func `cancelling the reader ends a pull of the closure, and empty pieces of one that ignores the cancellation`(
        isIgnored: Bool
    ) async {
        let pulled = pulled
        let body = HTTPResponseBody(length: nil) {
            pulled.set(())
            if isIgnored { return Data() }
            try await Task.sleep(for: .seconds(3_600))
            return nil
        }
        let read = Task { try await body.data() }
        await pulled.value
        read.cancel()
        await #expect(throws: CancellationError.self) { try await read.value }
    }

    @Test func `a body of empty pieces ends when it is cancelled`() async {
        let pulled = pulled
        let body = HTTPResponseBody(length: nil) {
            pulled.set(())
            return Data()
        }
        let read = Task { try await body.data() }
        await pulled.value
        cancel(body.withheld())
        await #expect(throws: Odd.self) { try await read.value }
    }

    @Test func `a reset at the end of a body frees one slot of a throttle`() async throws {
        let throttle = Throttle(limit: 1)
        let (pulled, answer, cancelled) = (pulled, answer, OneShot<Void>())
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

extension Journal {
    fileprivate func write(_ end: HTTPResponseBody.End) {
        switch end {
        case .complete: write("complete")
        case .failed(let error): write("failed: \(type(of: error))")
        case .dropped: write("dropped")
        }
    }
}
