// SPDX-License-Identifier: MIT
import Letterhead

/// One stub: its conditions, its answer, and the number of calls that it expects.
struct Stub: Sendable {
    /// A reason why a stub does not answer a request. A smaller weight means a better match.
    struct Difference: Sendable {
        let weight: Int
        let text: String
    }

    let name: String
    let times: StubTimes
    let state: StubState?
    let route: StubRoute?
    /// Returns the differences between the conditions and a request; none if the request matches.
    let differences: @Sendable (StubInput) -> [Difference]
    /// Responds to a request. The second argument is the number of the call; the first call of the stub has number 0.
    let respond: @Sendable (StubInput, Int) async throws -> HTTPResponse

    /// Returns the reasons why the stub does not answer a request, including used-up calls and another scenario state.
    func differences(from input: StubInput, count: Int) -> [Difference] {
        var found = differences(input)
        if let text = state?.difference { found.append(Difference(weight: 2, text: text)) }
        if times.most == 0 {
            found.append(Difference(weight: 1, text: "it must never be called"))
        } else if count >= times.most {
            let called = count == 1 ? "1 time" : "\(count) times"
            found.append(Difference(weight: 1, text: "it was already called \(called), which is its maximum"))
        }
        return found
    }
}
