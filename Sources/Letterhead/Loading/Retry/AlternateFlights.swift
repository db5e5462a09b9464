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
        var era = AlternateEra()
        var flights: [Key: Flight] = [:]
        var lastNumber = 0
    }

    private let clock: any Clock<Duration>
    private let state = Mutex(State())

    init(clock: any Clock<Duration>) { self.clock = clock }

    /// How many wait now.
    var waiting: Int { state.withLock { $0.flights.values.reduce(0) { $0 + $1.waiters.count } } }

    /// Where an attempt that begins now stands.
    var era: AlternateEra { state.withLock { $0.era } }

    /// The answer of an alternate request: of one that ended since an attempt began, of one under way, or of a new one.
    ///
    /// - Parameters:
    ///   - key: what is shared.
    ///   - era: where the attempt stood when it began.
    ///   - limit: how long it may take; nil for as long as it does.
    ///   - work: sends the request.
    func outcome(
        of key: Key, since era: AlternateEra, within limit: Duration?, work: @escaping @Sendable () async -> Answer
    ) async -> Outcome {
        if let answer = era.lastAnswer(to: key) { return .answer(answer) }
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
        let flights = state.withLock { state in
            defer { (state.era, state.flights) = (AlternateEra(), [:]) }
            return state.flights.values
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

    /// A new era begins with each answer; whoever stands in the old one finds it there.
    private func end(_ key: Key, number: Int, with answer: Answer) {
        let waiters = state.withLock { state -> [Waiter] in
            guard let flight = state.flights[key], flight.number == number else { return [] }
            state.flights[key] = nil
            state.era = state.era.end(with: answer, to: key)
            return Array(flight.waiters.values)
        }
        for waiter in waiters { waiter.set(.answer(answer)) }
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

/// The time between two answers. An attempt keeps the era in which it began, and nobody else does: so an answer is kept as
/// long as somebody may need it, and no longer.
final class AlternateEra: Sendable {
    // A class, because an answer is written into it for all who began in it.
    private struct Ending {
        let key: AlternateFlights.Key
        let answer: AlternateFlights.Answer
        let next: AlternateEra
    }

    private let ending = Mutex<Ending?>(nil)

    /// The last answer since this era began; nil when there was none.
    func lastAnswer(to key: AlternateFlights.Key) -> AlternateFlights.Answer? {
        var (era, answer) = (self, AlternateFlights.Answer?.none)
        while let ending = era.ending.withLock({ $0 }) {
            if ending.key == key { answer = ending.answer }
            era = ending.next
        }
        return answer
    }

    /// Ends this era, and begins the next.
    fileprivate func end(with answer: AlternateFlights.Answer, to key: AlternateFlights.Key) -> AlternateEra {
        let next = AlternateEra()
        ending.withLock { $0 = Ending(key: key, answer: answer, next: next) }
        return next
    }
}
