// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

@Suite struct StubRouteTests {
    private let stubs = StubLoader()
    private var client: HTTPClient { .over(stubs) }

    @Test func `a segment is captured and percent-decoded`() async throws {
        stubs.on(.get("/v1/people/{login}")) { call in .json(Person(id: 1, login: call["login"])) }
        #expect(try await client.send(GetPerson(login: "a/b é")).login == "a/b é")
    }

    @Test(arguments: [
        ("/v1/people/ada", true), ("v1/people/ada", true), ("/v1/*/ada", true), ("/v1/**", true), ("**", true),
        ("/v1/people", false), ("/v1/people/ada/x", false), ("/v1/people/*/{x}", false), ("/V1/people/ada", false),
    ])
    func `a pattern matches whole segments`(pattern: String, isMatch: Bool) async throws {
        stubs.on(.get(pattern)) { _ in .json(Person.ada) }
        let person = try? await client.send(GetPerson(login: "ada"))
        #expect((person == .ada) == isMatch)
    }

    @Test func `query, headers, host and a part of the body are conditions`() async throws {
        let route = StubRoute.post("/v1/people").query("notify", "yes").header("X-Tenant", "7").host("API.test")
            .body(containing: ["id": 1.0])
        stubs.on(route) { _ in .json(Person.grace, status: .created) }
        let create = CreatePerson(person: .ada).query("notify", "yes").query("more", "1").header("X-Tenant", "7")
        #expect(try await client.send(create) == .grace)
        #expect(stubs.calls(of: route).count == 1)
        #expect(stubs.calls(of: route)[0].template is CreatePerson)
        await #expect(throws: HTTPError.self) { try await client.send(create.header("X-Tenant", "8")) }
        await #expect(throws: HTTPError.self) { try await client.send(create.query("notify", nil)) }
    }

    @Test func `answers in order are used once each`() async throws {
        stubs.on(GetPerson.self, inOrder: .status(.serviceUnavailable), .value(.ada))
        await #expect(throws: HTTPError.self) { try await client.send(GetPerson(login: "a")) }
        #expect(throws: StubViolations.self) { try stubs.verify() }
        #expect(try await client.send(GetPerson(login: "a")) == .ada)
        try stubs.verify()
        await #expect(throws: HTTPError.self) { try await client.send(GetPerson(login: "a")) }
    }

    @Test func `the first stub that matches and has calls left answers`() async throws {
        stubs.on(GetPerson.self, times: 1) { _ in .ada }
        stubs.on(GetPerson.self, times: 1) { _ in .grace }
        stubs.on(.any(), times: .any) { _ in .status(.notFound) }
        #expect(try await client.send(GetPerson(login: "a")) == .ada)
        #expect(try await client.send(GetPerson(login: "a")) == .grace)
        let error = try await #require(throws: HTTPError.self) { _ = try await client.send(GetPerson(login: "a")) }
        #expect(error.response?.status == .notFound)
    }

    @Test func `a scenario moves from one state to the next`() async throws {
        let people = StubScenario("people", initial: "empty")
        stubs.on(ListPeople.self, during: people.state("empty")) { _ in [] }
        stubs.on(CreatePerson.self, times: 1, during: people.state("empty", movesTo: "full")) { .value($0.person) }
        stubs.on(ListPeople.self, during: people.state("full")) { _ in [.ada] }
        #expect(try await client.send(ListPeople()) == [])
        _ = try await client.send(CreatePerson(person: .ada))
        #expect(people.state == "full")
        #expect(try await client.send(ListPeople()) == [.ada])
        try stubs.verify()
        let error = try #require(await failure { _ = try await client.send(CreatePerson(person: .grace)) })
        #expect(error.message.contains(#"the scenario people is in state "full", not "empty""#))
    }

    @Test func `of concurrent requests only one makes a transition`() async throws {
        let door = StubScenario("door", initial: "open")
        stubs.on(.any(), times: .any, during: door.state("open", movesTo: "closed")) { _ in .status(.ok) }
        stubs.on(.any(), times: .any) { _ in .status(.conflict) }
        let statuses = await withTaskGroup(of: Int.self) { [stubs] group in
            for _ in 0..<50 { group.addTask { (try? await stubs.load(try .to("https://h/p")).status.code) ?? 0 } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.filter { $0 == 200 }.count == 1)
        #expect(statuses.filter { $0 == 409 }.count == 49)
    }
}
