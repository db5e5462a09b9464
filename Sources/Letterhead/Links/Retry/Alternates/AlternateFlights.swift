// SPDX-License-Identifier: MIT
import Synchronization

/// The alternate requests that the loads of a link share. Concurrent loads wait for one, and a load whose attempt began
/// before it completed uses its response, too: its refusal is from before the response, for example from before a new
/// token. The latest response is kept while an attempt is running that began before it and can be retried.
final class AlternateFlights: Sendable {
    struct Key: Hashable, Sendable {
        let sharing: HTTPRetryStrategy.Sharing.Key
        let identity: RequestIdentity
    }

    typealias Answer = Result<HTTPResponse, any Error>

    typealias Numbered = (number: Int, answer: Answer)

    /// The start of an attempt, as the number of events before it. nil for an attempt that cannot be retried.
    typealias Mark = Int?

    private struct State {
        var answers: [Key: Numbered] = [:]
        /// The keys of the answers, by number.
        var keys: [Int: Key] = [:]
        /// The number of running attempts that may need an answer, by their start.
        var attempts: [Int: Int] = [:]
        /// No running attempt began before this number.
        var firstStart = 0
        var lastNumber = 0
        /// The number of the last reset. Attempts that began before it receive no answers.
        var firstNumber = 0

        /// Removes the answers that every running attempt began after. The caller releases them after the lock, because a
        /// deallocator of their data may cancel a load that waits here.
        mutating func removeAnswers() -> [Numbered] {
            var removed: [Numbered] = []
            while firstStart < lastNumber, attempts[firstStart] == nil {
                firstStart += 1
                guard let key = keys.removeValue(forKey: firstStart), answers[key]?.number == firstStart else {
                    continue
                }
                if let answer = answers.removeValue(forKey: key) { removed.append(answer) }
            }
            return removed
        }
    }

    private let clock: any Clock<Duration>
    private let flights = Flights<Key, Numbered>()
    private let state = Mutex(State())

    init(clock: any Clock<Duration>) { self.clock = clock }

    var waiting: Int { flights.waiting }

    var answerCount: Int { state.withLock { $0.answers.count } }

    /// Begins an attempt. Until ``end(_:)``, it may use every response that arrives.
    func begin() -> Mark {
        state.withLock { state in
            state.attempts[state.lastNumber, default: 0] += 1
            return state.lastNumber
        }
    }

    func end(_ mark: Mark) {
        guard let mark else { return }
        _ = state.withLock { state in
            state.attempts[mark]? -= 1
            if state.attempts[mark] == 0 { state.attempts[mark] = nil }
            return state.removeAnswers()
        }
    }

    /// The outcome of a request that completed after the attempt began, of the one in flight, or of a new one. `limit`
    /// is the longest wait; nil means none.
    func outcome(
        of key: Key, since mark: Mark, within limit: Duration?, work: @escaping @Sendable () async -> Answer
    ) async -> Flights<Key, Numbered>.Outcome {
        while true {
            let (known, ticket) =
                state.withLock { state in
                    if let known = state.answers[key], let mark, known.number > mark, mark >= state.firstNumber {
                        return (known, nil)
                    }
                    return (nil, flights.join(key) { [self] in store(await work(), to: key) })
                } as (Numbered?, Flights<Key, Numbered>.Ticket?)
            if let known { return .value(known) }
            guard let ticket else { return .reset }
            let outcome = await flights.outcome(for: ticket, within: limit, on: clock)
            // The request in flight may have received its response just before the attempt began.
            if case .value(let value) = outcome, let mark, value.number <= mark { continue }
            return outcome
        }
    }

    func reset() {
        flights.reset()
        _ = state.withLock { state in
            state.lastNumber += 1
            state.firstNumber = state.lastNumber
            state.keys = [:]
            return exchange(&state.answers, with: [:])
        }
    }

    /// Numbers the answer, and stores it in place of an earlier one, unless the request was cancelled.
    private func store(_ answer: Answer, to key: Key) -> Numbered {
        let (numbered, _) = state.withLock { state -> (Numbered, earlier: Numbered?) in
            state.lastNumber += 1
            let numbered = (state.lastNumber, answer)
            if Task.isCancelled || state.attempts.isEmpty { return (numbered, nil) }
            state.keys[numbered.0] = key
            let earlier = state.answers.updateValue(numbered, forKey: key)
            if let earlier { state.keys[earlier.number] = nil }
            return (numbered, earlier)
        }
        return numbered
    }
}
