// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

@Suite struct ScopedLoaderTests {
    private static let shared = HTTPClient.over(ScopedLoader())

    @Test(arguments: 0..<100)
    func `each of a hundred parallel tests has its own response for the shared client`(number: Int) async throws {
        let stubs = StubLoader()
        stubs.on(GetPerson.self) { Person(id: number, login: $0.login) }
        try await ScopedLoader.run(over: stubs) {
            async let first = Self.shared.send(GetPerson(login: "a"))
            let second = Task { try await Self.shared.send(GetPerson(login: "b")) }
            let ids = try await [first.id, second.value.id]
            #expect(ids == [number, number])
        }
        #expect(stubs.calls(of: GetPerson.self).count == 2)
        try stubs.verify()
    }

    @Test func `a request outside of a scope fails and says so`() async throws {
        let error = try await #require(throws: HTTPError.self) { try await Self.shared.send(GetPerson(login: "a")) }
        #expect(error.code == .unexpectedRequest)
        #expect(error.message.contains("no test is running that has a mock"))
        #expect(ScopedLoader.current == nil)
    }

    @Test func `the innermost scope applies`() async throws {
        let outer = StubLoader().on(GetPerson.self) { _ in .ada }
        let inner = StubLoader().on(GetPerson.self) { _ in .grace }
        try await ScopedLoader.run(over: outer) {
            let inside = try await ScopedLoader.run(over: inner) { try await Self.shared.send(GetPerson(login: "x")) }
            let outside = try await Self.shared.send(GetPerson(login: "x"))
            #expect([inside, outside] == [.grace, .ada])
        }
    }
}
