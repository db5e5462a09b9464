// SPDX-License-Identifier: MIT
import Foundation
@testable import Letterhead
import LetterheadTesting
import Synchronization
import TestKit
import Testing

/// Pages on demand: a page for each call, and a reset that drops what is late.
@Suite(.timeLimit(.minutes(3)))
struct PagerTests {
    /// Lets loads pass one by one.
    private struct Gate: Sendable {
        let arrived = Observed(0)
        private let passing = Observed(0)

        func pass() async {
            arrived.change { $0 += 1 }
            let number = arrived.value
            await passing.wait { $0 >= number }
        }

        func letOneThrough() { passing.change { $0 += 1 } }
    }

    private static func page(_ request: HTTPRequest) throws -> HTTPResponse {
        try .ok(request, json: [Int(request[query: "page"] ?? "") ?? 0])
    }

    private let list = Get<[Int]>("numbers")
    private let counting = MockLoader { try PagerTests.page($0) }

    private func client(over mock: MockLoader) -> HTTPClient {
        HTTPClient(environment: .of("https://example.test"), transport: mock)
    }

    private func pager(_ gate: Gate? = nil, pages: Int = 3) -> (pager: Pager<Paginated<Get<[Int]>>>, mock: MockLoader) {
        let mock = MockLoader { request in
            await gate?.pass()
            let page = Int(request[query: "page"] ?? "") ?? 0
            return try .ok(request, json: page <= pages ? [page] : [])
        }
        return (client(over: mock).pager(of: list.paginated()), mock)
    }

    @Test func `pages arrive one by one until the last`() async throws {
        let (pager, _) = pager(pages: 2)
        #expect(pager.hasMore)
        #expect(try await pager.next()?.value == [1])
        #expect(try await pager.next()?.value == [2])
        #expect(pager.hasMore)
        #expect(try await pager.next() == nil)
        #expect(!pager.hasMore)
        #expect(try await pager.next() == nil)
    }

    @Test func `concurrent calls receive successive pages, in the order of the calls`() async throws {
        let gate = Gate()
        let (pager, mock) = pager(gate, pages: 2)
        var calls: [Task<Page<[Int]>?, any Error>] = []
        for count in 1...4 {
            calls.append(Task { try await pager.next() })
            await until { pager.waiting == count }
        }
        for _ in 1...3 { gate.letOneThrough() }
        var pages: [[Int]?] = []
        for call in calls { pages.append(try await call.value?.value) }
        #expect(pages == [[1], [2], nil, nil])
        #expect(mock.requests.map { $0[query: "page"] } == ["1", "2", "3"])
    }

    @Test func `the page of a cancelled call is returned by the next call`() async throws {
        let gate = Gate()
        let (pager, mock) = pager(gate)
        let first = Task { try await pager.next() }
        await gate.arrived.wait { $0 == 1 }
        let second = Task { try await pager.next() }
        await until { pager.waiting == 2 }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        gate.letOneThrough()
        #expect(try await second.value?.value == [1])
        #expect(mock.requests.map { $0[query: "page"] } == ["1"])
    }

    @Test func `an error is thrown by the first call, and the next call requests that page again`() async throws {
        let gate = Gate()
        let isBroken = Atomic<Bool>(true)
        let mock = MockLoader { request in
            await gate.pass()
            if isBroken.exchange(false, ordering: .relaxed) { return HTTPResponse(request: request, status: 503) }
            return try Self.page(request)
        }
        let pager = client(over: mock).pager(of: list.paginated())
        let first = Task { try await pager.next() }
        await until { pager.waiting == 1 }
        let second = Task { try await pager.next() }
        await until { pager.waiting == 2 }
        for _ in 1...2 { gate.letOneThrough() }
        await #expect(throws: HTTPError.self) { try await first.value }
        #expect(try await second.value?.value == [1])
    }

