// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

@Suite struct StubStrictnessTests {
    private let stubs = StubLoader()
    private var client: HTTPClient { .over(stubs) }

    private func refusal(_ send: @Sendable (HTTPClient) async throws -> Void) async throws -> String {
        let client = client
        let error = try await #require(throws: HTTPError.self) { try await send(client) }
        #expect(error.code == .unexpectedRequest && !error.mayHaveBeenSent)
        return error.message
    }

    @Test func `a request without any stub is an error`() async throws {
        let message = try await refusal { _ = try await $0.send(GetPerson(login: "ada")) }
        #expect(
            message == "no stub matches GET https://api.test/v1/people/ada, sent by GetPerson: the loader has no stubs")
    }

    @Test func `a request too many names its stub`() async throws {
        stubs.on(DeletePerson.self, times: 1) { _ in .status(.noContent) }
        try await client.send(DeletePerson(login: "ada"))
        let message = try await refusal { try await $0.send(DeletePerson(login: "grace")) }
        #expect(
            message.hasSuffix(
                "the nearest is the stub of DeletePerson: it was already called 1 time, which is its maximum"))
    }

    @Test func `the nearest route is shown with the differences`() async throws {
        stubs.on(.delete("/v1/other")) { _ in .status(.ok) }
        stubs.on(.post("/v1/people").header("X-Tenant", "1").body(containing: ["login": "grace"])) { _ in .status(.ok) }
        let message = try await refusal { _ = try await $0.send(CreatePerson(person: .ada)) }
        #expect(
            message.hasSuffix(
                "the nearest is the stub of POST /v1/people: the header X-Tenant has no value; "
                    + "the body has a different value at $.login"))
    }

    @Test func `a condition that is false is a difference`() async throws {
        stubs.on(GetPerson.self, where: { $0.login == "ada" }) { _ in .ada }
        #expect(try await client.send(GetPerson(login: "ada")) == .ada)
        let message = try await refusal { _ = try await $0.send(GetPerson(login: "grace")) }
        #expect(message.hasSuffix("the stub of GetPerson: its condition is false for the template"))
    }

    @Test func `what was expected and did not come is an error that names it`() async throws {
        stubs.on(GetPerson.self) { _ in .ada }
        stubs.on(DeletePerson.self, times: 2) { _ in .status(.noContent) }
        stubs.on(ListPeople.self, times: .any) { _ in [] }
        try await client.send(DeletePerson(login: "ada"))
        let error = try #require(throws: StubViolations.self) { try stubs.verify() }
        #expect(
            error.violations == [
                "GetPerson was expected to be called at least once, but the number of calls is 0",
                "DeletePerson was expected to be called 2 times, but the number of calls is 1",
            ])
    }

    @Test func `an unexpected request fails the verification even if its error was ignored`() async throws {
        _ = try? await client.send(GetPerson(login: "ada"))
        let error = try #require(throws: StubViolations.self) { try stubs.verify() }
        #expect(error.description.contains("no stub matches GET"))
    }

    @Test func `a forbidden request does not reach another loader`() async throws {
        let mock = MockLoader { HTTPResponse(request: $0, status: .noContent) }
        let stubs = StubLoader(otherwise: mock).on(DeletePerson.self, times: .never) { _ in .status(.noContent) }
        let error = await failure { try await HTTPClient.over(stubs).send(DeletePerson(login: "ada")) }
        #expect(error?.code == .unexpectedRequest && mock.requests.isEmpty)
        #expect(throws: (any Error).self) { try stubs.verify() }
    }

    @Test func `a stub forbids requests only in its state`() async throws {
        let scenario = StubScenario("people", initial: "active")
        let stubs = StubLoader()
            .on(DeletePerson.self, times: .never, during: scenario.state("deleted")) { _ in .status(.noContent) }
            .on(DeletePerson.self, during: scenario.state("active")) { _ in .status(.noContent) }
        _ = try await HTTPClient.over(stubs).send(DeletePerson(login: "ada"))
        try stubs.verify()
    }

    @Test func `a stub that must never be called wins over a later one`() async throws {
        stubs.on(DeletePerson.self, times: .never) { _ in .status(.noContent) }
        stubs.on(DeletePerson.self, times: .any) { _ in .status(.noContent) }
        try stubs.verify()
        let message = try await refusal { try await $0.send(DeletePerson(login: "ada")) }
        #expect(message.hasSuffix("the stub of DeletePerson: it must never be called"))
    }

    @Test func `another loader can answer what no stub matches`() async throws {
        let stubs = StubLoader(otherwise: MockLoader { try .ok($0, json: Person.grace) })
        #expect(try await HTTPClient.over(stubs).send(GetPerson(login: "a")) == .grace)
        try stubs.verify()
        #expect(stubs.calls.count == 1)
    }
}
