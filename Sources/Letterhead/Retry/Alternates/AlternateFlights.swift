import Synchronization

/// The alternate requests that loads share: one is under way for all who ask, and who began before it ended uses its
/// answer, too.
///
/// A class, because all loads of a link share it. Its tasks belong to those who wait for them: the last who leaves cancels
/// his, and a reset cancels and awaits all.
final class AlternateFlights: Sendable {
    /// What is shared, and for whom.
    struct Key: Hashable, Sendable {
        let sharing: HTTPRetryStrategy.Sharing.Key
        let identity: RequestIdentity
    }

    typealias Answer = Result<HTTPResponse?, any Error>

    /// What becomes of one who asks.
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

    /// How many wait now.
    var waiting: Int { state.withLock { $0.flights.values.reduce(0) { $0 + $1.waiters.count } } }

    /// How many answers are kept now.
    var answerCount: Int { state.withLock { $0.answers.count } }

    /// Begins an attempt, which may use every answer that arrives until ``end(_:)``.
    func begin() -> AlternateAnswers.Mark { state.withLock { $0.answers.begin() } }

    /// Ends an attempt. Answers that no other attempt can use are released here, after the lock.
    func end(_ mark: AlternateAnswers.Mark) { _ = state.withLock { $0.answers.end(mark) } }

    /// The answer of an alternate request: of one that ended since an attempt began, of one under way, or of a new one.
    ///
    /// - Parameters:
    ///   - key: what is shared.
    ///   - mark: when the attempt began.
    ///   - limit: how long it may take; nil for as long as it does.
    ///   - work: sends the request.
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

    /// Cancels what is under way, sends away who waits, forgets what was answered, and returns when all of it is done
    /// but what itself awaits the reset.
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
            // Made under the lock, so that no reset can miss it; it begins to run elsewhere.
            let task = Task { [self] in end(key, number: number, with: await work()) }
            state.flights[key] = Flight(number: number, waiters: [number: waiter], task: task)
            return number
        }
    }

    private func end(_ key: Key, number: Int, with answer: Answer) {
        // What is taken out is released after the lock: it may hold data whose deallocator cancels a load that waits here.
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