    @Test func `after a reset of the client a pager starts at the first page, without its checkpoint`() async throws {
        let client = client(over: counting)
        let pager = client.pager(of: list.paginated())
        let checkpoint = try await pager.next()?.checkpoint
        #expect(try await pager.next()?.value == [2])
        let resumed = client.pager(of: list.paginated(), from: checkpoint)
        #expect(try await resumed.next()?.value == [2])
        await client.reset()
        #expect(pager.hasMore && resumed.hasMore)
        #expect(try await pager.next()?.value == [1])
        #expect(try await resumed.next()?.value == [1])
        resumed.reset()
        #expect(try await resumed.next()?.value == [1])
        #expect(try await client.pager(of: list.paginated(), from: checkpoint).next()?.value == [2])
    }

    @Test func `a prefetched page is not delivered after a reset of the client`() async throws {
        let (mock, client) = (counting, client(over: counting))
        let settings = PageSettings(prefetches: true)
        var pages = client.pages(of: list.paginated(), settings: settings).makeAsyncIterator()
        #expect(try await pages.next()?.value == [1])
        // The next page is requested in a task that may not have begun.
        while mock.requests.count < 2 { await Task.yield() }
        await client.reset()
        for _ in 1...2 {
            let error = await #expect(throws: HTTPError.self) { try await pages.next() }
            #expect(error?.code == .cancelled && error?.message.contains("the client was reset") == true)
        }
        #expect(mock.requests.count == 2)
    }

    @Test func `a reset discards a late page and starts at the first page`() async throws {
        let gate = Gate()
        let (pager, mock) = pager(gate)
        gate.letOneThrough()
        #expect(try await pager.next()?.value == [1])
        let late = Task { try await pager.next() }
        await gate.arrived.wait { $0 >= 2 }
        pager.reset()
        await #expect(throws: CancellationError.self) { try await late.value }
        gate.letOneThrough()
        gate.letOneThrough()
        #expect(try await pager.next()?.value == [1])
        #expect(mock.requests.map { $0[query: "page"] } == ["1", "2", "1"])
    }

    @Test func `a discarded prefetched page is requested again, as after a cancelled call`() async throws {
        let arrived = Atomic<Bool>(false)
        let isOpen = Atomic<Bool>(false)
        let mock = MockLoader { request in
            let page = Int(request[query: "page"] ?? "") ?? 0
            if page == 2, !isOpen.load(ordering: .relaxed) {
                arrived.store(true, ordering: .relaxed)
                try await Task.sleep(for: .seconds(60))
            }
            return try Self.page(request)
        }
        var kept = client(over: mock).pages(of: list.paginated(), settings: PageSettings(prefetches: true))
            .makeAsyncIterator()
        #expect(try await kept.next()?.value == [1])
        await until { arrived.load(ordering: .relaxed) }
        let call = Task { [kept] in
            var copy = kept
            withUnsafeCurrentTask { $0?.cancel() }
            _ = try await copy.next()
        }
        await #expect(throws: CancellationError.self) { try await call.value }
        isOpen.store(true, ordering: .relaxed)
        #expect(try await kept.next()?.value == [2])
    }

    @Test func `after the maximum of pages there are no more`() async throws {
        let pager = client(over: counting).pager(of: list.paginated(), settings: PageSettings(maximumPages: 1))
        #expect(try await pager.next()?.checkpoint != nil)
        #expect(!pager.hasMore)
    }

    @Test func `a pager that is dropped ends its load`() async throws {
        let ended = Atomic<Bool>(false)
        let loading = Atomic<Bool>(false)
        let mock = MockLoader { request in
            loading.store(true, ordering: .relaxed)
            defer { ended.store(true, ordering: .relaxed) }
            try await Task.sleep(for: .seconds(60))
            return HTTPResponse(request: request, status: .ok)
        }
        let client = client(over: mock)
        let call = Task { _ = try await client.pager(of: list.paginated()).next() }
        await until { loading.load(ordering: .relaxed) }
        call.cancel()
        await until { ended.load(ordering: .relaxed) }
        await #expect(throws: CancellationError.self) { try await call.value }
    }
}
