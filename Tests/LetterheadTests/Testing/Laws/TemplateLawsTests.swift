import Foundation
import Letterhead
import LetterheadTesting
import Testing

private struct Sound: RequestTemplate {
    typealias Response = [String: String]
    let login: String
    let boundary: String?
    var path: RequestPath { "users/\(login)" }
    var method: HTTPMethod { .post }
    var headers: Letterhead.HTTPHeaders { ["X": "{"] }
    var body: some HTTPBody { JSONBody(login) }
    func decode(_ response: HTTPResponse) async throws -> [String: String] { [:] }
    func finish(_ result: Result<HTTPResponse, HTTPError>) async throws -> HTTPResponse { try result.get() }
}

private struct StoredHeaders: RequestTemplate {
    let path: RequestPath = "a"
    let headers: [String: String]
}

private struct StoredBaseURL: RequestTemplate {
    let path: RequestPath = "a"
    let baseURL: URL
}

private struct StoredMethod: RequestTemplate {
    let path: RequestPath = "a"
    let method = "POST"
}

private final class Parent: RequestTemplate {
    let path: RequestPath = "a"
    let query = ["a": "1"]
}

private struct ComputedHeaders: RequestTemplate {
    var path: RequestPath { "a" }  // var headers: HTTPHeaders { [:] }
    var headers: [String: String] { ["X": "1"] }
}

private struct ComputedQuery: RequestTemplate {
    var path: RequestPath { "a" }
}

extension ComputedQuery {
    var query: [URLQueryItem] { [URLQueryItem(name: "a", value: "1")] }
}

private struct ComputedStatuses: RequestTemplate {
    var path: RequestPath { "a" }
    var acceptedStatuses: HTTPStatusSet { [200, 404] }
    var boundary: String { "b" }
}

private struct NestedNames: RequestTemplate {
    var path: RequestPath {
        let headers: [String: String] = [:]
        return "\(headers.count)"
    }
    struct Inner { var headers: [String: String] = [:] }
    let note = """
        var query: [String] { [] }
        """
    /* var method: String { "GET" } /* nested */ var method: Int */
}

private struct WrongFinish: RequestTemplate {
    var path: RequestPath { "a" }
    func finish(_ result: Result<HTTPResponse, any Error>) async throws -> HTTPResponse { try result.get() }
    func decode(_ data: Data) async throws -> HTTPResponse { throw CancellationError() }
}

private struct NoBody: RequestTemplate {
    var path: RequestPath { "a" }
    var body: String { "not a body" }
}

private struct FreshBoundary: RequestTemplate {
    var path: RequestPath { "a" }
    var boundary: String? { UUID().uuidString }
}

private struct Generic<Value: Sendable>: RequestTemplate {
    let value: Value
    var path: RequestPath { "a" }
    var options: [String] { [] }
}

@Suite struct TemplateLawsTests {
    private func members(of template: some RequestTemplate) async throws -> [TemplateMember] {
        try await TemplateLaws.violations(of: template, sources: #filePath).compactMap(\.member)
    }

    @Test func `a valid template violates no law`() async throws {
        try await TemplateLaws.check(Sound(login: "ada", boundary: nil), sources: #filePath)
        #expect(try await members(of: Sound(login: "ada", boundary: "b")) == [])
    }

    @Test func `a stored member of another type is found on the instance`() async throws {
        #expect(try await TemplateLaws.violations(of: StoredHeaders(headers: [:])).map(\.member) == [.headers])
        let url = try #require(URL(string: "https://h"))
        #expect(try await TemplateLaws.violations(of: StoredBaseURL(baseURL: url)).map(\.member) == [.baseURL])
        #expect(try await TemplateLaws.violations(of: StoredMethod()).map(\.member) == [.method])
        #expect(try await TemplateLaws.violations(of: Parent()).map(\.member) == [.query])
    }

    @Test func `a stored member is reported once, even if it is also found in the source`() async throws {
        #expect(try await members(of: StoredHeaders(headers: [:])) == [.headers])
    }

    @Test func `a computed member of another type is found in the source`() async throws {
        #expect(try await members(of: ComputedHeaders()) == [.headers])
        #expect(try await members(of: ComputedStatuses()) == [.acceptedStatuses, .boundary])
        #expect(try await members(of: Generic(value: 1)) == [.options])
    }

    @Test func `an extension in the file is checked, too`() async throws {
        #expect(try await members(of: ComputedQuery()) == [.query])
    }

    @Test func `names inside functions, other types, texts and comments are not members`() async throws {
        #expect(try await members(of: NestedNames()) == [])
    }

    @Test func `a function with another parameter is not a hook`() async throws {
        #expect(try await Set(members(of: WrongFinish())) == [.finish, .decode])
    }

    @Test func `a body of another type is reported`() async throws {
        #expect(try await members(of: NoBody()) == [.body])
    }

    @Test func `a member that differs between two reads is reported`() async throws {
        let violations = try await TemplateLaws.violations(of: FreshBoundary())
        #expect(violations.map(\.law) == ["stability"])
        #expect(violations.map(\.member) == [.boundary])
    }

    @Test func `a folder is searched for the file that declares it`() async throws {
        let folder = (#filePath as NSString).deletingLastPathComponent
        #expect(try await TemplateLaws.violations(of: ComputedHeaders(), sources: folder).map(\.member) == [.headers])
    }

    @Test func `a source that does not declare the template is reported`() async throws {
        let other = (#filePath as NSString).deletingLastPathComponent + "/BrokenDecorators.swift"
        let violations = try await TemplateLaws.violations(of: ComputedHeaders(), sources: other)
        #expect(violations.first?.description.contains("ComputedHeaders is not declared in") == true)
        await #expect(throws: (any Error).self) {
            try await TemplateLaws.violations(of: ComputedHeaders(), sources: "/nowhere.swift")
        }
    }

    @Test func `a violation names both types and the effect on the member`() async throws {
        let error = await #expect(throws: LawViolations.self) {
            try await TemplateLaws.check(ComputedHeaders(), sources: #filePath)
        }
        #expect(
            try #require(error).description
                == "types: headers has the type [String:String] and the requirement HTTPHeaders, "
                + "so no request can be built from the template")
    }
}
