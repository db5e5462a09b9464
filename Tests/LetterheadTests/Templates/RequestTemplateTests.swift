import Foundation
import Letterhead
import LetterheadTesting
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

@Suite struct RequestTemplateTests {
    private func request(_ template: some RequestTemplate) throws -> HTTPRequest {
        try StandardRequestBuilder(template).request()
    }

    @Test func `a template with only a URL is a GET of that URL`() async throws {
        let mock = MockLoader { .ok($0) }
        _ = try await HTTPClient(transport: mock).send(Minimal())
        let request = try #require(mock.requests.first)
        #expect(request.method == .get)
        #expect(try request.urlString() == "https://api.example/v1")
        #expect(request.headers.isEmpty)
        #expect(request.body.isEmpty)
    }

    @Test func `each optional member of a template has a default`() {
        let template = Minimal()
        #expect(template.method == .get)
        #expect(template.query.isEmpty)
        #expect(template.headers.isEmpty)
        #expect(template.parameters.isEmpty)
        #expect(template.body.isEmpty)
        #expect(template.boundary == nil)
        #expect(template.acceptedStatuses == nil)
        #expect(template.options.timeout == nil)
        #expect(Minimal.Response.self == HTTPResponse.self)
        #expect(Minimal.Failure.self == Never.self)
    }

    @Test(
        arguments: [
            SomeBody(), AnyBody(), StoredBody(), OptionalBody(body: TextBody("text")),
            GenericBody(body: TextBody("text")),
            Minimal().body(TextBody("text")),
        ] as [any RequestTemplate]) func `a body of any type is sent`(template: any RequestTemplate) throws
    {
        #expect(try request(template).body.encode() == Data("text".utf8))
    }

    @Test func `an optional body that is nil is not sent`() throws {
        #expect(try request(OptionalBody(body: nil)).body.isEmpty)
    }

    @Test func `a body of another type is refused, and the error names the template and the type`() throws {
        let error = #expect(throws: HTTPError.self) { try request(WrongBody()) }
        #expect(error?.code == .invalidRequest)
        #expect(error?.message.contains("WrongBody") == true)
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
        #expect(object?["n"] as? Int == 1)
        #expect(object?["s"] as? String == "é")
        #expect(object?["l"] as? [String] == ["a", "b"])
    }

    @Test func `setting replaces a parameter at its position, and nil removes it`() {
        var parameters: RequestParameters = ["a": 1, "b": 2]
        parameters["a"] = 3
        parameters["b"] = nil
        var query = QueryParameters()
        parameters.append(to: &query)
        #expect(query.escaped == "a=3")
        #expect(RequestParameters().isEmpty)
    }
}
