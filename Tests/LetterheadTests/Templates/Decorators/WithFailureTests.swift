// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadTesting
import TestKit
import Testing

private typealias PeopleGet<Response: Sendable> = WithFailure<Get<Response>, Refusal>

extension RequestTemplate where Self == PeopleGet<Person> {
    fileprivate static func found(_ login: String) -> Self { Get("people/\(login)").failure(as: Refusal.self) }
}

@Suite struct WithFailureTests {
    private let stubs = StubLoader()

    @Test func `an endpoint in one line has a type for its error responses`() async throws {
        stubs.on(.found("ada")) { _ in .failure(Refusal(reason: "gone"), status: .gone) }
        let error = try await #require(throws: HTTPError.self) {
            _ = try await HTTPClient.over(stubs).send(.found("ada").header("X", "1"))
        }
        #expect(error.failure(of: PeopleGet<Person>.self) == Refusal(reason: "gone"))
        #expect(error.failure(of: Modified<PeopleGet<Person>>.self) == Refusal(reason: "gone"))
    }

    @Test func `everything else is that of the base`() async throws {
        try await DecoratorLaws(changing: [.failure]) { $0.failure(as: Refusal.self) }.check()
        stubs.on(.found("ada")) { _ in .ada }
        #expect(try await HTTPClient.over(stubs).send(.found("ada")) == .ada)
    }
}
