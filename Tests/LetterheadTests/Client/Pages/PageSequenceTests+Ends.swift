// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Synchronization
import TestKit
import Testing

/// What stops a walk: circles, deadlines, limits, and settings that are refused.
extension PageSequenceTests {
    @Test(arguments: [(["a": "a"], 2), (["a": "b", "b": "a"], 3)] as [([String: String], Int)])
    func `a repeated cursor is a loop, after all pages that arrived`(next: [String: String], pages: Int) async throws {
        let (client, mock) = cursors { Cursors(items: [1], next: $0 == nil ? "a" : next[$0 ?? ""]) }
        var seen = 0
        let error = await #expect(throws: HTTPError.self) {
            for try await _ in client.pages(of: byCursor) { seen += 1 }
        }
        #expect(error?.code == .paginationLoop && mock.requests.count == pages && seen == pages)
    }

    @Test func `a reader that stops after the last page that arrived receives no error of a loop`() async throws {
        let (client, mock) = cursors { _ in Cursors(items: [1, 2], next: "a") }
        #expect(try await client.pages(of: byCursor, settings: PageSettings(maximumPages: 2)).collect().count == 2)
        let settings = PageSettings(maximumItems: 4)
        #expect(try await client.items(of: byCursor, at: \.items, settings: settings).collect() == [1, 2, 1, 2])
        #expect(mock.requests.count == 4)
    }

    @Test func `a loop is an error in each further call, and no checkpoint leads into it`() async throws {
        let (client, mock) = cursors { _ in Cursors(items: [1], next: "a") }
        var iterator = client.pages(of: byCursor).makeAsyncIterator()
        _ = try await iterator.next()
        let last = try await iterator.next()
        for _ in 0..<2 {
            let error = await #expect(throws: HTTPError.self) { try await iterator.next() }
            #expect(error?.code == .paginationLoop)
        }
        let checkpoint = try #require(last?.checkpoint)
        let error = await #expect(throws: HTTPError.self) {
            try await client.pages(of: byCursor, from: checkpoint).collect()
        }
        #expect(error?.code == .invalidRequest && mock.requests.count == 2)
    }

    @Test func `numbered pages end where a page declares that it is the last, and not at an empty one`() async throws {
        struct Numbered: Codable, Sendable { var items: [Int], hasMore: Bool }
        let mock = MockLoader { request in
            let page = request.query["page"].flatMap { Int($0) } ?? 0
            return try .ok(request, json: Numbered(items: page == 2 ? [] : [page], hasMore: page < 3))
        }
        let client = HTTPClient(environment: .of("https://h"), transport: mock)
        let template = TestEndpoint("a", answering: Numbered.self).paginated(by: .page(hasMore: \.hasMore))
        let pages = try await client.pages(of: template).collect()
        #expect(pages.map(\.value.items) == [[1], [], [3]])
        #expect(mock.requests.map { $0.query["page"] } == ["1", "2", "3"])
    }

    struct Tokens: Codable, Sendable { var next: String?, token: String? }

    private var carrying: Pagination<Tokens> {
        .cursor(\.next, parameter: "c").carrying(\.token, parameter: .query("t"))
    }

    @Test
    func `a carried value is kept until a page replaces it, also in a checkpoint, and a loop is detected`()
        async throws
    {
        let mock = MockLoader { request in
            switch request.query["c"] {
            case nil: try .ok(request, json: Tokens(next: "1", token: "a"))
            case "1": try .ok(request, json: Tokens(next: "2"))
            default: try .ok(request, json: Tokens(next: "3", token: "b"))
            }
        }
        let client = client(over: mock)
        let list = Get<Tokens>("list").paginated(by: carrying)
        var iterator = client.pages(of: list).makeAsyncIterator()
        _ = try await iterator.next()
        let checkpoint = try #require(try await iterator.next()?.checkpoint)
        let copy = try JSONDecoder().decode(PageCheckpoint.self, from: try JSONEncoder().encode(checkpoint))
        let error = await #expect(throws: HTTPError.self) { try await client.pages(of: list, from: copy).collect() }
        #expect(error?.code == .paginationLoop)
        #expect(mock.requests.map { $0.query.escaped } == ["", "c=1&t=a", "c=2&t=a", "c=3&t=b"])
    }

    @Test func `a repeated cursor is a loop, even if carried values are new`() async throws {
        let count = Counter()
        let mock = MockLoader { try .ok($0, json: Tokens(next: "1", token: "\(count.next())")) }
        let list = Get<Tokens>("list").paginated(by: carrying)
        let error = await #expect(throws: HTTPError.self) { try await client(over: mock).pages(of: list).collect() }
        #expect(error?.code == .paginationLoop)
        #expect(mock.requests.map { $0.query.escaped } == ["", "c=1&t=1"])
    }

    @Test(arguments: [true, false]) func `a sequence ends at its deadline, and before a delay that would pass it`(
        prefetches: Bool
    ) async throws {
        let clock = TestClock(isAutomatic: true)
        let settings = PageSettings(delay: .seconds(2), deadline: .seconds(5), prefetches: prefetches)
        let (client, mock) = numbers(100, retrying: Backoff(clock: clock))
        var pages = 0
        let error = await #expect(throws: HTTPError.self) {
            for try await _ in client.pages(of: Numbers().paginated(), settings: settings) { pages += 1 }
        }
        #expect(
            error?.code == .timedOut && error?.message == "the deadline passes before the next request"
                && error?.mayHaveBeenSent == false)
        #expect(pages == 3 && mock.requests.count == 3 && clock.sleeps == [.seconds(2), .seconds(2)])
    }

    @Test func `each load of a sequence has its remaining time, or an earlier deadline of its own`()
        async throws
    {
        let clock = TestClock()
        let left = Mutex<[Duration?]>([])
        let mock = MockLoader { request in
            left.withLock { $0.append(request.timeLeft) }
            clock.advance(by: .seconds(3))
            return try .ok(request, json: [1])
        }
        let client = HTTPClient(
            environment: .of("https://api.example.com"), retrying: Backoff(clock: clock), transport: mock)
        let settings = PageSettings(deadline: .seconds(10))
        var iterator = client.pages(of: Numbers().paginated(), settings: settings).makeAsyncIterator()
        for _ in 0..<3 { _ = try await iterator.next() }
        let own = client.pages(of: Numbers().deadline(in: .seconds(4)).paginated(), settings: settings)
        for try await _ in own.prefix(3) {}
        let seconds = left.withLock { $0.map { $0?.components.seconds } }
        #expect(seconds == [10, 7, 4, 4, 4, 4])
    }

    @Test(arguments: [(PageSettings(maximumEmptyPages: 5), 6, "empty"), (PageSettings(pageLimit: 3), 3, "3 pages")])
    func `too many pages, or too many empty ones in a row, are an error that names the limit`(
        settings: PageSettings, requests: Int, says: String
    ) async throws {
        let items: [Int] = settings.pageLimit == 3 ? [1] : []
        let (client, mock) = cursors { Cursors(items: items, next: String((Int($0 ?? "0") ?? 0) + 1)) }
        let error = await #expect(throws: HTTPError.self) {
            try await client.items(of: byCursor, at: \.items, settings: settings).collect()
        }
        #expect(error?.code == .paginationLoop && error?.message.contains(says) == true)
        #expect(mock.requests.count == requests)
    }

    @Test(arguments: [
        PageSettings(maximumPages: -1), PageSettings(maximumItems: -1), PageSettings(maximumEmptyPages: -1),
        PageSettings(pageLimit: -1),
        PageSettings(delay: .seconds(-1)), PageSettings(deadline: .zero), PageSettings(deadline: .seconds(-1)),
    ])
    func `a setting out of its range is an error before anything is sent`(settings: PageSettings) async throws {
        let (client, mock) = numbers(3)
        let error = await #expect(throws: HTTPError.self) {
            try await client.items(of: Numbers().paginated(), settings: settings).collect()
        }
        #expect(error?.code == .invalidRequest && mock.requests.isEmpty)
    }
}
