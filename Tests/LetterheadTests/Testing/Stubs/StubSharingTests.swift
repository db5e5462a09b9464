// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadTesting
import TestKit
import Testing

/// Stubs by type that answer requests of several endpoints.
@Suite struct StubSharingTests {
    private let stubs = StubLoader()
    private var client: HTTPClient { .over(stubs) }

    @Test func `a stub by type that answers several routes is a violation that names them`() async throws {
        stubs.on(Get<Person>.self) { _ in .ada }
        for _ in 0..<2 {
            _ = try await client.send(.member("ada"))
            _ = try await client.send(.owner(ofTeam: 7).header("X", "1"))
        }
        let error = try #require(throws: StubViolations.self) { try stubs.verify() }
        #expect(
            error.violations == [
                "the stub of Get<Person> has answered requests with different routes (people/{}, teams/{}/owner): stub each "
                    + #"endpoint by its value, as in on(.user("ada")), or restrict the stub with where:"#
            ])
    }

    @Test func `several values of one route are no violation`() async throws {
        stubs.on(Get<Person>.self) { _ in .ada }
        for login in ["ada", "grace"] { _ = try await client.send(.member(login)) }
        try stubs.verify()
    }

    @Test func `a condition allows several routes`() async throws {
        stubs.on(Get<Person>.self, where: { _ in true }) { _ in .ada }
        _ = try await client.send(.member("ada"))
        _ = try await client.send(.owner(ofTeam: 7))
        try stubs.verify()
    }

    @Test func `a declared type may have several routes`() async throws {
        struct AnyPerson: RequestTemplate {
            typealias Response = Person
            var isOwner: Bool
            var path: RequestPath { isOwner ? "teams/7/owner" : "people/ada" }
        }
        stubs.on(AnyPerson.self) { _ in .ada }
        for isOwner in [true, false] { _ = try await client.send(AnyPerson(isOwner: isOwner)) }
        try stubs.verify()
    }
}
