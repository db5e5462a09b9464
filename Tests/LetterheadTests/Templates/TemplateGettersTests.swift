import Foundation
import Letterhead
import Testing

private struct QueryThatThrows: RequestTemplate {
    var path: RequestPath { "a" }
    var query: QueryParameters { get throws { ["a": "secret"] } }
}

private struct HeadersThatAreAsynchronous: RequestTemplate {
    var path: RequestPath { "a" }
    var headers: HTTPHeaders { get async { ["X": "secret"] } }
}

private struct LazyQuery: RequestTemplate {
    let path: RequestPath = "a"
    lazy var query: QueryParameters = ["a": "secret"]
}

private struct MethodThatMutates: RequestTemplate {
    private var count = 0
    let path: RequestPath = "a"
    var method: HTTPMethod {
        mutating get {
            count += 1
            return .post
        }
    }
}

private struct ParametersThatThrow: RequestTemplate {
    var path: RequestPath { "a" }
    var parameters: RequestParameters { get throws { ["a": 1] } }
}

private struct BaseURLThatThrows: RequestTemplate {
    var path: RequestPath { "a" }
    var baseURL: URL? { get throws { nil } }
}

private struct StatusesAreLazy: RequestTemplate {
    let path: RequestPath = "a"
    lazy var acceptedStatuses: HTTPStatusSet? = [404]
}

private struct OptionsThatThrow: RequestTemplate {
    var path: RequestPath { "a" }
    var options: HTTPRequestOptions { get throws { HTTPRequestOptions() } }
}

private struct BoundaryThatThrows: RequestTemplate {
    var path: RequestPath { "a" }
    var boundary: String? { get throws { "b" } }
}

private struct BodyThatThrows: RequestTemplate {
    let method = HTTPMethod.post
    let path: RequestPath = "a"
    var body: DataBody { get throws { DataBody(Data("secret".utf8)) } }
}

private struct LazyBody: RequestTemplate {
    let method = HTTPMethod.post
    let path: RequestPath = "a"
    lazy var body = DataBody(Data("secret".utf8))
}

private struct MethodOfAnotherTypeThatThrows: RequestTemplate {
    var path: RequestPath { "a" }
    var method: String { get throws { "POST" } }
}

private struct LazyTimeout: RequestTemplate {
    let path: RequestPath = "a"
    lazy var timeout: Duration = .seconds(1)
}

private struct ConnectTimeoutThatThrows: RequestTemplate {
    var path: RequestPath { "a" }
    var connectTimeout: Duration { get throws { .seconds(1) } }
}

private struct PathThatThrows<Base: RequestTemplate>: RequestDecorator {
    let base: Base
    var path: RequestPath { get throws { "secret" } }
}

private struct BodyOfADecorator<Base: RequestTemplate>: RequestDecorator {
    let base: Base
    var body: DataBody { get throws { DataBody(Data("secret".utf8)) } }
}

/// A protocol of the caller with members for all of its templates.
private protocol Signed: RequestTemplate {}

extension Signed {
    var headers: HTTPHeaders { get throws { ["X": "secret"] } }
}

private struct SignedTemplate: Signed {
    let path: RequestPath = "a"
}

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

/// No member of a template is ignored because of its getter.
@Suite struct TemplateGettersTests {
    private func message(of template: some RequestTemplate) throws -> String {
        let error = try #require(throws: HTTPError.self) { try StandardRequestBuilder(template).request() }
        #expect(error.code == .invalidRequest && !error.description.contains("secret"))
        return error.message
    }

