import Foundation
import Letterhead
import LetterheadTesting
import Testing

private struct MethodAsText: RequestTemplate {
    var path: RequestPath { "a" }
    var method: String { "POST" }
}

private struct HeadersAsDictionary: RequestTemplate {
    let path: RequestPath = "a"
    let headers: [String: String] = ["X": "secret"]
}

private struct QueryAsDictionary: RequestTemplate {
    var path: RequestPath { "a" }
    var query: [String: String] { ["a": "secret"] }
}

private struct QueryInAnExtension: RequestTemplate {
    var path: RequestPath { "a" }
}

extension QueryInAnExtension {
    var query: [URLQueryItem] { [] }
}

private struct BaseURLThatIsNotOptional: RequestTemplate {
    let path: RequestPath = "a"
    let baseURL: URL
}

private struct BoundaryThatIsNotOptional: RequestTemplate {
    var path: RequestPath { "a" }
    var boundary: String { "b" }
}

private struct StatusesAsNumbers: RequestTemplate {
    var path: RequestPath { "a" }
    var acceptedStatuses: [Int] { [200] }
}

private struct ParametersAsDictionary: RequestTemplate {
    var path: RequestPath { "a" }
    var parameters: [String: Int] { ["a": 1] }
}

private struct OptionsAsList<Option: Sendable>: RequestTemplate {
    var path: RequestPath { "a" }
    var options: [Option] { [] }
}

private struct TimeoutOfItsOwn: RequestTemplate {
    var path: RequestPath { "a" }
    var timeout: Duration { .seconds(5) }
}

private struct DeadlineOfItsOwn: RequestTemplate {
    let path: RequestPath = "a"
    var deadline: Duration?
}

private struct EnvironmentOfItsOwn: RequestTemplate {
    let path: RequestPath = "a"
    let environment: ServerEnvironment
}

private struct DecodeOfData: RequestTemplate {
    typealias Response = String
    var path: RequestPath { "a" }
    func decode(_ data: Data) throws -> String { "" }
}

private struct DecodeToSomethingElse: RequestTemplate {
    typealias Response = String
    var path: RequestPath { "a" }
    func decode(_ response: HTTPResponse) throws -> Int { 1 }
}

private struct FinishWithAnyError: RequestTemplate {
    var path: RequestPath { "a" }
    func finish(_ result: Result<HTTPResponse, any Error>) async throws -> HTTPResponse { try result.get() }
}

private struct FinishWithoutResult: RequestTemplate {
    var path: RequestPath { "a" }
    func finish(_ result: Result<HTTPResponse, HTTPError>) {}
}

private struct Marked<Base: RequestTemplate>: RequestDecorator {
    let base: Base
    var path: String { "b" }
}

/// A builder that does not use the standard one.
private struct OwnBuilder<Template: RequestTemplate>: RequestBuilder {
    let template: Template
    func request() -> HTTPRequest {
        var request = HTTPRequest()
        request.method = template.method
        request.path = template.path
        return request
    }
}

/// A template that uses the names of the library for what is its own.
private struct OwnNames: RequestTemplate {
    typealias Response = Int
    let timeout: Int
    let deadline: String
    var path: RequestPath { "a" }
    var query: QueryParameters { ["timeout": timeout, "deadline": deadline] }
    func decode(_ response: HTTPResponse) async throws -> Int { decode(try await response.body.data()) }
    func decode(_ data: Data) -> Int { data.count }
    func decode(_ text: String) -> Int { text.count }
}

private struct NotDecodable: Sendable, Equatable {}

private struct Undecodable: RequestTemplate {
    typealias Response = NotDecodable?
    var path: RequestPath { "a" }
}

private struct DecodedByItself: RequestTemplate {
    var path: RequestPath { "a" }
    func decode(_ response: HTTPResponse) -> NotDecodable { NotDecodable() }
}

private struct Answers<Response: Sendable>: RequestTemplate {
    var path: RequestPath { "a" }
}

/// No member of a template is ignored because of its type.
@Suite struct TemplateMembersTests {
    private func error(of template: some RequestTemplate) throws -> HTTPError {
        try #require(throws: HTTPError.self) { try StandardRequestBuilder(template).request() }
    }

    @Test(
        arguments: [
            (MethodAsText(), "method", "String", "HTTPMethod"),
            (HeadersAsDictionary(), "headers", "Dictionary<String, String>", "HTTPHeaders"),
            (QueryAsDictionary(), "query", "Dictionary<String, String>", "QueryParameters"),
            (QueryInAnExtension(), "query", "Array<URLQueryItem>", "QueryParameters"),
            (BaseURLThatIsNotOptional(baseURL: URL(filePath: "/")), "baseURL", "URL", "URL?"),
            (BoundaryThatIsNotOptional(), "boundary", "String", "String?"),
            (StatusesAsNumbers(), "acceptedStatuses", "Array<Int>", "HTTPStatusSet?"),
            (ParametersAsDictionary(), "parameters", "Dictionary<String, Int>", "RequestParameters"),
            (OptionsAsList<Int>(), "options", "Array<Int>", "HTTPRequestOptions"),
            (Marked(base: Answers<Void>()), "path", "String", "RequestPath"),
        ] as [(any RequestTemplate, String, String, String)])
    func `a member of another type is refused, and the error names the member and both types`(
        template: any RequestTemplate, member: String, type: String, required: String
    ) throws {
        let error = try error(of: template)
        #expect(error.code == .invalidRequest)
        #expect(error.message.hasPrefix("the member \(member) of "))
        #expect(error.message.hasSuffix(" is a \(type) and would be ignored: declare it as \(required)"))
        #expect(!error.description.contains("secret"))
    }

