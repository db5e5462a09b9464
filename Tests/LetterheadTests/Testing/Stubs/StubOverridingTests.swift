// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadTesting
import TestKit
import Testing

@Suite struct StubOverridingTests {
    private let stubs = StubLoader()
    private var client: HTTPClient { .over(stubs) }

    private func status(of template: some RequestTemplate) async throws -> HTTPStatus? {
        let client = client
        return try await #require(throws: HTTPError.self) { _ = try await client.send(template) }.response?.status
    }

    @Test func `earlier stubs of a type respond no more and are not verified`() async throws {
        stubs.on(GetPerson.self, times: 3, where: { $0.login == "ada" }) { _ in .ada }
        stubs.on(GetPerson.self) { _ in .ada }
        stubs.overriding.on(GetPerson.self, times: 1) { _ in .grace }
        #expect(try await client.send(GetPerson(login: "ada")) == .grace)
        try stubs.verify()
        let error = try await #require(throws: HTTPError.self) { _ = try await client.send(GetPerson(login: "ada")) }
        #expect(error.message.hasSuffix("the stub of GetPerson: it was already called 1 time, which is its maximum"))
    }

    @Test func `an override is verified like any other stub`() throws {
        stubs.on(GetPerson.self, times: .any) { _ in .ada }
        stubs.overriding.on(GetPerson.self) { _ in .status(.gone) }
        let error = try #require(throws: StubViolations.self) { try stubs.verify() }
        #expect(error.violations == ["GetPerson was expected to be called at least once, but the number of calls is 0"])
    }

    @Test func `a template value is overridden by an equal one, and its type is not`() async throws {
        stubs.on(.member("ada")) { _ in .ada }
        stubs.on(.member("joan"), times: .any) { _ in .ada }
        stubs.on(Get<Person>.self, times: .any) { _ in .ada }
        stubs.overriding.on(.member("ada")) { _ in .grace }
        stubs.overriding.on(.member("joan")) { _ in .status(.gone) }
        #expect(try await client.send(.member("ada")) == .grace)
        #expect(try await status(of: .member("joan")) == .gone)
        #expect(try await client.send(.owner(ofTeam: 1)) == .ada)
        stubs.overriding.on(Get<Person>.self) { _ in .grace }
        #expect(try await client.send(.owner(ofTeam: 1)) == .grace)
        #expect(try await status(of: .member("joan")) == .gone)
    }

    @Test func `a route is overridden by an equal route`() async throws {
        let route = StubRoute.get("/v1/people/{login}")
        stubs.on(route) { _ in .json(Person.ada) }
        stubs.on(route.header("X", "1"), times: .any) { _ in .json(Person.ada) }
        stubs.overriding.on(route) { _ in .json(Person.grace) }
        #expect(try await client.send(GetPerson(login: "ada").header("X", "1")) == .grace)
        #expect(stubs.calls(of: route).count == 1)
        try stubs.verify()
    }

    @Test func `an override takes the place of the first stub that it replaces`() async throws {
        stubs.on(.member("ada"), times: .any) { _ in .ada }
        stubs.on(Get<Person>.self, times: .any) { _ in .ada }
        stubs.on(.any(), times: .any) { _ in .status(.notFound) }
        stubs.overriding.on(Get<Person>.self) { _ in .grace }
        #expect(try await client.send(.member("ada")) == .ada)
        #expect(try await client.send(.member("grace")) == .grace)
        #expect(try await status(of: GetPerson(login: "joan")) == .notFound)
    }

    @Test func `without a stub to replace, an override precedes all others`() async throws {
        stubs.on(.any(), times: .any) { _ in .status(.notFound) }
        stubs.overriding.on(GetPerson.self) { _ in .ada }
        #expect(try await client.send(GetPerson(login: "ada")) == .ada)
    }

    @Test func `an override may have a condition, a scenario and several answers`() async throws {
        let account = StubScenario("account", initial: "active")
        stubs.on(GetPerson.self, times: 3) { _ in .ada }
        stubs.on(.member("ada"), times: .any) { _ in .ada }
        stubs.overriding.on(GetPerson.self, where: { $0.login == "ada" }, during: account.state("active")) { _ in .grace
        }
        stubs.overriding.on(.member("ada"), inOrder: .status(.gone), .value(.grace))
        #expect(try await client.send(GetPerson(login: "ada")) == .grace)
        #expect(try await status(of: .member("ada")) == .gone)
        #expect(try await client.send(.member("ada")) == .grace)
        try stubs.verify()
    }

    @Test func `what overrides is the same loader`() async throws {
        let overriding = StubLoader(otherwise: stubs).overriding
        stubs.on(.any()) { _ in .json(Person.ada) }
        overriding.on(.member("grace")) { _ in .grace }
        let client = HTTPClient.over(overriding)
        #expect(try await client.send(.member("grace")) == .grace)
        #expect(try await client.send(.member("ada")) == .ada)
        #expect(overriding.calls.count == 2)
    }
}
