// SPDX-License-Identifier: MIT
import Synchronization

/// The queued responses.
final class AnswerQueue: Sendable {
    // This type is a class because tests add responses while the server's thread removes them.
    private struct Entry {
        let number: Int
        let answer: MockServer.Answer
        /// The number of requests that the entry still applies to.
        var left: Int
    }

    private struct State {
        var entries: [Entry] = []
        var next = 0

        mutating func takeOne(at index: Int) -> MockServer.Answer {
            entries[index].left -= 1
            return entries[index].left > 0 ? entries[index].answer : entries.remove(at: index).answer
        }
    }

    private let state = Mutex(State())

    var count: Int { state.withLock { $0.entries.reduce(0) { $1.left > .max - $0 ? .max : $0 + $1.left } } }

    func append(_ answer: MockServer.Answer, times: Int = 1) {
        guard times > 0 else { return }
        state.withLock { state in
            state.entries.append(Entry(number: state.next, answer: answer, left: times))
            state.next += 1
        }
    }

    /// Removes and returns the first matching response.
    func take(for request: MockServer.Request) -> MockServer.Answer? {
        let (answer, waiting) = state.withLock { state -> (MockServer.Answer?, [Entry]) in
            guard let first = state.entries.first, first.answer.fits == nil else { return (nil, state.entries) }
            return (state.takeOne(at: 0), [])
        }
        if let answer { return answer }
        // Conditions are user code, so they run outside the lock. Only the server's thread removes entries, so a match
        // is still present.
        guard let found = waiting.first(where: { $0.answer.fits?(request) ?? true }) else { return nil }
        return state.withLock { state in
            state.entries.firstIndex { $0.number == found.number }.map { state.takeOne(at: $0) }
        }
    }
}
