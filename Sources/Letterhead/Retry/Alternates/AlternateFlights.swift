import Synchronization

/// The alternate requests that loads share. Concurrent loads wait for one alternate request, and a load whose attempt
/// began before that request completed uses its response, too.
///
/// This type is a class because all loads of a link share it. An alternate request is cancelled when the last load stops
/// waiting for it. A reset cancels and awaits all of them.
final class AlternateFlights: Sendable {
    /// The scope of one shared request: the sharing value of the caller, and the identity of the original request.
    struct Key: Hashable, Sendable {
        let sharing: HTTPRetryStrategy.Sharing.Key
        let identity: RequestIdentity
    }

    typealias Answer = Result<HTTPResponse?, any Error>
    typealias Flight = SingleFlight<Answer>

    private struct State {
        var answers = AlternateAnswers()
        var flights: [Key: Flight] = [:]
        /// Flights that no load waits for any longer and whose work has not ended.
        var closing: [ObjectIdentifier: Flight] = [:]
    }

    private let clock: any Clock<Duration>
    private let state = Mutex(State())

    init(clock: any Clock<Duration>) { self.clock = clock }

    /// The number of loads that are waiting.
    var waiting: Int { state.withLock { $0.flights.values.reduce(0) { $0 + $1.waiting } } }

    /// The number of stored responses.
    var answerCount: Int { state.withLock { $0.answers.count } }

    /// Begins an attempt. Until ``end(_:)``, it may use every response that arrives.
    func begin() -> AlternateAnswers.Mark { state.withLock { $0.answers.begin() } }

    /// Ends an attempt. Responses that no other attempt can use are deallocated after the lock is released.
    func end(_ mark: AlternateAnswers.Mark) {
        guard mark.mayUseAnswers else { return }
        _ = state.withLock { $0.answers.end(mark) }
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
        of key: Key, since mark: AlternateAnswers.Mark, within limit: Duration?,
        work: @escaping @Sendable () async -> Answer
    ) async -> Flight.Outcome {
        let (answer, flight, ticket, isNew) =
            state.withLock { state in
                if let answer = state.answers.lastAnswer(to: key, since: mark) { return (answer, nil, nil, false) }
                if let flight = state.flights[key], let ticket = flight.join() { return (nil, flight, ticket, false) }
                if let abandoned = state.flights[key] { state.closing[ObjectIdentifier(abandoned)] = abandoned }
                let flight = Flight(needsWaiters: true)
                state.flights[key] = flight
                return (nil, flight, flight.join(), true)
            } as (Answer?, Flight?, Flight.Ticket?, Bool)
        if let answer { return .value(answer) }
        guard let flight, let ticket else { return .reset }
        if isNew {
            flight.start { [self] in
                // A reset may have closed the flight before its task began.
                end(flight, of: key, with: flight.isOpen ? await work() : .failure(CancellationError()))
            }
        }
        return await flight.outcome(for: ticket, within: limit, on: clock)
    }

    /// Cancels the requests in flight, ends all waits, and removes the stored responses. Returns when all requests have
    /// ended, except those that themselves wait for this reset.
    func reset() async {
        let (flights, _) = state.withLock { state in
            defer { state.flights = [:] }
            return (Array(state.flights.values) + Array(state.closing.values), state.answers.forget())
        }
        for flight in flights { flight.reset() }
        for flight in flights { await flight.ended() }
    }

    private func end(_ flight: Flight, of key: Key, with answer: Answer) {
        // The removed values are deallocated after the lock is released: a deallocator of their data may cancel a load
        // that waits here.
        _ = state.withLock { state -> Answer? in
            state.closing[ObjectIdentifier(flight)] = nil
            guard state.flights[key] === flight else { return nil }
            state.flights[key] = nil
            return flight.isOpen ? state.answers.add(answer, to: key) : nil
        }
        flight.finish(with: answer)
    }
}
