// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Synchronization
import TestKit
import Testing

/// How far a walk goes, when it asks, and what stops it.
@Suite(.timeLimit(.minutes(3)))
struct PageSequenceTests {
    struct Cursors: Codable, Sendable {
        var items: [Int]
        var next: String?
    }

    /// Pages of two out of `count` numbers.
    func numbers(
        _ count: Int, failing page: Int? = nil, retrying: Backoff = Backoff()
    ) -> (client: HTTPClient, mock: MockLoader) {
        let failures = Mutex(1)
        let mock = MockLoader { request in
            let number = Int(request[query: "page"] ?? "1") ?? 1
            let fails = failures.withLock { left in
                defer { if number == page { left -= 1 } }
                return number == page && left > 0
            }
            if fails { return HTTPResponse(request: request, status: 500) }
            return try .ok(request, json: Array(Array(0..<count).dropFirst((number - 1) * 2).prefix(2)))
        }
        return (client(over: mock, retrying: retrying), mock)
    }

    func cursors(_ answer: @escaping @Sendable (String?) -> Cursors) -> (client: HTTPClient, mock: MockLoader) {
        let mock = MockLoader { request in try .ok(request, json: answer(request[query: "c"])) }
        return (client(over: mock), mock)
    }

    func client(over mock: MockLoader, retrying: Backoff = Backoff()) -> HTTPClient {
        HTTPClient(retrying: retrying, links: ModifyRequest { $0.host = "example.test" }, transport: mock)
    }

    let list = Get<[Int]>("numbers")
    let byCursor = Get<Cursors>("cursor").paginated(by: .cursor(\.next, parameter: "c"))

    @Test func `without a size a sequence ends at the first empty page, which is not delivered`() async throws {
        let (client, mock) = numbers(4)
        #expect(try await client.pages(of: list.paginated()).collect().map(\.value) == [[0, 1], [2, 3]])
        #expect(mock.requests.map { $0[query: "page"] } == ["1", "2", "3"])
    }

    @Test func `with a size a sequence ends at a shorter page`() async throws {
        let (client, mock) = numbers(5)
        #expect(try await client.items(of: list.paginated(size: 2)).collect() == [0, 1, 2, 3, 4])
        #expect(mock.requests.count == 3)
    }

    @Test func `a page is not requested before its first item is`() async throws {
        let (client, mock) = numbers(9)
        for try await item in client.items(of: list.paginated()) where item == 1 { break }
        #expect(mock.requests.count == 1)
        for try await item in client.items(of: list.paginated()) where item == 2 { break }
        #expect(mock.requests.count == 3)
    }

    @Test func `an error on page two follows page one, and the next call requests page two again`() async throws {
        let (client, mock) = numbers(5, failing: 2)
        var pages = client.pages(of: list.paginated(size: 2)).makeAsyncIterator()
        #expect(try await pages.next()?.value == [0, 1])
        let error = await #expect(throws: HTTPError.self) { try await pages.next() }
        #expect(error?.response?.status == .internalServerError)
        #expect(try await pages.next()?.value == [2, 3])
        #expect(try await pages.next()?.value == [4])
        #expect(try await pages.next() == nil)
        #expect(mock.requests.map { $0[query: "page"] } == ["1", "2", "2", "3"])
    }

    @Test(arguments: [(0, 0), (1, 1), (2, 1), (3, 2)])
    func `a sequence requests no page after the maximum of pages or of items`(items: Int, pages: Int) async throws {
        let (client, mock) = numbers(100)
        var settings = PageSettings(maximumItems: items)
        #expect(try await client.items(of: list.paginated(), settings: settings).collect().count == items)
        #expect(mock.requests.count == pages)
        settings = PageSettings(maximumPages: pages)
        #expect(try await client.pages(of: list.paginated(), settings: settings).collect().count == pages)
        #expect(mock.requests.count == 2 * pages)
    }

    @Test(arguments: [PagePosition.number(5), .offset(5), .url("https://example.test/5"), .unknown])
    func `a checkpoint of another kind is an error before anything is sent`(position: PagePosition) async throws {
        let (client, mock) = cursors { _ in Cursors(items: [1], next: nil) }
        let checkpoint = PageCheckpoint(page: 5, position: position)
        let error = await failure { try await client.pages(of: byCursor, from: checkpoint).collect() }
        #expect(error?.code == .invalidRequest && error?.message.contains("checkpoint") == true)
        #expect(mock.requests.isEmpty)
    }