    @Test(
        arguments: [
            (QueryThatThrows(), "query"), (HeadersThatAreAsynchronous(), "headers"), (LazyQuery(), "query"),
            (MethodThatMutates(), "method"), (ParametersThatThrow(), "parameters"), (BaseURLThatThrows(), "baseURL"),
            (StatusesAreLazy(), "acceptedStatuses"), (OptionsThatThrow(), "options"),
            (BoundaryThatThrows(), "boundary"), (BodyThatThrows(), "body"), (LazyBody(), "body"),
            (PathThatThrows(base: StoredInAClass()), "path"), (BodyOfADecorator(base: StoredInAClass()), "body"),
            (SignedTemplate(), "headers"), (LazyQuery().header("a", "b").paginated(), "query"),
        ] as [(any RequestTemplate, String)])
    func `a member whose getter cannot be called is refused, and the error names the member`(
        template: any RequestTemplate, member: String
    ) throws {
        let message = try message(of: template)
        #expect(message.hasPrefix("the member \(member) of "), "\(message)")
        #expect(message.contains(" would be ignored, because its getter is asynchronous, throws or is mutating"))
    }

    @Test func `a member of another type is refused with its type, whatever its getter is`() throws {
        let message = try message(of: MethodOfAnotherTypeThatThrows())
        #expect(message.hasSuffix("is a String and would be ignored: declare it as HTTPMethod"))
    }

    @Test func `a setting that only a modifier can set is refused, whatever its getter is`() throws {
        #expect(try message(of: LazyTimeout()).contains(".timeout("))
        #expect(try message(of: ConnectTimeoutThatThrows()).contains(".connectTimeout("))
    }

    @Test func `members of a protocol and of a class are used`() throws {
        #expect(try StandardRequestBuilder(NamedTemplate()).request().headers["X-Name"] == "n")
        #expect(try StandardRequestBuilder(NamedTemplate().header("a", "b")).request().headers["X-Name"] == "n")
        #expect(try StandardRequestBuilder(StoredInAClass()).request().target == "/a?a=1")
    }

    @Test func `members are read in asynchronous code as in any other`() async throws {
        var template = NamedTemplate()
        template = NamedTemplate()
        func headers(of template: some RequestTemplate) async -> HTTPHeaders { template.headers }
        #expect(template.headers["X-Name"] == "n" && template.method == .get && template.query.isEmpty)
        #expect(await headers(of: template) == template.headers)
    }
}

private struct LengthThatThrows: HTTPBody {
    var contentLength: Int? { get throws { 1 } }
    func encode() -> Data { Data("a".utf8) }
}

private struct LazyHeaders: HTTPBody {
    lazy var additionalHeaders: HTTPHeaders = ["X": "secret"]
    func encode() -> Data { Data("a".utf8) }
}

private struct AsynchronousChunks: HTTPBody {
    func encode() -> Data { Data("a".utf8) }
    func chunks() async throws -> BodyChunks { BodyChunks(Data("b".utf8)) }
}

private struct MutatingEncoder: HTTPBody {
    mutating func encode() -> Data { Data("a".utf8) }
}

private protocol TextBodies: HTTPBody {}

extension TextBodies {
    var additionalHeaders: HTTPHeaders { ["Content-Type": "text/plain"] }
}

private struct Note: TextBodies {
    func encode() -> Data { Data("note".utf8) }
}

/// No member of a body is ignored because of an effect.
@Suite struct BodyGettersTests {
    @Test(
        arguments: [
            (LengthThatThrows(), "contentLength"), (LazyHeaders(), "additionalHeaders"),
            (AsynchronousChunks(), "chunks()"), (MutatingEncoder(), "encode()"),
        ] as [(any HTTPBody, String)])
    func `a member of a body that cannot be called is refused, and the error names the member`(
        body: any HTTPBody, member: String
    ) async throws {
        var request = try HTTPRequest("https://a.example/")
        (request.method, request.body) = (.post, body)
        let sent = request
        let error = await #expect(throws: HTTPError.self) { try await HTTPClient().send(sent) }
        #expect(error?.code == .invalidRequest)
        #expect(error?.message.contains("the member \(member) of ") == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("would be ignored") == true && error?.description.contains("secret") == false)
    }

    @Test func `members of a body in a protocol are used`() throws {
        var request = HTTPRequest()
        (request.method, request.body) = (.post, Note())
        #expect(request.framedHeaders()["Content-Type"] == "text/plain")
    }
}
