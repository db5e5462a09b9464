// SPDX-License-Identifier: MIT
@testable import Letterhead
import Testing

private typealias State = CredentialState<String>

private let first = HTTPOrigin(scheme: "https", host: "a.example")
private let second = HTTPOrigin(scheme: "https", host: "b.example")

private func enter(_ state: inout State, _ origin: HTTPOrigin?) -> State.Answer {
    state.enter([], origin: origin, verdict: nil, now: .zero)
}

private func number(of answer: State.Answer) -> Int? {
    if case .obtain(let number, _) = answer { number } else { nil }
}

private func owner(in answer: State.Answer) -> HTTPOrigin? {
    if case .refuse(.otherOrigin(let origin)) = answer { origin } else { nil }
}

@Suite struct CredentialStateOriginsTests {
    private struct Down: Error {}

    @Test func `a request to another origin does not wait for a credential that is being obtained`() throws {
        var state = State(limit: .standard)
        _ = try #require(number(of: enter(&state, first)))
        #expect(owner(in: enter(&state, second)) == first)
    }

    @Test(arguments: [Result<String?, any Error>.success(nil), .failure(Down())])
    func `a credential that could not be obtained belongs to no origin`(result: Result<String?, any Error>) throws {
        var state = State(limit: .standard)
        let failed = try #require(number(of: enter(&state, first)))
        _ = state.finish(failed, for: [], with: result)
        #expect(number(of: enter(&state, second)) != nil)
    }
}