    @Test func `a checkpoint shows neither its URL nor its cursor`() {
        for position in [PagePosition.url("https://example.test/?access_token=SECRET"), .cursor("SECRET")] {
            var dumped = ""
            dump(PageCheckpoint(page: 2, position: position), to: &dumped)
            #expect(!dumped.contains("SECRET") && !"\(PageCheckpoint(page: 2, position: position))".contains("SECRET"))
        }
    }

    @Test func `a query modifier does not change next links`() async throws {
        let mock = MockLoader { request in
            var response = try HTTPResponse.ok(request, json: [1])
            if !request.query.contains("page") { response.headers["Link"] = "</numbers?tag=a&size=5&page=2>; rel=next" }
            return response
        }
        let walk = list.paginated(by: .linkHeader).addingQuery("tag", "a").query("size", 5)
        #expect(try await client(over: mock).pages(of: walk).collect().count == 2)
        #expect(mock.requests.map(\.target) == ["/numbers?tag=a&size=5", "/numbers?tag=a&size=5&page=2"])
    }

    @Test func `a page that a template or a later modifier sets is a single page`() async throws {
        let (client, mock) = numbers(100)
        let own = try await client.pages(of: list.query("page", 7).paginated(page: 2)).collect()
        let later = try await client.pages(of: list.paginated().query("page", 7)).collect()
        #expect((own + later).map(\.value) == [[12, 13], [12, 13]])
        #expect(mock.requests.map { $0.query.values(for: "page") } == [["7"], ["7"]])
    }

    struct Watched: RequestTemplate {
        typealias Response = [Int]
        let reads = Counter()
        var path: RequestPath { "numbers" }
        var headers: HTTPHeaders { ["X-Read": "\(reads.next())"] }
    }

    @Test func `no request is built to find out that the query of the second page differs`() async throws {
        let (client, watched) = (numbers(9).client, Watched())
        var pages = client.pages(of: watched.paginated()).makeAsyncIterator()
        _ = try await pages.next()
        let reads = watched.reads.value
        _ = try await pages.next()
        #expect(reads > 0 && watched.reads.value == 2 * reads)
    }

    @Test func `an offset and its limit are sent`() async throws {
        let mock = MockLoader { request in
            let offset = Int(request[query: "offset"] ?? "") ?? -1
            return try .ok(request, json: offset < 4 ? [offset, offset + 1] : [offset])
        }
        let walk = list.paginated(by: .offset(limit: 2))
        #expect(try await client(over: mock).items(of: walk).collect() == [0, 1, 2, 3, 4])
        #expect(mock.requests.map { $0.query.escaped } == ["limit=2&offset=0", "limit=2&offset=2", "limit=2&offset=4"])
    }

    @Test(arguments: [nil, 2] as [Int?])
    func `a header with the number of pages ends the sequence, and so does a short page without it`(
        size: Int?
    ) async throws {
        let mock = MockLoader { request in
            if size != nil, request[query: "page"] == "2" { return try .ok(request, json: [3]) }
            var response = try HTTPResponse.ok(request, json: [1, 2])
            response.headers["X-Total-Pages"] = "2"
            return response
        }
        let walk = list.paginated(by: .page(size: size, totalPagesHeader: "X-Total-Pages"))
        #expect(try await client(over: mock).pages(of: walk).collect().count == 2)
        #expect(mock.requests.count == 2)
    }

    @Test(arguments: [
        Pagination<[Int]>.page(step: 0), .page(size: 0), .page(size: -1), .offset(limit: 0), .offset(limit: -1),
    ])
    func `pages without a step or a size are an error before anything is sent`(by pagination: Pagination<[Int]>)
        async throws
    {
        let (client, mock) = numbers(3)
        let error = await failure { try await client.pages(of: list.paginated(by: pagination)).collect() }
        #expect(error?.code == .invalidRequest && mock.requests.isEmpty)
    }

    @Test func `the page after a cursor cannot be requested without a response`() async throws {
        let (client, mock) = cursors { _ in Cursors(items: [], next: nil) }
        let next = byCursor.requestForNextPage()
        #expect(next.page == 2 && next.position == .unknown)
        #expect(await failure { try await client.send(next) }?.code == .invalidRequest && mock.requests.isEmpty)
    }

