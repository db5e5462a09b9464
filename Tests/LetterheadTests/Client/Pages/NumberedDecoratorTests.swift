// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

/// A custom decorator that declares only its page, and how the next one is requested.
@Suite(.timeLimit(.minutes(3)))
struct NumberedDecoratorTests {
    struct Numbered<Base: RequestTemplate>: RequestDecorator, PaginatedTemplate {
        let base: Base
        var page = 1
        var parameters: RequestParameters {
            var parameters = base.parameters
            parameters.fill(from: ["page": page])
            return parameters
        }
        func requestForNextPage() -> Self { Self(base: base, page: page + 1) }
    }

    private let pages = Numbered(base: Get<[Int]>("numbers"))

    /// A client of a server with three full pages.
    private func client() -> (client: HTTPClient, mock: MockLoader) {
        let mock = MockLoader { request in
            let page = request[query: "page"].flatMap { Int($0) } ?? 0
            return try .ok(request, json: page > 3 ? [] : [page])
        }
        return (HTTPClient(environment: ServerEnvironment("https://h.test"), transport: mock), mock)
    }

    @Test func `its pages are requested until one is empty, also from a checkpoint`() async throws {
        let (client, mock) = client()
        var walk = client.pages(of: pages).makeAsyncIterator()
        let checkpoint = try #require(try await walk.next()?.checkpoint)
        #expect(checkpoint == PageCheckpoint(page: 2, position: .number(2)))
        let rest = try await client.items(of: pages, from: checkpoint).collect()
        #expect(rest == [2, 3] && mock.requests.map { $0[query: "page"] } == ["1", "2", "3", "4"])
    }

    @Test(arguments: [
        PageCheckpoint(page: 0, position: .number(0)), PageCheckpoint(page: .max, position: .number(.max)),
        PageCheckpoint(page: 4, position: .cursor("x")), PageCheckpoint(page: 4, position: .unknown),
    ]) func `a checkpoint that it does not lead to is refused`(checkpoint: PageCheckpoint) async throws {
        let (client, mock) = client()
        let error = await failure { try await client.pages(of: pages, from: checkpoint).collect() }
        #expect(error?.code == .invalidRequest && error?.message.contains("resumed(from:)") == true)
        #expect(mock.requests.isEmpty)
    }

    @Test func `a page whose items cannot be counted is returned, and then an error`() async throws {
        let mock = MockLoader { try .ok($0, json: ["a": 1]) }
        let client = HTTPClient(environment: ServerEnvironment("https://h.test"), transport: mock)
        var walk = client.pages(of: Numbered(base: Get<JSONValue>("one"))).makeAsyncIterator()
        #expect(try await walk.next()?.number == 1)
        let error = await #expect(throws: HTTPError.self) { try await walk.next() }
        #expect(error?.code == .invalidRequest && mock.requests.count == 1)
    }
}
