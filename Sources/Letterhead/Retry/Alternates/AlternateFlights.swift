import Synchronization

/// The alternate requests that loads share. Concurrent loads wait for one alternate request, and a load whose attempt
/// began before that request completed uses its response, too.
///
/// This type is a class because all loads of a link share it. A task runs for the loads that wait for it: it is
/// cancelled when the last of them leaves. A reset cancels and awaits all tasks.
final class AlternateFlights: Sendable {
    /// The scope of one shared request: the sharing value of the caller, and the identity of the original request.
    struct Key: Hashable, Sendable {
        let sharing: HTTPRetryStrategy.Sharing.Key
        let identity: RequestIdentity
    }

    typealias Answer = Result<HTTPResponse?, any Error>

    /// The result of waiting for an alternate request.
    enum Outcome: Sendable {
        case answer(Answer)
        case cancelled, reset, late
    }

    private typealias Waiter = OneShot<Outcome>

    private struct Flight {
        let number: Int
        var waiters: [Int: Waiter]
        var task: Task<Void, Never>?
    }

    private struct State {
        var answers = AlternateAnswers()
        var flights: [Key: Flight] = [:]
        var lastNumber = 0
    }

    private let clock: any Clock<Duration>
    private let state = Mutex(State())

    init(clock: any Clock<Duration>) { self.clock = clock }

    /// The number of loads that are waiting.
    var waiting: Int { state.withLock { $0.flights.values.reduce(0) { $0 + $1.waiters.count } } }

    /// The number of stored responses.
    var answerCount: Int { state.withLock { $0.answers.count } }

    /// Begins an attempt. Until ``end(_:)``, it may use every response that arrives.
    func begin() -> AlternateAnswers.Mark { state.withLock { $0.answers.begin() } }

    /// Ends an attempt. Responses that no other attempt can use are released here, after the lock.
    func end(_ mark: AlternateAnswers.Mark) { _ = state.withLock { $0.answers.end(mark) } }

    /// Returns the outcome of an alternate request: one that completed after the attempt began, one that is in flight,
    /// or a new one.
    ///
    /// - Parameters:
    ///   - key: the scope of the shared request.
    ///   - mark: the start of the attempt.
    ///   - limit: the longest time to wait. nil means no limit.
    ///   - work: sends the alternate request.
    func outcome(
        of key: Key, since mark: AlternateAnswers.Mark, within limit: Duration?,
        work: @escaping @Sendable () async -> Answer
    ) async -> Outcome {
        if let answer = state.withLock({ $0.answers.lastAnswer(to: key, since: mark) }) { return .answer(answer) }
        let waiter = Waiter()
        let number = join(key, with: waiter, work: work)
        return await waiter.value(within: limit, on: clock) { [self] in
            leave(key, number: number, as: .late)
        } onCancel: { [self] in
            leave(key, number: number, as: .cancelled)
        }
    }

    /// Cancels the requests in flight, ends all waits, and removes the stored responses. Returns when all tasks have
    /// ended, except those that themselves wait for this reset.
    func reset() async {
        let (flights, _) = state.withLock { state in
            defer { state.flights = [:] }
            return (state.flights.values, state.answers.forget())
        }
        let others = flights.compactMap(\.task).filter { !$0.cancelsCaller() }
        for flight in flights {
            for waiter in flight.waiters.values { waiter.set(.reset) }
        }
        for task in others { await task.value }
    }

    private func join(_ key: Key, with waiter: Waiter, work: @escaping @Sendable () async -> Answer) -> Int {
        state.withLock { state in
            state.lastNumber += 1
            let number = state.lastNumber
            if state.flights[key] != nil {
                state.flights[key]?.waiters[number] = waiter
                return number
            }
            // The task is created under the lock, so that no reset can miss it. It starts to run on another thread.
            let task = Task { [self] in end(key, number: number, with: await work()) }
            state.flights[key] = Flight(number: number, waiters: [number: waiter], task: task)
            return number
        }
    }

    private func end(_ key: Key, number: Int, with answer: Answer) {
        // The removed values are released after the lock: a deallocator of their data may cancel a load that waits
        // here.
        let (flight, _) = state.withLock { state -> (Flight?, Answer?) in
            guard let flight = state.flights[key], flight.number == number else { return (nil, nil) }
            state.flights[key] = nil
            return (flight, state.answers.add(answer, to: key))
        }
        for waiter in flight?.waiters.values ?? [:].values { waiter.set(.answer(answer)) }
    }

    private func leave(_ key: Key, number: Int, as outcome: Outcome) {
        let (waiter, task) = state.withLock { state -> (Waiter?, Task<Void, Never>?) in
            guard let waiter = state.flights[key]?.waiters.removeValue(forKey: number) else { return (nil, nil) }
            guard let flight = state.flights[key], flight.waiters.isEmpty else { return (waiter, nil) }
            state.flights[key] = nil
            return (waiter, flight.task)
        }
        task?.cancel()
        waiter?.set(outcome)
    }
}