    @Test func `pages that differ only in a header are requested`() async throws {
        struct Ranges: PaginatedTemplate {
            typealias Response = [Int]
            var page = 1
            var path: RequestPath { "items" }
            var headers: HTTPHeaders { ["Range": "items=\(page)"] }
            var position: PagePosition { .number(page) }
            func requestForNextPage() -> Ranges { Ranges(page: page + 1) }
            func resumed(from checkpoint: PageCheckpoint) -> Ranges { Ranges(page: checkpoint.page) }
            func requestForNextPage(after arrival: Page<[Int]>) -> PageContinuation<Ranges> {
                arrival.value.isEmpty ? .ended : .next(requestForNextPage())
            }
        }
        let mock = MockLoader { request in try .ok(request, json: request.headers["Range"] == "items=3" ? [] : [1]) }
        let pages = try await client(over: mock).pages(of: Ranges()).collect()
        #expect(pages.count == 2 && mock.requests.count == 3)
    }

    @Test func `a cursor that is an object is refused in a query`() async throws {
        let walk = list.paginated(by: .cursor(parameter: "after") { _ in .object(["id": 1]) })
        let mock = MockLoader { try .ok($0, json: [1]) }
        let error = await #expect(throws: HTTPError.self) { try await client(over: mock).pages(of: walk).collect() }
        #expect(error?.code == .invalidRequest && error?.message.contains("object") == true)
        #expect(mock.requests.count == 1)
    }

    // MARK: What stops a walk

    @Test(arguments: [(["a": "a"], 2), (["a": "b", "b": "a"], 3)] as [([String: String], Int)])
    func `a repeated cursor is a loop, after all pages that arrived`(next: [String: String], pages: Int) async throws {
        let (client, mock) = cursors { Cursors(items: [1], next: $0 == nil ? "a" : next[$0 ?? ""]) }
        var seen = 0
        let error = await failure { for try await _ in client.pages(of: byCursor) { seen += 1 } }
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
        let error = await failure { try await client.pages(of: byCursor, from: checkpoint).collect() }
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

    @Test func `a carried value is kept until a page replaces it, also in a checkpoint, and a loop is detected`()
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
        #expect(await failure { try await client.pages(of: list, from: copy).collect() }?.code == .paginationLoop)
        #expect(mock.requests.map { $0.query.escaped } == ["", "c=1&t=a", "c=2&t=a", "c=3&t=b"])
    }

    private struct Search: RequestTemplate {
        typealias Response = Tokens
        var path: RequestPath { "list" }
        var parameters: RequestParameters { ["t": "old", "q": "x"] }
    }

    @Test func `a carried value replaces the one that the parameters of a template set`() async throws {
        let mock = MockLoader { try .ok($0, json: Tokens(next: $0.query["c"] == nil ? "1" : nil, token: "new")) }
        _ = try await client(over: mock).pages(of: Search().paginated(by: carrying)).collect()
        #expect(mock.requests.last?.query.escaped == "c=1&t=new&q=x")
    }

    @Test func `a repeated cursor is a loop, even if carried values are new`() async throws {
        let count = Counter()
        let mock = MockLoader { try .ok($0, json: Tokens(next: "1", token: "\(count.next())")) }
        let list = Get<Tokens>("list").paginated(by: carrying)
        let error = await #expect(throws: HTTPError.self) { try await client(over: mock).pages(of: list).collect() }
        #expect(error?.code == .paginationLoop && mock.requests.map { $0.query.escaped } == ["", "c=1&t=1"])
    }

    @Test(arguments: [true, false])
    func `a sequence ends at its deadline, and before a delay that would pass it`(prefetches: Bool) async throws {
        let clock = TestClock(isAutomatic: true)
        let settings = PageSettings(delay: .seconds(2), deadline: .seconds(5), prefetches: prefetches)
        let (client, mock) = numbers(100, retrying: Backoff(clock: clock))
        var pages = 0
        let error = await #expect(throws: HTTPError.self) {
            for try await _ in client.pages(of: list.paginated(), settings: settings) { pages += 1 }
        }
        #expect(
            error?.code == .timedOut && error?.message == "the deadline passes before the next request"
                && error?.mayHaveBeenSent == false)
        #expect(pages == 3 && mock.requests.count == 3 && clock.sleeps == [.seconds(2), .seconds(2)])
    }

    @Test func `each load of a sequence has its remaining time, or an earlier deadline of its own`() async throws {
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
        var iterator = client.pages(of: list.paginated(), settings: settings).makeAsyncIterator()
        for _ in 0..<3 { _ = try await iterator.next() }
        let own = client.pages(of: list.deadline(in: .seconds(4)).paginated(), settings: settings)
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
        let error = await failure { try await client.items(of: byCursor, at: \.items, settings: settings).collect() }
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
        let error = await failure { try await client.items(of: list.paginated(), settings: settings).collect() }
        #expect(error?.code == .invalidRequest && mock.requests.isEmpty)
    }
}
