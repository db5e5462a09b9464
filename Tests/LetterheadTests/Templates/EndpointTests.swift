// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

private struct Problem: Codable, Sendable, Equatable {
    var title: String
}

extension RequestTemplate where Self == Get<Person> {
    fileprivate static func person(_ login: String) -> Self { Get("people/\(login)") }
}

extension RequestTemplate where Self == Get<[Person]> {
    fileprivate static func people(named name: String? = nil) -> Self {
        Get("people", query: ["name": name, "size": 2], headers: ["X-List": "1"])
    }
}

extension RequestTemplate where Self == Post<Person> {
    fileprivate static func create(_ person: Person) -> Self { Post("people", body: JSONBody(person)) }
}

/// Endpoints in one line.
@Suite struct EndpointTests {
    private let ada = Person(id: 1, login: "ada")
    private let mock = MockLoader { request in
        if request.path.string.hasSuffix("people") && request.method == .get {
            return try .ok(request, json: [Person(id: 1, login: "ada")])
        }
        return try .ok(request, json: Person(id: 1, login: "ada"))
    }
    private var client: HTTPClient { HTTPClient(environment: .of("https://h.test/api"), transport: mock) }

    private func built(_ template: some RequestTemplate) throws -> HTTPRequest {
        try StandardRequestBuilder(template).request()
    }

    @Test func `an endpoint is declared as a function and sent by its name`() async throws {
        #expect(try await client.send(.person("a/b")) == ada)
        #expect(try await client.send(.people(named: "a")) == [ada])
        #expect(try await client.send(.people()) == [ada])
        #expect(try await client.send(.create(ada)) == ada)
        #expect(try await client.send(.person("ada").timeout(.seconds(600)).header("X", "1")) == ada)
        #expect(
            mock.requests.map { "\($0.method) \($0.target)" } == [
                "GET /api/people/a%2Fb", "GET /api/people?name=a&size=2", "GET /api/people?size=2", "POST /api/people",
                "GET /api/people/ada",
            ])
        #expect(mock.requests[1].headers["X-List"] == "1" && mock.requests[4].headers["X"] == "1")
        #expect(try JSONDecoder().decode(Person.self, from: mock.requests[3].body.encode()) == ada)
    }

    @Test func `each type has its method, and Endpoint has any`() throws {
        let body = TextBody("x")
        let requests = try [
            built(Get<Void>("a", query: ["q": 1], headers: ["H": "v"])),
            built(Post<Void>("a", query: ["q": 1], headers: ["H": "v"], body: body)),
            built(Put<Void>("a", query: ["q": 1], headers: ["H": "v"], body: body)),
            built(Patch<Void>("a", query: ["q": 1], headers: ["H": "v"], body: body)),
            built(Delete<Void>("a", query: ["q": 1], headers: ["H": "v"], body: body)),
            built(Letterhead.Endpoint<Void>("PURGE", "a", query: ["q": 1], headers: ["H": "v"], body: body)),
        ]
        #expect(requests.map(\.method) == [.get, .post, .put, .patch, .delete, "PURGE"])
        for request in requests {
            #expect(request.target == "/a?q=1" && request.headers["H"] == "v")
            #expect(try request.body.encode() == Data(request.method == .get ? "".utf8 : "x".utf8))
        }
        #expect(try built(Post<Void>("a")).body.isEmpty)
    }

    @Test func `the failure of an endpoint is decoded by its type`() async throws {
        let client = HTTPClient(
            environment: .of("https://h.test"),
            transport: StubLoader().on(.any()) { _ in .json(["title": "no"], status: 422) })
        let error = try await #require(throws: HTTPError.self) { try await client.send(.person("ada")) }
        #expect(error.failure(as: Problem.self) == Problem(title: "no") && error.failure(as: [Int].self) == nil)
    }
}
