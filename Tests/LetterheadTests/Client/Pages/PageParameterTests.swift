// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

/// Where the position of a page goes in the JSON parameters, and where it has no place.
@Suite(.timeLimit(.minutes(3)))
struct PageParameterTests {
    private struct Answer: Codable, Sendable { var next: String? }

    private struct Query: RequestTemplate {
        typealias Response = Answer
        var method = HTTPMethod.post
        var path: RequestPath { "query" }
        var parameters: RequestParameters
    }

    /// Variables of a custom type.
    private struct Variables: ParameterValue {
        var first: Int
        func append(to query: inout QueryParameters, name: String) {}
    }

    private func walk(_ query: Query) async throws -> [JSONValue] {
        let loads = Counter()
        let mock = MockLoader { try .ok($0, json: Answer(next: loads.next() == 1 ? "c" : nil)) }
        let client = HTTPClient(environment: .of("https://api.example.com"), transport: mock)
        _ = try await client.pages(of: query.paginated(by: .cursor(\.next, parameter: .json("v", "after")))).collect()
        return try bodies(mock.requests)
    }

    @Test func `a member is added to an existing object of any type, or to a new one`() async throws {
        let own = try await walk(Query(parameters: ["v": Variables(first: 2)]))
        #expect(own.last == ["v": ["first": 2, "after": "c"]])
        let json = try await walk(Query(parameters: ["v": ["first": 2] as JSONValue]))
        #expect(json == own)
        #expect(try await walk(Query(parameters: ["q": "x"])).last == ["q": "x", "v": ["after": "c"]])
    }

    @Test(arguments: [("3" as JSONValue, 1), (nil, 2)])
    func `a cursor in a JSON parameter fixes the page unless it is null`(after: JSONValue, pages: Int) async throws {
        #expect(try await walk(Query(parameters: ["v": ["after": after] as JSONValue])).count == pages)
    }

    private struct Numbered: Codable, Sendable {
        struct Cursor: Codable, Sendable { var shard: UUID }
        var items: [Int]
        var next: Cursor?
    }

    @Test func `a cursor is any value that can be encoded as JSON`() async throws {
        let shard = UUID()
        let mock = MockLoader { request in
            let isFirst = request.query.isEmpty
            return try .ok(request, json: Numbered(items: [1], next: isFirst ? .init(shard: shard) : nil))
        }
        let client = HTTPClient(environment: .of("https://api.example.com"), transport: mock)
        let byShard = Get<Numbered>("numbers").paginated(by: .cursor(\.next?.shard, parameter: "shard"))
        #expect(try await client.pages(of: byShard).collect().count == 2)
        #expect(mock.requests.map { $0[query: "shard"] } == [nil, shard.uuidString])
    }

    @Test(arguments: [["v": "text"], ["v": 1], ["v": [1] as JSONValue]] as [RequestParameters])
    func `a path of names is refused in a GET, and where a value on it is not an object`(parameters: RequestParameters)
        async throws
    {
        let error = await #expect(throws: HTTPError.self) { try await walk(Query(parameters: parameters)) }
        #expect(error?.code == .invalidRequest)
        #expect(error?.message.contains("v.after") == true && error?.message.contains("JSON object") == true)
        // A GET has no JSON.
        let get = await #expect(throws: HTTPError.self) { try await walk(Query(method: .get, parameters: [:])) }
        #expect(get?.code == .invalidRequest && get?.message.contains("v.after") == true)
    }

    @Test(arguments: [HTTPMethod.post, .put, .delete])
    func `the page of a template without parameters is the JSON body`(method: HTTPMethod) throws {
        let request = try StandardRequestBuilder(Query(method: method, parameters: [:]).paginated(page: 3)).request()
        #expect(try bodies([request]) == [["page": 3]])
        #expect(request.query.isEmpty)
        let wrapped = Query(method: method, parameters: [:]).header("a", "b").paginated(page: 3).query("sort", "x")
        #expect(try bodies([StandardRequestBuilder(wrapped).request()]) == [["page": 3]])
    }

    @Test func `the page of a template with its own body is in the query`() throws {
        let template = Query(parameters: [:]).body(TextBody("text")).paginated(page: 3)
        let request = try StandardRequestBuilder(template).request()
        #expect(request.query.escaped == "page=3")
        #expect(try request.body.encode() == Data("text".utf8))
    }

    private func nested<Template: RequestTemplate>(_ template: Template, _ depth: Int) throws -> HTTPRequest {
        guard depth > 0 else { return try StandardRequestBuilder(template).request() }
        let page = template.paginated(page: depth, key: "k\(depth)")
        return try nested(page.header("X-Depth", "\(depth)"), depth - 1)
    }

    @Test(arguments: [HTTPMethod.get, .post])
    func `a template that is paginated and modified many times is built in the same time for each level`(
        method: HTTPMethod
    ) throws {
        let template = Query(method: method, parameters: ["a": 1])
        #expect(try nested(template, 24).query.count == (method == .get ? 25 : 0))
    }

    @Test func `the time to set parameters grows with their number, and the order is kept`() {
        let ratio = growth(of: 1_000) { count in
            var parameters = RequestParameters()
            for number in 0..<count { parameters["\(number)"] = number }
            parameters["0"] = nil
            parameters["1"] = 7
            parameters.fill(from: ["1": 8, "0": 9])
            #expect(parameters.count == count && parameters.map(\.name).prefix(2) == ["1", "2"])
            #expect(parameters["1"] as? Int == 7 && parameters[count - 1].name == "0")
        }
        #expect(ratio < 8)
    }
}

private func bodies(_ requests: [HTTPRequest]) throws -> [JSONValue] {
    try requests.map { try JSONDecoder().decode(JSONValue.self, from: try $0.body.encode()) }
}
