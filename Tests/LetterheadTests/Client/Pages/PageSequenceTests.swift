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
    struct Numbers: RequestTemplate {
        typealias Response = [Int]
        var path: RequestPath { "numbers" }
    }

    struct Cursors: Codable, Sendable {
        var items: [Int]
        var next: String?
    }

    struct ByCursor: RequestTemplate {
        typealias Response = Cursors
        var path: RequestPath { "cursor" }
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

    let byCursor = ByCursor().paginated(by: .cursor(\.next, parameter: "c"))

    @Test func `without a size a sequence ends at the first empty page, which is not delivered`() async throws {
        let (client, mock) = numbers(4)
        #expect(try await client.pages(of: Numbers().paginated()).collect().map(\.value) == [[0, 1], [2, 3]])
        #expect(mock.requests.map { $0[query: "page"] } == ["1", "2", "3"])
    }

    @Test func `with a size a sequence ends at a shorter page`() async throws {
        let (client, mock) = numbers(5)
        #expect(try await client.items(of: Numbers().paginated(size: 2)).collect() == [0, 1, 2, 3, 4])
        #expect(mock.requests.count == 3)
    }

    @Test func `a page is not requested before its first item is`() async throws {
        let (client, mock) = numbers(9)
        for try await item in client.items(of: Numbers().paginated()) where item == 1 { break }
        #expect(mock.requests.count == 1)
        for try await item in client.items(of: Numbers().paginated()) where item == 2 { break }
        #expect(mock.requests.count == 3)
    }

    @Test func `an error on page two follows page one, and the next call requests page two again`() async throws {
        let (client, mock) = numbers(5, failing: 2)
        var pages = client.pages(of: Numbers().paginated(size: 2)).makeAsyncIterator()
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
        #expect(try await client.items(of: Numbers().paginated(), settings: settings).collect().count == items)
        #expect(mock.requests.count == pages)
        settings = PageSettings(maximumPages: pages)
        #expect(try await client.pages(of: Numbers().paginated(), settings: settings).collect().count == pages)
        #expect(mock.requests.count == 2 * pages)
    }

    @Test func `a checkpoint survives JSON and a sequence continues from it`() async throws {
        let (client, _) = cursors {
            Cursors(items: [Int($0 ?? "0") ?? 0], next: $0 == "3" ? nil : String((Int($0 ?? "0") ?? 0) + 1))
        }
        let walk = byCursor.header("X-Trace", "1")
        var pages = client.pages(of: walk).makeAsyncIterator()
        let saved = try JSONEncoder().encode(try await pages.next()?.checkpoint)
        let checkpoint = try JSONDecoder().decode(PageCheckpoint.self, from: saved)
        let rest = try await client.pages(of: walk, from: checkpoint).collect()
        #expect(rest.map(\.value.items) == [[1], [2], [3]] && rest.map(\.number) == [2, 3, 4])
        #expect(rest.last?.checkpoint == nil)
    }

    @Test(arguments: [PagePosition.number(5), .offset(5), .url("https://example.test/5"), .unknown])
    func `a checkpoint of another kind is an error before anything is sent`(position: PagePosition) async throws {
        let (client, mock) = cursors { _ in Cursors(items: [1], next: nil) }
        let checkpoint = PageCheckpoint(page: 5, position: position)
        let error = await #expect(throws: HTTPError.self) {
            try await client.pages(of: byCursor, from: checkpoint).collect()
        }
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
        let walk = Numbers().paginated(by: .linkHeader).addingQuery("tag", "a").query("size", 5)
        #expect(try await client(over: mock).pages(of: walk).collect().count == 2)
        #expect(mock.requests.map(\.target) == ["/numbers?tag=a&size=5", "/numbers?tag=a&size=5&page=2"])
    }

    @Test func `a page that a template or a later modifier sets is a single page`() async throws {
        let (client, mock) = numbers(100)
        let own = try await client.pages(of: Numbers().query("page", 7).paginated(page: 2)).collect()
        let later = try await client.pages(of: Numbers().paginated().query("page", 7)).collect()
        #expect((own + later).map(\.value) == [[12, 13], [12, 13]])
        #expect(mock.requests.map { $0.query.values(for: "page") } == [["7"], ["7"]])
    }

    struct Watched: RequestTemplate {
        typealias Response = [Int]
        let reads = Tally()
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

    @Test func `with prefetch the next page is requested while a page is read`() async throws {
        let (client, mock) = numbers(9)
        var pages = client.pages(of: Numbers().paginated(size: 2), settings: PageSettings(prefetches: true))
            .makeAsyncIterator()
        #expect(try await pages.next()?.value == [0, 1])
        await until { mock.requests.count >= 2 }
        #expect(mock.requests.count == 2)
        #expect(try await pages.next()?.value == [2, 3])
    }

    @Test func `an offset and its limit are sent`() async throws {
        let mock = MockLoader { request in
            let offset = Int(request[query: "offset"] ?? "") ?? -1
            return try .ok(request, json: offset < 4 ? [offset, offset + 1] : [offset])
        }
        let walk = Numbers().paginated(by: .offset(limit: 2))
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
        let walk = Numbers().paginated(by: .page(size: size, totalPagesHeader: "X-Total-Pages"))
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
        let error = await #expect(throws: HTTPError.self) {
            try await client.pages(of: Numbers().paginated(by: pagination)).collect()
        }
        #expect(error?.code == .invalidRequest && mock.requests.isEmpty)
    }

    @Test func `the page after a cursor cannot be requested without a response`() async throws {
        let (client, mock) = cursors { _ in Cursors(items: [], next: nil) }
        let next = byCursor.requestForNextPage()
        #expect(next.page == 2 && next.position == .unknown)
        let error = await #expect(throws: HTTPError.self) { try await client.send(next) }
        #expect(error?.code == .invalidRequest && mock.requests.isEmpty)
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
        let mock = MockLoader { request in
            try .ok(request, json: request.headers["Range"] == "items=3" ? [] : [1])
        }
        let pages = try await client(over: mock).pages(of: Ranges()).collect()
        #expect(pages.count == 2 && mock.requests.count == 3)
    }

    @Test func `a cursor that is an object is refused in a query`() async throws {
        let walk = Numbers().paginated(by: .cursor(parameter: "after") { _ in .object(["id": 1]) })
        let mock = MockLoader { try .ok($0, json: [1]) }
        let error = await #expect(throws: HTTPError.self) { try await client(over: mock).pages(of: walk).collect() }
        #expect(error?.code == .invalidRequest && error?.message.contains("object") == true)
        #expect(mock.requests.count == 1)
    }
}
