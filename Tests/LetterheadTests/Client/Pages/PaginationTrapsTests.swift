// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Testing

/// What the documented APIs do beside their way of paging, and what an unwary client makes of it.
@Suite(.timeLimit(.minutes(3)))
struct PaginationTrapsTests {
    struct List<Response: Decodable & Sendable>: RequestTemplate {
        var path: RequestPath
        var query: QueryParameters = [:]
    }

    @Test(arguments: [(304, ""), (409, #"{"message":"Git Repository is empty."}"#)])
    func `GitHub: with a transformer, 304 and 409 end the sequence`(status: Int, body: String) async throws {
        let paged = try await PagedServer([
            .init("/commits", "[1]", headers: ["Link": "</commits?page=2>; rel=next"]),
            .init("/commits?page=2", body, status: HTTPStatus(status)),
        ])
        let endsThere = ModifyResponse { response in
            guard [304, 409].contains(response.status) else { return }
            (response.status, response.headers, response.body) = (.ok, [:], HTTPResponseBody(Data("[]".utf8)))
        }
        let walk = List<[Int]>(path: "commits").paginated(by: .linkHeader).transformed(by: endsThere)
        #expect(try await paged.client.items(of: walk).collect() == [1])
        #expect(paged.targets == ["/commits", "/commits?page=2"])
        await paged.stop()
    }

    @Test func `GitHub: a page without a Link header is the only page`() async throws {
        let paged = try await PagedServer([.init("/repos", "[1,2]")])
        let walk = List<[Int]>(path: "repos").paginated(by: .linkHeader)
        #expect(try await paged.client.items(of: walk).collect() == [1, 2] && paged.targets == ["/repos"])
        await paged.stop()
    }

    @Test func `GitLab offset: without totals, the first short page is the last`() async throws {
        let paged = try await PagedServer([
            .init("/projects?page=1", "[1,2]", headers: ["X-Total-Pages": "2"]), .init("/projects?page=2", "[3]"),
        ])
        let walk = List<[Int]>(path: "projects").paginated(by: .page(size: 2, totalPagesHeader: "X-Total-Pages"))
        #expect(try await paged.client.items(of: walk).collect() == [1, 2, 3])
        #expect(paged.targets.count == 2)
        await paged.stop()
    }

    @Test func `Stripe: a search names its next page itself`() async throws {
        struct Found: Decodable, Sendable {
            var data: [Int]
            var has_more: Bool
            var next_page: String?
        }
        let paged = try await PagedServer([
            .init("/search?query=a", #"{"data":[1],"has_more":true,"next_page":"p=2"}"#),
            .init("/search?query=a&page=p%3D2", #"{"data":[2],"has_more":false,"next_page":null}"#),
        ])
        let walk = List<Found>(path: "search", query: ["query": "a"])
            .paginated(by: .cursor(\.next_page, parameter: "page", hasMore: \.has_more))
        #expect(try await paged.client.items(of: walk, at: \.data).collect() == [1, 2])
        await paged.stop()
    }

    @Test func `Stripe: a page without data and without more ends the sequence`() async throws {
        let paged = try await PagedServer([.init("/charges", #"{"data":[],"has_more":false}"#)])
        let walk = List<PaginationContractsTests.StripeList>(path: "charges").paginated(
            by: .lastItem(of: \.data, \.id, parameter: "starting_after", hasMore: \.has_more))
        #expect(try await paged.client.items(of: walk, at: \.data).collect().isEmpty)
        #expect(paged.targets == ["/charges"])
        await paged.stop()
    }

    private struct NotOK: Error {}

    @Test func `Slack: a 200 with ok set to false is an error after the pages before it`() async throws {
        struct Envelope: Decodable { var ok: Bool }
        let paged = try await PagedServer([
            .init("/users.list", #"{"ok":true,"members":[1],"response_metadata":{"next_cursor":"a"}}"#),
            .init("/users.list?cursor=a", #"{"ok":false,"error":"invalid_cursor"}"#),
        ])
        let judge = ClosureValidator(response: { response, _ in
            let envelope = try JSONDecoder().decode(Envelope.self, from: try await response.body.data())
            return envelope.ok ? .nextValidator : .failChain(NotOK())
        })
        let walk = PaginationContractsTests.Users().validated(by: judge)
            .paginated(by: .cursor(\.response_metadata?.next_cursor, parameter: "cursor"))
        var iterator = paged.client.pages(of: walk).makeAsyncIterator()
        #expect(try await iterator.next()?.value.members == [1])
        let error = await #expect(throws: HTTPError.self) { try await iterator.next() }
        #expect(error?.underlying is NotOK)
        await paged.stop()
    }

    @Test func `Slack: fewer items than the limit are not the end`() async throws {
        let paged = try await PagedServer([
            .init("/users.list?limit=100", #"{"ok":true,"members":[1],"response_metadata":{"next_cursor":"a"}}"#),
            .init("/users.list?limit=100&cursor=a", #"{"ok":true,"members":[2]}"#),
        ])
        let walk = List<PaginationContractsTests.SlackUsers>(path: "users.list", query: ["limit": 100])
            .paginated(by: .cursor(\.response_metadata?.next_cursor, parameter: "cursor"))
        #expect(try await paged.client.pages(of: walk).collect().map(\.value.members) == [[1], [2]])
        await paged.stop()
    }

    struct GraphAnswer: Decodable, Sendable {
        struct Info: Decodable, Sendable { var hasNextPage: Bool, endCursor: String? }
        struct Connection: Decodable, Sendable { var nodes: [Int], pageInfo: Info }
        struct Content: Decodable, Sendable { var users: Connection }
        var data: Content
    }

    struct GraphQuery: RequestTemplate {
        typealias Response = GraphAnswer
        var method: HTTPMethod { .post }
        var path: RequestPath { "graphql" }
        var parameters: RequestParameters { ["query": "{users}"] }
    }

    private static let graph = Pagination<GraphAnswer>.cursor(
        \.data.users.pageInfo.endCursor, parameter: .json("variables", "after"),
        hasMore: \.data.users.pageInfo.hasNextPage)

    private func graphPage(_ node: Int, after cursor: String) -> String {
        #"{"data":{"users":{"nodes":[\#(node)],"pageInfo":{"hasNextPage":true,"endCursor":"\#(cursor)"}}}"#
    }

    @Test func `GraphQL: the same end cursor twice is a loop`() async throws {
        let paged = try await PagedServer([
            .init("/graphql", graphPage(1, after: "a") + "}", expects: #"{"query":"{users}"}"#),
            .init(
                "/graphql", graphPage(2, after: "a") + "}", expects: #"{"query":"{users}","variables":{"after":"a"}}"#),
        ])
        let error = await #expect(throws: HTTPError.self) {
            try await paged.client.pages(of: GraphQuery().paginated(by: Self.graph)).collect()
        }
        #expect(error?.code == .paginationLoop && paged.targets.count == 2)
        await paged.stop()
    }

    private struct GraphError: Decodable, Error { var message: String }

    @Test func `GraphQL: a 200 with errors and half of the data is a failure for a template that declares it`()
        async throws
    {
        struct Errors: Decodable { var errors: [GraphError]? }
        let paged = try await PagedServer([
            .init(
                "/graphql", graphPage(1, after: "a") + #","errors":[{"message":"half"}]}"#,
                expects: #"{"query":"{users}"}"#)
        ])
        let judge = ClosureValidator(response: { response, _ in
            let answer = try JSONDecoder().decode(Errors.self, from: try await response.body.data())
            return answer.errors?.first.map { .failChain($0) } ?? .nextValidator
        })
        let error = await #expect(throws: HTTPError.self) {
            try await paged.client.pages(of: GraphQuery().validated(by: judge).paginated(by: Self.graph)).collect()
        }
        #expect((error?.underlying as? GraphError)?.message == "half")
        await paged.stop()
    }

    @Test func `OData 2: the next link is in an envelope`() async throws {
        struct Answer: Decodable, Sendable {
            struct Envelope: Decodable, Sendable {
                var results: [Int]
                var __next: String?
            }
            var d: Envelope
        }
        let second = "/p?$skiptoken='1'"
        let paged = try await PagedServer([
            .init("/p", #"{"d":{"results":[1],"__next":"\#(second)"}}"#), .init(second, #"{"d":{"results":[2]}}"#),
        ])
        let walk = List<Answer>(path: "p").paginated(by: .nextURL(\.d.__next))
        #expect(try await paged.client.items(of: walk, at: \.d.results).collect() == [1, 2])
        await paged.stop()
    }

    @Test func `Google: an expired token is an error after the pages before it`() async throws {
        struct Files: Decodable, Sendable { var files: [Int], nextPageToken: String? }
        let paged = try await PagedServer([.init("/files", #"{"files":[1],"nextPageToken":"t"}"#)])
        let walk = List<Files>(path: "files").paginated(by: .cursor(\.nextPageToken, parameter: "pageToken"))
        var iterator = paged.client.pages(of: walk).makeAsyncIterator()
        #expect(try await iterator.next()?.value.files == [1])
        let error = await #expect(throws: HTTPError.self) { try await iterator.next() }
        #expect(error?.response?.status == 400 && paged.targets == ["/files", "/files?pageToken=t"])
        await paged.stop()
    }
}
