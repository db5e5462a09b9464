// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

private struct Minimal: RequestTemplate {
    var path: RequestPath { "" }
    var baseURL: URL? { URL(string: "https://api.example/v1") }
}

private struct SomeBody: RequestTemplate {
    var method: HTTPMethod { .post }
    var path: RequestPath { "a" }
    var body: some HTTPBody { TextBody("text") }
}

private struct AnyBody: RequestTemplate {
    var method: HTTPMethod { .post }
    var path: RequestPath { "a" }
    var body: any HTTPBody { TextBody("text") }
}

private struct StoredBody: RequestTemplate {
    let method = HTTPMethod.post
    let path: RequestPath = "a"
    let body = TextBody("text")
}

private struct OptionalBody: RequestTemplate {
    var method: HTTPMethod { .post }
    var path: RequestPath { "a" }
    var body: TextBody?
}

private struct GenericBody<Content: HTTPBody>: RequestTemplate {
    var method: HTTPMethod { .post }
    var path: RequestPath { "a" }
    let body: Content
}

private struct WrongBody: RequestTemplate {
    var method: HTTPMethod { .post }
    var path: RequestPath { "a" }
    var body: String { "SECRET" }
}

/// A protocol of the caller with a member for all of its templates.
private protocol Named: RequestTemplate {}

extension Named {
    var headers: HTTPHeaders { ["X-Name": "n"] }
}

private struct NamedTemplate: Named {
    let path: RequestPath = "a"
}

private final class StoredInAClass: RequestTemplate {
    let path: RequestPath = "a"
    let query: QueryParameters = ["a": 1]
}

/// A template that uses the library's names for other values.
private struct OwnNames: RequestTemplate {
    typealias Response = Int
    let timeout: Int
    let decoder: String
    var path: RequestPath { "a" }
    var query: QueryParameters { ["timeout": timeout, "decoder": decoder] }
    func decode(_ response: HTTPResponse) async throws -> Int { decode(try await response.body.data()) }
    func decode(_ data: Data) -> Int { data.count }
}

@Suite struct RequestTemplateTests {
    private func request(_ template: some RequestTemplate) throws -> HTTPRequest {
        try StandardRequestBuilder(template).request()
    }

    @Test func `a template with only a URL is a GET of that URL`() async throws {
        let mock = MockLoader { .ok($0) }
        _ = try await HTTPClient(transport: mock).send(Minimal())
        let request = try #require(mock.requests.first)
        #expect(request.method == .get)
        #expect(try request.urlString() == "https://api.example/v1" && request.headers.isEmpty && request.body.isEmpty)
    }

    @Test func `each optional member of a template has a default`() {
        let template = Minimal()
        #expect(template.method == .get && template.query.isEmpty && template.headers.isEmpty)
        #expect(template.parameters.isEmpty && template.body.isEmpty && template.boundary == nil)
        #expect(template.acceptedStatuses == nil && template.options.timeout == nil)
        #expect(Minimal.Response.self == HTTPResponse.self && Minimal.Failure.self == Never.self)
    }

    @Test func `members of a protocol and of a class are used`() throws {
        #expect(try request(NamedTemplate()).headers["X-Name"] == "n")
        #expect(try request(NamedTemplate().header("a", "b")).headers["X-Name"] == "n")
        #expect(try request(StoredInAClass()).target == "/a?a=1")
    }

    @Test func `a template may use the names of settings and functions for other things`() async throws {
        let mock = MockLoader { HTTPResponse(request: $0, status: 200, body: HTTPResponseBody(Data("four".utf8))) }
        let client = HTTPClient(environment: .of("https://h.example"), transport: mock)
        #expect(try await client.send(OwnNames(timeout: 3, decoder: "x")) == 4)
        #expect(mock.requests.first?.target == "/a?timeout=3&decoder=x")
    }

    @Test(
        arguments: [
            SomeBody(), AnyBody(), StoredBody(), OptionalBody(body: TextBody("text")),
            GenericBody(body: TextBody("text")), Minimal().body(TextBody("text")),
        ] as [any RequestTemplate])
    func `a body of any type is sent`(template: any RequestTemplate) throws {
        #expect(try request(template).body.encode() == Data("text".utf8))
    }

    @Test func `a body of another type is refused, and the error names the template and the type`() throws {
        let error = #expect(throws: HTTPError.self) { try request(WrongBody()) }
        #expect(error?.code == .invalidRequest && error?.message.contains("WrongBody") == true)
        #expect(error?.message.contains("String") == true)
        #expect("\(try #require(error))".contains("SECRET") == false)
    }
}

@Suite struct RequestParametersTests {
    @Test func `parameters keep their order, nil is omitted, and the last of one name is used`() throws {
        let parameters: RequestParameters = ["b": 1, "a": String?.none, "tags": ["x", "y"], "b": 2]
        var query = QueryParameters()
        parameters.append(to: &query)
        #expect(query.escaped == "b=2&tags=x&tags=y")
    }

    @Test func `parameters are one JSON object`() throws {
        let parameters: RequestParameters = ["n": 1, "t": true, "s": "é", "l": ["a", "b"], "no": Int?.none]
        let object = try JSONSerialization.jsonObject(with: JSONEncoder().encode(parameters)) as? [String: Any]
        #expect(object?.keys.sorted() == ["l", "n", "s", "t"])
        #expect(object?["n"] as? Int == 1 && object?["s"] as? String == "é")
        #expect(object?["l"] as? [String] == ["a", "b"])
    }

    @Test func `setting replaces a parameter at its position, and nil removes it`() {
        var parameters: RequestParameters = ["a": 1, "b": 2]
        parameters["a"] = 3
        parameters["b"] = nil
        var query = QueryParameters()
        parameters.append(to: &query)
        #expect(query.escaped == "a=3" && RequestParameters().isEmpty)
    }

    @Test func `filling adds what is missing, at the end and in order`() {
        var parameters: RequestParameters = ["page": 7, "q": "x"]
        parameters.fill(from: ["size": 2, "page": 1, "sort": "name"])
        #expect(parameters.map(\.name) == ["page", "q", "size", "sort"])
        #expect(parameters["page"] as? Int == 7 && parameters["size"] as? Int == 2)
    }

    @Test func `parameters can be iterated as names and values`() {
        let parameters: RequestParameters = ["a": 1, "none": nil, "b": ["x", "y"]]
        var query = QueryParameters()
        for (name, value) in parameters { value.append(to: &query, name: name) }
        #expect(query.escaped == "a=1&b=x&b=y" && parameters.count == 2)
    }
}
