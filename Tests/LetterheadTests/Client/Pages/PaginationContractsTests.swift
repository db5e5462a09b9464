// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Testing

/// The documented ways that sixteen APIs page, each against a server that refuses a wrong, doubly escaped or surplus
/// parameter. One file, since it is read as one list: each is complete, and each has its templates beside it.
@Suite(.timeLimit(.minutes(3)))
struct PaginationContractsTests {
    @Test func `GitHub: the Link header is followed unchanged, also to another path`() async throws {
        struct Issues: RequestTemplate {
            typealias Response = [Int]
            var path: RequestPath { "repos/o/n/issues" }
            var query: QueryParameters { ["per_page": 2] }
        }
        let paged = try await PagedServer([
            .init(
                "/repos/o/n/issues?per_page=2", "[1,2]",
                headers: ["Link": "</repositories/7/issues?per_page=2&page=2>; rel=\"next\", </x>; rel=\"last\""]),
            .init("/repositories/7/issues?per_page=2&page=2", "[3]", headers: ["Link": "</x>; rel=\"prev\""]),
        ])
        let items = try await paged.client.items(of: Issues().paginated(by: .linkHeader)).collect()
        #expect(items == [1, 2, 3])
        #expect(paged.targets == ["/repos/o/n/issues?per_page=2", "/repositories/7/issues?per_page=2&page=2"])
        await paged.stop()
    }

