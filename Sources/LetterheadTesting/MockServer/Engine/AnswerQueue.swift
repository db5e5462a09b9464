// SPDX-License-Identifier: MIT
import Synchronization

/// The queued responses.
final class AnswerQueue: Sendable {
    // This type is a class because tests add responses while the server's thread removes them.
    private struct Entry {
        let answer: MockServer.Answer
        /// How many more requests the entry applies to.
        var left: Int
    }

    private let entries = Mutex<[Entry]>([])

    var count: Int { entries.withLock { $0.reduce(0) { $1.left > .max - $0 ? .max : $0 + $1.left } } }

    func append(_ answer: MockServer.Answer, times: Int) {
        guard times > 0 else { return }
        entries.withLock { $0.append(Entry(answer: answer, left: times)) }
    }

    /// Removes and returns the first matching response.
    func take(for request: MockServer.Request) -> MockServer.Answer? {
        // Conditions are user code, so they run outside the lock. Only the server's thread removes entries, so a match
        // keeps its index.
        let waiting = entries.withLock { $0 }
        guard let index = waiting.firstIndex(where: { $0.answer.fits?(request) ?? true }) else { return nil }
        entries.withLock { entries in
            entries[index].left -= 1
            if entries[index].left == 0 { entries.remove(at: index) }
        }
        return waiting[index].answer
    }
}
