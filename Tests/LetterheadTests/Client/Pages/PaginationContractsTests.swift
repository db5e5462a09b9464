// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Testing

/// The documented ways that sixteen APIs page, each against a server that refuses a wrong, doubly escaped or surplus
/// parameter. One file, since it is read as one list.
@Suite(.timeLimit(.minutes(3)))
struct PaginationContractsTests {
    struct List: RequestTemplate {
        typealias Response = JSONValue
        var method = HTTPMethod.get
        var path: RequestPath
        var query: QueryParameters = [:]
        var parameters: RequestParameters = [:]
    }

    /// A list of an API, and all that a client may request of it, in order.
    struct Contract: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let list: List
        let pagination: Pagination<JSONValue>
        let answers: [PagedServer.Answer]

        init(_ name: String, _ list: List, _ pagination: Pagination<JSONValue>, _ answers: PagedServer.Answer...) {
            (testDescription, self.list, self.pagination, self.answers) = (name, list, pagination, answers)
        }

        /// Requires that each answer is requested once and is the value of a page.
        func check() async throws {
            let paged = try await PagedServer(answers)
            let pages = try await paged.client.pages(of: list.paginated(by: pagination)).collect()
            let values = try answers.map { try JSONDecoder().decode(JSONValue.self, from: Data($0.body.utf8)) }
            #expect(pages.map(\.value) == values && paged.targets == answers.map(\.target))
        }
    }

    static let links: [Contract] = [
        Contract(
            "GitHub: the Link header is followed unchanged, also to another path",
            List(path: "repos/o/n/issues", query: ["per_page": 2]), .linkHeader,
            .init("/repos/o/n/issues?per_page=2", "[1,2]", link: "</r/7?page=2>; rel=\"next\", </x>; rel=\"last\""),
            .init("/r/7?page=2", "[3]", link: "</x>; rel=\"prev\"")),
        Contract(
            "GitLab keyset: the link is followed verbatim and no page is added",
            List(path: "projects", query: ["pagination": "keyset"]), .linkHeader,
            .init("/projects?pagination=keyset", "[1,2]", link: "</projects?id_after=4&cursor=eyJ%3D>; rel=\"next\""),
            .init("/projects?id_after=4&cursor=eyJ%3D", "[3,4]")),
        Contract(
            "Shopify: rel is unquoted, and page_info is the only parameter",
            List(path: "products.json", query: ["limit": 1, "status": "active"]), .linkHeader,
            .init("/products.json?limit=1&status=active", "[1]", link: "</products.json?page_info=abc>; rel=next"),
            .init("/products.json?page_info=abc", "[2]", link: "</p>; rel=previous")),
        Contract(
            "OData: the next link is not changed, and an empty page with one continues",
            List(path: "messages", query: ["$top": 1]), .nextURL(\.["@odata.nextLink"]),
            .init("/messages?%24top=1", #"{"value":[1],"@odata.nextLink":"/messages?$top=1&$skiptoken=X'1'%2C2"}"#),
            .init("/messages?$top=1&$skiptoken=X'1'%2C2", #"{"value":[],"@odata.nextLink":"/messages?$skiptoken=Y"}"#),
            .init("/messages?$skiptoken=Y", #"{"value":[2],"@odata.deltaLink":"/delta"}"#)),
        Contract(
            "HAL: a relative link is resolved against the page",
            List(path: "shop/orders"), .nextURL(\.["_links"]["next"]),
            .init("/shop/orders", #"{"_links":{"next":{"href":"orders?page=2"}}}"#),
            .init("/shop/orders?page=2", #"{"_links":{}}"#)),
        Contract(
            "HAL: the variables of a URI template have the values of the query of the page",
            List(path: "orders", query: ["size": 1]), .nextURL(\.["next"]),
            .init("/orders?size=1", #"{"next":{"href":"orders?page=2{&size,sort}","templated":true}}"#),
            .init("/orders?page=2&size=1", "{}")),
        Contract(
            "HAL: the length of a value may be limited",
            List(path: "orders", query: ["tag": "abc"]), .nextURL(\.["next"]),
            .init("/orders?tag=abc", #"{"next":{"href":"orders?page=2{&tag:2}","templated":true}}"#),
            .init("/orders?page=2&tag=ab", "{}")),
        Contract(
            "Zendesk: has_more ends the sequence even if there is a link",
            List(path: "tickets", query: ["page[size]": 1]), .nextURL(\.["next"]) { $0["has_more"].bool == true },
            .init("/tickets?page%5Bsize%5D=1", #"{"has_more":true,"next":"/tickets?page%5Bafter%5D=x"}"#),
            .init("/tickets?page%5Bafter%5D=x", #"{"has_more":false,"next":"/never"}"#)),
    ]

    static let cursors: [Contract] = [
        Contract(
            "GitLab offset: an empty x-next-page is the end",
            List(path: "projects"), .header("X-Next-Page", parameter: "page"),
            .init("/projects", "[1]", headers: ["X-Next-Page": "2"]),
            .init("/projects?page=2", "[2]", headers: ["X-Next-Page": ""])),
        Contract(
            "Google and X: a page without items and with a token continues, and an empty token is the end",
            List(path: "files", query: ["q": "a b"]), .cursor(\.["nextPageToken"], parameter: "pageToken"),
            .init("/files?q=a%20b", #"{"nextPageToken":"t/1"}"#),
            .init("/files?q=a%20b&pageToken=t%2F1", #"{"files":[1],"nextPageToken":""}"#)),
        Contract(
            "S3: a token with slash and equals sign is escaped once, IsTruncated ends",
            List(path: "", query: ["list-type": 2]),
            .cursor(\.["Token"], parameter: "continuation-token") { $0["IsTruncated"].bool == true },
            .init("/?list-type=2", #"{"IsTruncated":true,"Token":"a/b="}"#),
            .init("/?list-type=2&continuation-token=a%2Fb%3D", #"{"IsTruncated":false,"Token":"z"}"#)),
        Contract(
            "DynamoDB: the key is an object and is sent as one",
            List(method: .post, path: "", parameters: ["Limit": 1]), .cursor(\.["Last"], parameter: "Start"),
            .init("/", #"{"Items":[],"Last":{"id":{"N":"7"}}}"#, expects: #"{"Limit":1}"#),
            .init("/", #"{"Items":[1]}"#, expects: #"{"Limit":1,"Start":{"id":{"N":"7"}}}"#)),
        Contract(
            "GraphQL connections: the end cursor is sent in the variables",
            List(method: .post, path: "graphql", parameters: ["variables": ["first": 1] as JSONValue]),
            .cursor(\.["end"], parameter: .json("variables", "after")) { $0["hasNextPage"].bool == true },
            .init("/graphql", #"{"hasNextPage":true,"end":"a="}"#, expects: #"{"variables":{"first":1}}"#),
            .init(
                "/graphql", #"{"hasNextPage":false,"end":"b"}"#, expects: #"{"variables":{"first":1,"after":"a="}}"#)),
    ]

    @Test(arguments: links + cursors)
    func `the pages of an API are requested as it documents them, and no others`(_ contract: Contract) async throws {
        try await contract.check()
    }

    @Test(arguments: [#"{"next_cursor":""}"#, #"{"next_cursor":null}"#, "{}", "null"])
    func `Slack: the cursor is escaped once, and an empty or absent one is the end`(end: String) async throws {
        try await Contract(
            "Slack", List(path: "users.list", query: ["limit": 100]),
            .cursor(\.["metadata"]["next_cursor"], parameter: "cursor"),
            .init("/users.list?limit=100", #"{"members":[1],"metadata":{"next_cursor":"dXNlcg=="}}"#),
            .init("/users.list?limit=100&cursor=dXNlcg%3D%3D", #"{"members":[2],"metadata":\#(end)}"#)
        ).check()
    }

    @Test(arguments: [#""/articles?page[number]=2""#, #"{"href":"/articles?page[number]=2"}"#], [#""next":null"#, ""])
    func `JSON API: the next link is a string or an object, may contain brackets, and is null or absent at the end`(
        link: String, end: String
    ) async throws {
        try await Contract(
            "JSON API", List(path: "articles"), .nextURL(\.["links"]["next"]),
            .init("/articles", #"{"data":[1],"links":{"next":\#(link)}}"#),
            .init("/articles?page%5Bnumber%5D=2", #"{"data":[2],"links":{\#(end)}}"#)
        ).check()
    }

    @Test(arguments: [("", "o{?page", "at offset 7"), ("?tag=a&tag=b", "o{&tag:2}", "tag has a length")])
    func `HAL: a URI template that is malformed, or limits the length of a list, is not followed`(
        query: String, link: String, says: String
    ) async throws {
        let target = "/orders" + query
        let paged = try await PagedServer([.init(target, #"{"next":{"href":"\#(link)","templated":true}}"#)])
        let list = List(path: "orders", query: QueryParameters(escaped: String(query.dropFirst())))
        let error = await #expect(throws: HTTPError.self) {
            try await paged.client.pages(of: list.paginated(by: .nextURL(\.["next"]))).collect()
        }
        #expect(error?.code == .invalidResponse && error?.message.contains(says) == true)
        #expect(paged.targets == [target])
    }

    struct StripeList: Decodable, Sendable {
        struct Item: Decodable, Sendable { var id: String }
        var data: [Item]
        var has_more: Bool
    }

    struct Charges: RequestTemplate {
        typealias Response = StripeList
        var path: RequestPath { "charges" }
    }

    @Test(
        arguments: [
            (#"{"data":[{"id":"ch_1"}],"has_more":true}"#, ["ch_1", "ch_2"]), (#"{"data":[],"has_more":true}"#, []),
            (#"{"data":[],"has_more":false}"#, []),
        ] as [(String, [String])])
    func `Stripe: the last item's id names the next page until has_more is false, or until a page is empty`(
        first: String, ids: [String]
    ) async throws {
        let paged = try await PagedServer([
            .init("/charges", first),
            .init("/charges?starting_after=ch_1", #"{"data":[{"id":"ch_2"}],"has_more":false}"#),
        ])
        let walk = Charges().paginated(
            by: .lastItem(of: \.data, \.id, parameter: "starting_after", hasMore: \.has_more))
        #expect(try await paged.client.items(of: walk, at: \.data).collect().map(\.id) == ids)
        #expect(paged.targets.count == max(ids.count, 1))
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
            return [(.json("search_after"), next["after"]), (.json("pit", "id"), next["pit"])]
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
    }

    @Test(arguments: [(304, ""), (409, #"{"message":"Git Repository is empty."}"#)])
    func `GitHub: with a transformer, 304 and 409 end the sequence`(status: Int, body: String) async throws {
        let paged = try await PagedServer([
            .init("/commits", "[1]", link: "</commits?page=2>; rel=next"),
            .init("/commits?page=2", body, status: HTTPStatus(status)),
        ])
        let endsThere = ModifyResponse { response in
            guard [304, 409].contains(response.status) else { return }
            (response.status, response.headers, response.body) = (.ok, [:], HTTPResponseBody(Data("[]".utf8)))
        }
        let walk = Get<[Int]>("commits").paginated(by: .linkHeader).transformed(by: endsThere)
        #expect(try await paged.client.items(of: walk).collect() == [1])
        await paged.stop()
    }
}