    @Test func `a member that only a modifier can set is refused, and the error names the modifier`() throws {
        #expect(
            try error(of: TimeoutOfItsOwn()).message
                == "the member timeout of TimeoutOfItsOwn would be ignored, because templates have no such member; "
                + "write .timeout(…) where the template is sent, or set timeout in its options")
        #expect(try error(of: DeadlineOfItsOwn()).message.contains(".deadline("))
        let environment = try error(of: EnvironmentOfItsOwn(environment: .of("https://h.example")))
        #expect(environment.message.contains(".environment("))
    }

    @Test(
        arguments: [
            DecodeOfData(), DecodeToSomethingElse(), FinishWithAnyError(), FinishWithoutResult(),
        ] as [any RequestTemplate])
    func `a function that would never be called is refused`(template: any RequestTemplate) throws {
        #expect(try error(of: template).message.contains("would never be called"))
    }

    @Test func `a member of another type is found through decorators`() throws {
        let message = try error(of: MethodAsText()).message
        #expect(try error(of: MethodAsText().header("a", "b").query("c", 1).paginated()).message == message)
        #expect(
            try error(of: Marked(base: MethodAsText())).message.hasPrefix("the member path of Marked<MethodAsText>"))
    }

    @Test func `a member of another type is refused before anything is sent, by every builder`() async throws {
        let mock = MockLoader { HTTPResponse(request: $0, status: 200) }
        let expected = try error(of: MethodAsText()).message
        let error = try await #require(throws: HTTPError.self) {
            try await SendableRequest(OwnBuilder(template: MethodAsText()), over: mock).response()
        }
        #expect(error.code == .invalidRequest && error.message == expected)
        #expect(mock.requests.isEmpty)
    }

    @Test func `a builder that is used by itself refuses a member of another type`() throws {
        let expected = try error(of: MethodAsText()).message
        for make in [
            { _ = try StandardRequestBuilder(MethodAsText()).urlRequest() },
            { _ = try MultipartRequestBuilder(MethodAsText(), parts: []).request() },
            { _ = try OwnBuilder(template: MethodAsText()).urlRequest() },
        ] as [() throws -> Void] {
            let error = try #require(throws: HTTPError.self) { try make() }
            #expect(error.code == .invalidRequest && error.message == expected)
        }
    }

    @Test func `a template may use the names for values of other types and for further functions`() async throws {
        let mock = MockLoader { HTTPResponse(request: $0, status: 200, body: HTTPResponseBody(Data("four".utf8))) }
        let template = OwnNames(timeout: 3, deadline: "x")
        #expect(try await HTTPClient(environment: .of("https://h.example"), transport: mock).send(template) == 4)
        #expect(mock.requests.first?.target == "/a?timeout=3&deadline=x")
    }
}

/// A response that cannot be decoded is refused before anything is sent.
@Suite struct UndecodableResponseTests {
    private let mock = MockLoader { HTTPResponse(request: $0, status: 200) }

    private func send<Template: RequestTemplate>(_ template: Template) async throws -> Template.Response {
        return try await HTTPClient(environment: .of("https://h.example"), transport: mock).send(template)
    }

    @Test func `a response that is not Decodable is refused before anything is sent`() async throws {
        for template in [
            Undecodable(), Undecodable().header("a", "b"), Answers<NotDecodable>(), Answers<[NotDecodable]>(),
        ]
            as [any RequestTemplate]
        {
            let error = try await #require(throws: HTTPError.self) { _ = try await send(template) }
            #expect(error.code == .invalidRequest)
            #expect(error.message.contains("NotDecodable"))
            #expect(error.message.hasSuffix("is not Decodable; implement decode(_:) in the template"))
        }
        let unwrapped = Answers<NotDecodable>().unwrapping(\.self)
        await #expect(throws: HTTPError.self) { _ = try await send(unwrapped) }
        #expect(mock.requests.isEmpty)
    }

    @Test func `a template that decodes by itself may have any response type`() async throws {
        #expect(try await send(DecodedByItself()) == NotDecodable())
        #expect(try await send(DecodedByItself().header("a", "b")) == NotDecodable())
    }

    @Test func `a response without a value needs no decoder`() async throws {
        try await send(Answers<Void>())
        _ = try await send(Answers<Data>())
        #expect(try await send(Answers<[Int]?>()) == nil)
        #expect(try await send(Answers<any Sendable>()) is HTTPResponse)
    }

    @Test func `a template that is streamed or built needs no decoder`() async throws {
        let client = HTTPClient(environment: .of("https://h.example"), transport: mock)
        _ = try await client.stream(Undecodable())
        _ = try StandardRequestBuilder(Undecodable()).request()
    }

    @Test func `the default decoder creates only the response type of the template`() async throws {
        let response = HTTPResponse(request: HTTPRequest(), status: 200, body: HTTPResponseBody(Data("1".utf8)))
        #expect(try await Answers<Int>().decode(response) == 1)
        await #expect(throws: HTTPError.self) { let _: String = try await Answers<Int>().decode(response) }
    }
}