    @Test func `GitHub: an envelope's items are found by key path`() async throws {
        struct Found: Decodable, Sendable { var total_count: Int, items: [Int] }
        struct Search: RequestTemplate {
            typealias Response = Found
            var path: RequestPath { "search" }
        }
        let paged = try await PagedServer([
            .init("/search", #"{"total_count":2,"items":[1]}"#, headers: ["Link": "<?page=2>; rel=next"]),
            .init("/search?page=2", #"{"total_count":2,"items":[2]}"#),
        ])
        #expect(try await paged.client.items(of: Search().paginated(by: .linkHeader), at: \.items).collect() == [1, 2])
        await paged.stop()
    }

    @Test func `GitLab keyset: the link is followed verbatim and no page is added`() async throws {
        struct Projects: RequestTemplate {
            typealias Response = [Int]
            var path: RequestPath { "projects" }
            var query: QueryParameters { ["pagination": "keyset", "per_page": 2, "order_by": "id"] }
        }
        let second = "/projects?id_after=42&order_by=id&pagination=keyset&per_page=2&cursor=eyJ%3D"
        let paged = try await PagedServer([
            .init(
                "/projects?pagination=keyset&per_page=2&order_by=id", "[1,2]",
                headers: ["Link": "<\(second)>; rel=\"next\""]),
            .init(second, "[3,4]"),
        ])
        #expect(try await paged.client.items(of: Projects().paginated(by: .linkHeader)).collect() == [1, 2, 3, 4])
        await paged.stop()
    }

    @Test func `GitLab offset: an empty x-next-page is the end`() async throws {
        struct Projects: RequestTemplate {
            typealias Response = [Int]
            var path: RequestPath { "projects" }
        }
        let paged = try await PagedServer([
            .init("/projects", "[1]", headers: ["X-Next-Page": "2"]),
            .init("/projects?page=2", "[2]", headers: ["X-Next-Page": ""]),
        ])
        let walk = Projects().paginated(by: .header("X-Next-Page", parameter: "page"))
        #expect(try await paged.client.items(of: walk).collect() == [1, 2])
        await paged.stop()
    }

    struct StripeList: Decodable, Sendable {
        struct Item: Decodable, Sendable { var id: String }
        var data: [Item]
        var has_more: Bool
    }

    struct Charges: RequestTemplate {
        typealias Response = StripeList
        var path: RequestPath { "charges" }
        var query: QueryParameters { ["limit": 1] }
    }

    @Test func `Stripe: the last item's id names the next page until has_more is false`() async throws {
        let paged = try await PagedServer([
            .init("/charges?limit=1", #"{"data":[{"id":"ch_1"}],"has_more":true}"#),
            .init("/charges?limit=1&starting_after=ch_1", #"{"data":[{"id":"ch_2"}],"has_more":false}"#),
        ])
        let walk = Charges().paginated(
            by: .lastItem(of: \.data, \.id, parameter: "starting_after", hasMore: \.has_more))
        #expect(try await paged.client.items(of: walk, at: \.data).collect().map(\.id) == ["ch_1", "ch_2"])
        await paged.stop()
    }

    @Test func `Stripe: has_more with an empty page does not loop`() async throws {
        let paged = try await PagedServer([.init("/charges?limit=1", #"{"data":[],"has_more":true}"#)])
        let walk = Charges().paginated(
            by: .lastItem(of: \.data, \.id, parameter: "starting_after", hasMore: \.has_more))
        #expect(try await paged.client.items(of: walk, at: \.data).collect().isEmpty)
        #expect(paged.targets.count == 1)
        await paged.stop()
    }

    struct SlackUsers: Decodable, Sendable {
        struct Metadata: Decodable, Sendable { var next_cursor: String? }
        var ok: Bool
        var members: [Int]?
        var response_metadata: Metadata?
    }

    struct Users: RequestTemplate {
        typealias Response = SlackUsers
        var path: RequestPath { "users.list" }
    }

    @Test(arguments: [#"{"next_cursor":""}"#, #"{"next_cursor":null}"#, "{}", "null"])
    func `Slack: the cursor is escaped once, and an empty or absent one is the end`(end: String) async throws {
        let paged = try await PagedServer([
            .init("/users.list", #"{"ok":true,"members":[1],"response_metadata":{"next_cursor":"dXNlcg=="}}"#),
            .init("/users.list?cursor=dXNlcg%3D%3D", #"{"ok":true,"members":[2],"response_metadata":\#(end)}"#),
        ])
        let walk = Users().paginated(by: .cursor(\.response_metadata?.next_cursor, parameter: "cursor"))
        let pages = try await paged.client.pages(of: walk).collect()
        #expect(pages.map(\.value.members) == [[1], [2]])
        await paged.stop()
    }

    struct Hits: Decodable, Sendable {
        struct Hit: Decodable, Sendable { var sort: [JSONValue] }
        struct Inner: Decodable, Sendable { var hits: [Hit] }
        var hits: Inner
        var pit_id: String?
    }

    private static let byHand = Pagination<Hits>(
        parameters: { position in
            guard case .cursor(let next) = position else { return [] }
            return [
                (.json("search_after"), next["after"]), (.json("pit", "id"), next["pit"]),
            ]
        },
        next: { _, page in
            guard let last = page.value.hits.hits.last, let pit = page.value.pit_id else { return .last }
            return .next(.cursor(["after": .array(last.sort), "pit": .string(pit)]))
        })

    @Test(arguments: [
        .lastItem(of: \.hits.hits, \.sort, parameter: "search_after").carrying(\.pit_id, parameter: .json("pit", "id")),
        byHand,
    ])
    private func `Elasticsearch: the sort values of the last hit are sent unchanged, with the newest point in time`(
        by pagination: Pagination<Hits>
    ) async throws {
        struct Search: RequestTemplate {
            typealias Response = Hits
            var method: HTTPMethod { .post }
            var path: RequestPath { "_search" }
            var parameters: RequestParameters { ["size": 1, "pit": ["id": "p0", "keep_alive": "1m"] as JSONValue] }
        }
        let first = #"{"size":1,"pit":{"id":"p0","keep_alive":"1m"}}"#
        let second = #"{"size":1,"pit":{"id":"p1","keep_alive":"1m"},"search_after":[9007199254740993,null]}"#
        let paged = try await PagedServer([
            .init("/_search", #"{"pit_id":"p1","hits":{"hits":[{"sort":[9007199254740993,null]}]}}"#, expects: first),
            .init("/_search", #"{"pit_id":"p1","hits":{"hits":[]}}"#, expects: second),
        ])
        let hits = try await paged.client.items(of: Search().paginated(by: pagination), at: \.hits.hits).collect()
        #expect(hits.count == 1 && paged.targets.count == 2)
        await paged.stop()
    }

    @Test func `GraphQL connections: the end cursor is sent in the variables`() async throws {
        struct Answer: Decodable, Sendable {
            struct Info: Decodable, Sendable { var hasNextPage: Bool, endCursor: String? }
            struct Connection: Decodable, Sendable { var nodes: [Int], pageInfo: Info }
            var data: [String: Connection]
            var users: Connection {
                data["users"] ?? Connection(nodes: [], pageInfo: Info(hasNextPage: false, endCursor: nil))
            }
        }
        struct Query: RequestTemplate {
            typealias Response = Answer
            var method: HTTPMethod { .post }
            var path: RequestPath { "graphql" }
            var parameters: RequestParameters { ["query": "{users}", "variables": ["first": 1] as JSONValue] }
        }
        let paged = try await PagedServer([
            .init(
                "/graphql", #"{"data":{"users":{"nodes":[1],"pageInfo":{"hasNextPage":true,"endCursor":"a="}}}}"#,
                expects: #"{"query":"{users}","variables":{"first":1}}"#),
            .init(
                "/graphql", #"{"data":{"users":{"nodes":[2],"pageInfo":{"hasNextPage":false,"endCursor":null}}}}"#,
                expects: #"{"query":"{users}","variables":{"first":1,"after":"a="}}"#),
        ])
        let walk = Query().paginated(
            by: .cursor(
                \.users.pageInfo.endCursor, parameter: .json("variables", "after"),
                hasMore: \.users.pageInfo.hasNextPage))
        #expect(try await paged.client.items(of: walk, at: \.users.nodes).collect() == [1, 2])
        await paged.stop()
    }

    @Test func `OData: the next link is not changed, and an empty page with one continues`() async throws {
        struct Messages: Decodable, Sendable {
            var value: [Int]
            var next: String?
            enum CodingKeys: String, CodingKey { case value, next = "@odata.nextLink" }
        }
        struct List: RequestTemplate {
            typealias Response = Messages
            var path: RequestPath { "me/messages" }
            var query: QueryParameters { ["$top": 1] }
        }
        let second = "/me/messages?$top=1&$skiptoken=X'1'%2C2"
        let third = "/me/messages?$top=1&$skiptoken=Y"
        let paged = try await PagedServer([
            .init("/me/messages?%24top=1", #"{"value":[1],"@odata.nextLink":"\#(second)"}"#),
            .init(second, #"{"value":[],"@odata.nextLink":"\#(third)"}"#),
            .init(third, #"{"value":[2],"@odata.deltaLink":"/delta"}"#),
        ])
        #expect(
            try await paged.client.items(of: List().paginated(by: .nextURL(\.next)), at: \.value).collect() == [1, 2])
        #expect(paged.targets == ["/me/messages?%24top=1", second, third])
        await paged.stop()
    }

    @Test(arguments: [#""/articles?page[number]=2""#, #"{"href":"/articles?page[number]=2"}"#], ["null", ""])
    func `JSON API: the next link is a string or an object, may contain brackets, and is null or absent at the end`(
        link: String, end: String
    ) async throws {
        struct Articles: Decodable, Sendable {
            struct Links: Decodable, Sendable { var next: JSONValue? }
            var data: [Int]
            var links: Links
        }
        struct List: RequestTemplate {
            typealias Response = Articles
            var path: RequestPath { "articles" }
        }
        let paged = try await PagedServer([
            .init("/articles", #"{"data":[1],"links":{"next":\#(link)}}"#),
            .init("/articles?page%5Bnumber%5D=2", #"{"data":[2],"links":{\#(end.isEmpty ? "" : "\"next\":\(end)")}}"#),
        ])
        let walk = List().paginated(by: .nextURL(\.links.next))
        #expect(try await paged.client.items(of: walk, at: \.data).collect() == [1, 2])
        await paged.stop()
    }

    struct Orders: Decodable, Sendable {
        struct Links: Decodable, Sendable { var next: JSONValue? }
        struct Embedded: Decodable, Sendable { var orders: [Int] }
        var _links: Links
        var _embedded: Embedded
    }

    struct ListOrders: RequestTemplate {
        typealias Response = Orders
        var path: RequestPath { "shop/orders" }
    }

    @Test func `HAL: a relative link is resolved against the page`() async throws {
        let paged = try await PagedServer([
            .init("/shop/orders", #"{"_links":{"next":{"href":"orders?page=2"}},"_embedded":{"orders":[1]}}"#),
            .init("/shop/orders?page=2", #"{"_links":{},"_embedded":{"orders":[2]}}"#),
        ])
        let walk = ListOrders().paginated(by: .nextURL(\._links.next))
        #expect(try await paged.client.items(of: walk, at: \._embedded.orders).collect() == [1, 2])
        await paged.stop()
    }

    @Test func `HAL: the variables of a URI template have the values of the query of the page`() async throws {
        let paged = try await PagedServer([
            .init(
                "/shop/orders?size=1",
                #"{"_links":{"next":{"href":"orders?page=2{&size,sort}","templated":true}},"_embedded":{"orders":[1]}}"#
            ),
            .init("/shop/orders?page=2&size=1", #"{"_links":{},"_embedded":{"orders":[2]}}"#),
        ])
        let walk = ListOrders().query("size", 1).paginated(by: .nextURL(\._links.next))
        #expect(try await paged.client.items(of: walk, at: \._embedded.orders).collect() == [1, 2])
        await paged.stop()
    }

    @Test func `HAL: a malformed URI template is not followed`() async throws {
        let paged = try await PagedServer([
            .init(
                "/shop/orders", #"{"_links":{"next":{"href":"/o{?page","templated":true}},"_embedded":{"orders":[1]}}"#
            )
        ])
        let walk = ListOrders().paginated(by: .nextURL(\._links.next))
        let error = await #expect(throws: HTTPError.self) { try await paged.client.pages(of: walk).collect() }
        #expect(error?.code == .invalidResponse && error?.message.contains("at offset 8") == true)
        #expect(paged.targets == ["/shop/orders"])
        await paged.stop()
    }

    @Test func `HAL: the length of a value may be limited, but not that of a list`() async throws {
        let link = #"{"_links":{"next":{"href":"orders?page=2{&tag:2}","templated":true}},"_embedded":{"orders":[1]}}"#
        let paged = try await PagedServer([
            .init("/shop/orders?tag=abc", link), .init("/shop/orders?tag=a&tag=b", link),
            .init("/shop/orders?page=2&tag=ab", #"{"_links":{},"_embedded":{"orders":[2]}}"#),
        ])
        let one = ListOrders().query("tag", "abc").paginated(by: .nextURL(\._links.next))
        #expect(try await paged.client.items(of: one, at: \._embedded.orders).collect() == [1, 2])
        let two = ListOrders().query("tag", ["a", "b"]).paginated(by: .nextURL(\._links.next))
        let error = await #expect(throws: HTTPError.self) { try await paged.client.pages(of: two).collect() }
        #expect(error?.code == .invalidResponse && error?.message.contains("tag has a length") == true)
        #expect(paged.targets.count == 3)
        await paged.stop()
    }

    @Test func `Google: an empty page with a token continues, and an empty token is the end`()
        async throws
    {
        struct Files: Decodable, Sendable { var files: [Int]?, nextPageToken: String? }
        struct List: RequestTemplate {
            typealias Response = Files
            var path: RequestPath { "files" }
            var query: QueryParameters { ["pageSize": 2, "q": "a b"] }
        }
        let paged = try await PagedServer([
            .init("/files?pageSize=2&q=a%20b", #"{"nextPageToken":"t/1"}"#),
            .init("/files?pageSize=2&q=a%20b&pageToken=t%2F1", #"{"files":[1],"nextPageToken":""}"#),
        ])
        let walk = List().paginated(by: .cursor(\.nextPageToken, parameter: "pageToken"))
        #expect(try await paged.client.pages(of: walk).collect().map(\.value.files) == [nil, [1]])
        await paged.stop()
    }

    @Test func `DynamoDB: the key is an object and is sent as one`() async throws {
        struct Scanned: Decodable, Sendable { var Items: [Int], LastEvaluatedKey: JSONValue? }
        struct Scan: RequestTemplate {
            typealias Response = Scanned
            var method: HTTPMethod { .post }
            var path: RequestPath { "" }
            var parameters: RequestParameters { ["TableName": "t", "Limit": 1] }
        }
        let paged = try await PagedServer([
            .init("/", #"{"Items":[],"LastEvaluatedKey":{"id":{"N":"7"}}}"#, expects: #"{"TableName":"t","Limit":1}"#),
            .init(
                "/", #"{"Items":[1]}"#,
                expects: #"{"TableName":"t","Limit":1,"ExclusiveStartKey":{"id":{"N":"7"}}}"#),
        ])
        let walk = Scan().paginated(by: .cursor(\.LastEvaluatedKey, parameter: "ExclusiveStartKey"))
        #expect(try await paged.client.items(of: walk, at: \.Items).collect() == [1])
        await paged.stop()
    }

    @Test func `S3: a token with slash and equals sign is escaped once, IsTruncated ends`() async throws {
        struct Listing: Sendable {
            var xml: String
            var isTruncated: Bool { xml.contains("<IsTruncated>true</IsTruncated>") }
            var token: String? {
                xml.split(separator: "Token>").count > 1
                    ? String(xml.split(separator: "Token>")[1].prefix { $0 != "<" }) : nil
            }
        }
        struct List: RequestTemplate {
            var path: RequestPath { "" }
            var query: QueryParameters { ["list-type": 2] }
            func decode(_ response: HTTPResponse) async throws -> Listing {
                Listing(xml: String(decoding: try await response.body.data(), as: UTF8.self))
            }
        }
        let paged = try await PagedServer([
            .init("/?list-type=2", "<R><IsTruncated>true</IsTruncated><Token>a/b=</Token></R>"),
            .init(
                "/?list-type=2&continuation-token=a%2Fb%3D", "<R><IsTruncated>false</IsTruncated><Token>z</Token></R>"),
        ])
        let walk = List().paginated(by: .cursor(\.token, parameter: "continuation-token", hasMore: \.isTruncated))
        #expect(try await paged.client.pages(of: walk).collect().count == 2)
        await paged.stop()
    }

    @Test func `X: the data key is absent on an empty page`() async throws {
        struct Tweets: Decodable, Sendable {
            struct Meta: Decodable, Sendable { var next_token: String? }
            var data: [Int]?
            var meta: Meta
            var tweets: [Int] { data ?? [] }
        }
        struct List: RequestTemplate {
            typealias Response = Tweets
            var path: RequestPath { "tweets" }
        }
        let paged = try await PagedServer([
            .init("/tweets", #"{"meta":{"next_token":"n1"}}"#),
            .init("/tweets?pagination_token=n1", #"{"data":[5],"meta":{}}"#),
        ])
        let walk = List().paginated(by: .cursor(\.meta.next_token, parameter: "pagination_token"))
        #expect(try await paged.client.items(of: walk, at: \.tweets).collect() == [5])
        await paged.stop()
    }

    @Test func `Zendesk: has_more ends the sequence even if there is a link`() async throws {
        struct Tickets: Decodable, Sendable {
            struct Meta: Decodable, Sendable { var has_more: Bool }
            struct Links: Decodable, Sendable { var next: String? }
            var tickets: [Int]
            var meta: Meta
            var links: Links
        }
        struct List: RequestTemplate {
            typealias Response = Tickets
            var path: RequestPath { "tickets" }
            var query: QueryParameters { ["page[size]": 1] }
        }
        let second = "/tickets?page%5Bafter%5D=x&page%5Bsize%5D=1"
        let paged = try await PagedServer([
            .init(
                "/tickets?page%5Bsize%5D=1", #"{"tickets":[1],"meta":{"has_more":true},"links":{"next":"\#(second)"}}"#),
            .init(second, #"{"tickets":[2],"meta":{"has_more":false},"links":{"next":"/never"}}"#),
        ])
        let walk = List().paginated(by: .nextURL(\.links.next, hasMore: \.meta.has_more))
        #expect(try await paged.client.items(of: walk, at: \.tickets).collect() == [1, 2])
        await paged.stop()
    }

    @Test func `Shopify: rel is unquoted, and page_info is the only parameter`() async throws {
        struct Products: RequestTemplate {
            typealias Response = [Int]
            var path: RequestPath { "products.json" }
            var query: QueryParameters { ["limit": 1, "status": "active"] }
        }
        let second = "/products.json?limit=1&page_info=abc"
        let paged = try await PagedServer([
            .init("/products.json?limit=1&status=active", "[1]", headers: ["Link": "<\(second)>; rel=next"]),
            .init(second, "[2]", headers: ["Link": "</p>; rel=previous"]),
        ])
        #expect(try await paged.client.items(of: Products().paginated(by: .linkHeader)).collect() == [1, 2])
        #expect(paged.targets == ["/products.json?limit=1&status=active", second])
        await paged.stop()
    }
}
