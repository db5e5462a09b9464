// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import LetterheadTestingSupport
import TestKit
import Testing

@Suite(.stubbed { $0.on(ListPeople.self, times: .any) { _ in [.ada] } }) struct StubbedTraitTests {
    private static let shared = HTTPClient.over(ScopedLoader())

    @Test(arguments: 0..<20)
    func `each case of a test has its own stubs`(number: Int) async throws {
        let stubs = try #require(StubLoader.current)
        #expect(stubs.calls.isEmpty)
        stubs.on(GetPerson.self, times: 1) { Person(id: number, login: $0.login) }
        #expect(try await Self.shared.send(GetPerson(login: "a")).id == number)
        #expect(try await Self.shared.send(ListPeople()) == [.ada])
    }

    @Test func `a stub that is not called fails the test`() async throws {
        await withKnownIssue {
            try await StubbedTrait.stubbed.provideScope(for: #require(Test.current), testCase: Test.Case.current) {
                StubLoader.current?.on(DeletePerson.self, times: 1) { _ in .status(.noContent) }
            }
        }
    }
}
