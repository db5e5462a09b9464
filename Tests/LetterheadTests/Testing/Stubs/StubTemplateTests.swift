// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

/// Stubs of one endpoint value.
@Suite struct StubTemplateTests {
    private let stubs = StubLoader()
    private var client: HTTPClient { .over(stubs) }

    private func refusal(of template: some RequestTemplate) async throws -> String {
        let client = client
        let error = try await #require(throws: HTTPError.self) { _ = try await client.send(template) }
        #expect(error.code == .unexpectedRequest)
        return error.message
    }

    @Test func `endpoints of one type have a stub each`() async throws {
        stubs.on(.member("ada")) { _ in .ada }
        stubs.on(.owner(ofTeam: 7)) { _ in .grace }
        stubs.on(.get("/v1/people/{login}"), times: .any) { call in .json(Person(id: 9, login: call["login"])) }
        #expect(try await client.send(.owner(ofTeam: 7)) == .grace)
        #expect(try await client.send(.member("ada")) == .ada)
        #expect(try await client.send(.member("joan")) == Person(id: 9, login: "joan"))
        try stubs.verify()
    }

    @Test func `the query is compared`() async throws {
        stubs.on(.members(named: "ada")) { _ in [.ada] }
        stubs.on(.members()) { _ in [.ada, .grace] }
        #expect(try await client.send(.members()).count == 2)
        #expect(try await client.send(.members(named: "ada")).count == 1)
        #expect(
            try await refusal(of: .members(named: "grace")).hasSuffix(
                "the stub of GET people?name=…: the query differs"))
    }

    @Test func `the body is compared, without the order of JSON members and without a boundary`() async throws {
        let names = (0..<40).map { "name\($0)" }
        let (first, second) = (
            names.reduce(into: [:]) { $0[$1] = 1 }, names.reversed().reduce(into: [:]) { $0[$1] = 1 }
        )
        stubs.on(.enlist(JSONBody(first, encoder: JSONEncoder()))) { _ in .ada }
        stubs.on(.enlist(MultipartBody([.text("x", name: "y")]))) { _ in .grace }
        #expect(try await client.send(.enlist(JSONBody(second, encoder: JSONEncoder()))) == .ada)
        #expect(try await client.send(.enlist(MultipartBody([.text("x", name: "y")]))) == .grace)
        #expect(
            try await refusal(of: .enlist(JSONBody(["name0": 1]))).hasSuffix(
                "the stub of POST people: the body differs"))
    }

    @Test func `decorators around the template that was sent are ignored`() async throws {
        stubs.on(.member("ada"), times: 2) { _ in .ada }
        stubs.on(.members()) { _ in .pages([[.ada], [.grace]]) }
        #expect(
            try await client.send(.member("ada").query("full", true).header("X", "1").timeout(.seconds(900))) == .ada)
        #expect(try await client.send(AnyTemplate(.member("ada").query("full", true))) == .ada)
        var logins: [String] = []
        for try await person in client.items(of: .members().paginated(by: .linkHeader)) { logins.append(person.login) }
        #expect(logins == ["ada", "grace"])
        try stubs.verify()
    }

    @Test func `a decorator of the stub's template is a condition`() async throws {
        stubs.on(.member("ada").query("full", true)) { _ in .grace }
        stubs.on(.member("ada").header("X", "1")) { _ in .ada }
        #expect(
            try await client.send(.member("ada").timeout(.seconds(900)).query("full", true).header("X", "2")) == .grace)
        #expect(try await client.send(.member("ada")) == .ada)
    }

    @Test func `a stub of one value responds with any answer, with answers in order and a number of times`()
        async throws
    {
        stubs.on(.member("ada"), inOrder: .status(.serviceUnavailable), .value(.ada))
        stubs.on(.member("grace"), times: 1) { _ in .status(.gone) }
        await #expect(throws: HTTPError.self) { try await client.send(.member("ada")) }
        #expect(try await client.send(.member("ada")) == .ada)
        #expect(throws: StubViolations.self) { try stubs.verify() }
        let gone = try await #require(throws: HTTPError.self) { _ = try await client.send(.member("grace")) }
        #expect(gone.response?.status == .gone)
        try stubs.verify()
        #expect(try await refusal(of: .member("grace")).hasSuffix("it was already called 1 time, which is its maximum"))
    }

    @Test func `the closure receives the template that was sent, or the equal one of the stub`() async throws {
        struct NamedPerson: RequestTemplate {
            typealias Response = Person
            var id = 0
            var path: RequestPath { "people/ada" }
        }
        stubs.on(NamedPerson(id: 1)) { Person(id: $0.id, login: "ada") }
        #expect(try await client.send(NamedPerson(id: 2).header("X", "1")).id == 2)
        #expect(try await client.send(.member("ada")).id == 1)
    }

    @Test func `a difference in the path names both paths`() async throws {
        stubs.on(.member("ada")) { _ in .ada }
        let message = try await refusal(of: .member("grace").query("full", true))
        #expect(message.hasSuffix("the stub of GET people/ada: the path people/grace is not people/ada"))
    }

    @Test func `a template that cannot be built is a violation`() async throws {
        stubs.on(.member(""), times: .any) { _ in .ada }
        stubs.on(.enlist(StreamBody { AsyncStream<Data> { $0.finish() } })) { _ in .ada }
        #expect(
            try await refusal(of: .member("ada")).contains("its template can match no request: the path is refused"))
        let error = try #require(throws: StubViolations.self) { try stubs.verify() }
        #expect(error.violations.count == 3)
        #expect(error.violations[0].hasPrefix("the stub of Get<Person> can match no request: the path is refused"))
        #expect(
            error.violations[1]
                == "the stub of Post<Person> can match no request: the body is not in memory, so it cannot be compared")
    }

    @Test func `a body that can be sent only once is not compared, and the answer can read it`() async throws {
        stubs.on(.enlist(JSONBody(Person.ada))) { _ in .ada }
        stubs.on(.post("/v1/people")) { call in .json(try await call.body(as: Person.self)) }
        let bytes = AsyncStream<Data> { continuation in
            continuation.yield(Data(#"{"id":2,"login":"grace"}"#.utf8))
            continuation.finish()
        }
        #expect(try await client.send(.enlist(StreamBody(once: bytes))) == .grace)
    }

    @Test func `the request of a redirect belongs to no template`() async throws {
        stubs.on(.member("ada"), times: 1) { _ in .status(.found, headers: ["Location": "/v1/people/ada"]) }
        stubs.on(.get("/v1/people/ada")) { _ in .json(Person.grace) }
        #expect(try await client.send(.member("ada")) == .grace)
    }

    @Test func `the calls of one value are counted`() async throws {
        stubs.on(Get<Person>.self, where: { _ in true }) { _ in .ada }
        for login in ["ada", "grace", "ada"] { _ = try await client.send(.member(login).header("X", login)) }
        #expect(stubs.calls(of: .member("ada")).map(\.number) == [1, 3])
        #expect(stubs.calls(of: .member("joan")).isEmpty && stubs.calls(of: .member("")).isEmpty)
    }
}
