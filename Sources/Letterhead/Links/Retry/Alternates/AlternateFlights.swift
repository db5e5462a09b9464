import Synchronization

/// The alternate requests that loads share. Concurrent loads wait for one alternate request, and a load whose attempt
/// began before that request completed uses its response, too: its refusal is from before the response, for example from
/// before a new token.
///
/// All loads of a link share it. The latest response to each request is kept while attempts are running that can be
/// retried.
final class AlternateFlights: Sendable {
    /// The scope of one shared request: the sharing value of the caller, and the identity of the original request.
    struct Key: Hashable, Sendable {
        let sharing: HTTPRetryStrategy.Sharing.Key
        let identity: RequestIdentity
    }

    typealias Answer = Result<HTTPResponse?, any Error>

    /// The start of an attempt, as the number of events before it. nil for an attempt that cannot be retried.
    typealias Mark = Int?

    private struct State {
        var answers: [Key: (number: Int, answer: Answer)] = [:]
        /// The number of running attempts that may need an answer.
        var attempts = 0
        var lastNumber = 0
        /// The number of the last reset. Attempts that began before it receive no answers.
        var firstNumber = 0

        /// Removes all answers. The caller releases them after the lock, because a deallocator of their data may cancel a
        /// load that waits here.
        mutating func removeAnswers() -> [Key: (number: Int, answer: Answer)] {
            defer { answers = [:] }
            return answers
        }
    }

    static let limit = 64

    private let clock: any Clock<Duration>
    private let flights = Flights<Key, Answer>()
    private let state = Mutex(State())

    init(clock: any Clock<Duration>) { self.clock = clock }

    var waiting: Int { flights.waiting }

    var answerCount: Int { state.withLock { $0.answers.count } }

    /// Begins an attempt. Until ``end(_:)``, it may use every response that arrives.
    func begin() -> Mark {
        state.withLock { state in
            state.attempts += 1
            return state.lastNumber
        }
    }

    func end(_ mark: Mark) {
        guard mark != nil else { return }
        _ = state.withLock { state in
            state.attempts -= 1
            return state.attempts == 0 ? state.removeAnswers() : [:]
        }
    }

    /// Returns the outcome of an alternate request: one that completed after the attempt began, one that is in flight,
    /// or a new one.
    ///
    /// - Parameters:
    ///   - key: the scope of the shared request.
    ///   - mark: the start of the attempt.
    ///   - limit: the longest time to wait. nil means no limit.
    ///   - work: sends the alternate request.
    func outcome(
        of key: Key, since mark: Mark, within limit: Duration?, work: @escaping @Sendable () async -> Answer
    ) async -> Flights<Key, Answer>.Outcome {
        let (answer, ticket) =
            state.withLock { state in
                if let (number, answer) = state.answers[key], let mark, number > mark, mark >= state.firstNumber {
                    return (answer, nil)
                }
                let ticket = flights.join(key) { [self] in
                    let answer = await work()
                    store(answer, to: key)
                    return answer
                }
                return (nil, ticket)
            } as (Answer?, Flights<Key, Answer>.Ticket?)
        if let answer { return .value(answer) }
        guard let ticket else { return .reset }
        return await flights.outcome(for: ticket, within: limit, on: clock)
    }

    /// Cancels the requests in flight, ends all waits, and removes the stored responses.
    func reset() {
        flights.reset()
        _ = state.withLock { state in
            state.lastNumber += 1
            state.firstNumber = state.lastNumber
            return state.removeAnswers()
        }
    }

    /// Stores the answer in place of an earlier one, unless the request was cancelled. Over the limit, the oldest answer
    /// is removed.
    private func store(_ answer: Answer, to key: Key) {
        _ = state.withLock { state -> [Answer?] in
            guard !Task.isCancelled, state.attempts > 0 else { return [] }
            state.lastNumber += 1
            let earlier = state.answers.updateValue((state.lastNumber, answer), forKey: key)?.answer
            guard state.answers.count > Self.limit,
                let oldest = state.answers.indices.min(by: {
                    state.answers.values[$0].number < state.answers.values[$1].number
                })
            else { return [earlier] }
            return [earlier, state.answers.remove(at: oldest).value.answer]
        }
    }
}
