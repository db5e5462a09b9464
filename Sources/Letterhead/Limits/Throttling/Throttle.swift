import Synchronization

/// Lets only so many loads run at a time; the others wait their turn.
///
/// ```swift
/// let throttle = Throttle(limit: 4)                     // of this link together
/// let throttle = Throttle(limit: 2, per: .host)         // to each host
/// throttle.limit = 0                                    // pause; what runs goes on
/// request.throttling = .priority(1)                     // before the others
/// request.throttling = .never                           // past the throttle, and not counted
/// ```
///
/// Whoever came first goes first, the higher priority before the lower. A slot is free again when its load has ended, in
/// whatever way; the load of a streamed response when its body was read or dropped. Who is cancelled leaves the line at
/// once; who has a deadline leaves it then, with `.timedOut`. A reset sends away who waits, with `.cancelled`.
///
/// Put it behind retry, so that a back-off holds no slot, and behind a cache, so that a hit needs none. Of several, put the
/// one of the narrower scope first: a throttle of all requests before a ``Throttle`` or ``LimitRate`` for each host fails
/// each load with `.invalidRequest`, since requests that wait for a slow host would hold the slots of all. Two scopes that
/// are keys cannot be compared, and are not checked.
public final class Throttle: LoaderLink {
    // A class, because all chains that it stands in share its slots, and its limit can be changed.

    private typealias Turn = OneShot<TurnOutcome>

    private let state: Mutex<ThrottleState<Turn>>
    let scope: ThrottleScope
    private let queueLimit: Int
    private let clock: any Clock<Duration>
    /// The type of a next loader that limits nothing, so that it is looked at once.
    private let unlimitedNext = Atomic<UInt>(0)

    /// Makes the link.
    ///
    /// - Parameters:
    ///   - limit: how many run at a time. Default: no limit; 0 lets nobody run until it is raised; a negative one fails
    ///     each load with `.invalidRequest`.
    ///   - scope: what is counted together. Default: all requests of the link.
    ///   - queueLimit: how many may wait in one scope; one more fails with `.queueFull`, and a negative number each load
    ///     with `.invalidRequest`. Default: no limit.
    ///   - clock: measures deadlines. Default: the continuous clock.
    public init(
        limit: Int = .max, per scope: ThrottleScope = .client, queueLimit: Int = .max,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        state = Mutex(ThrottleState(limit: limit))
        self.scope = scope
        self.queueLimit = queueLimit
        self.clock = clock
    }

    /// How many run at a time, in each scope.
    ///
    /// When it is raised, those whose turn has come start at once. When it is lowered, what runs goes on, and nobody
    /// starts until there is room. A negative limit sends away who waits, with `.invalidRequest`.
    public var limit: Int {
        get { state.withLock { $0.limit } }
        set {
            let (woken, outcome) = state.withLock { state in
                let woken = state.setLimit(newValue)
                return newValue < 0 ? (state.clearLines(), Self.negative) : (woken, TurnOutcome.turn)
            }
            for turn in woken { turn.set(outcome) }
        }
    }

    /// How many run now.
    public var running: Int { state.withLock { $0.running } }

    /// How many wait now.
    public var waiting: Int { state.withLock { $0.waiting } }

    /// Has the request answered when it is its turn.
    ///
    /// - Throws: `.invalidRequest`, before anything is sent, also for a broken order of throttles.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        guard let priority = request.throttling.priority else { return try await next.load(request) }
        guard queueLimit >= 0 else { throw Self.negative.error(for: request, waitingFor: Self.slot) }
        if scope.isClient, isBrokenOrder(before: next) {
            throw HTTPError(
                .invalidRequest, request: request, message: ThrottleOrder.rule, mayHaveBeenSent: false)
        }
        let key = try scope.key(of: request)
        if !state.withLock({ $0.enter(key) }) { try await waitTurn(of: request, key: key, priority: priority) }
        let response: HTTPResponse
        do throws(HTTPError) {
            response = try await next.load(request)
        } catch {
            leave(key)
            throw error
        }
        return release(key, after: response)
    }

    /// Sends away who waits, and resets what is below.
    public func reset(next: any HTTPLoader) async {
        for turn in state.withLock({ $0.clearLines() }) { turn.set(.reset) }
        await next.reset()
    }

    private func isBrokenOrder(before next: any HTTPLoader) -> Bool {
        let type = UInt(bitPattern: ObjectIdentifier(type(of: next)))
        guard type != unlimitedNext.load(ordering: .relaxed) else { return false }
        switch ThrottleOrder(below: next) {
        case .unlimited: unlimitedNext.store(type, ordering: .relaxed)
        case .allowed: break
        case .broken: return true
        }
        return false
    }

    private static let negative = TurnOutcome.refused("a limit of the Throttle is negative")
    private static let slot = "a slot of the Throttle"

    private func waitTurn(of request: HTTPRequest, key: ThrottleKey, priority: Int) async throws(HTTPError) {
        let left = request.timeLeft
        if let left, left <= .zero { throw TurnOutcome.tooLate.error(for: request, waitingFor: Self.slot) }
        let turn = Turn()
        let arrival = state.withLock {
            $0.arrive(key, priority: priority, queueLimit: queueLimit, waiter: turn)
        }
        switch arrival {
        case .runs: return
        case .refused: throw Self.negative.error(for: request, waitingFor: Self.slot)
        case .full: throw TurnOutcome.full(queueLimit).error(for: request, waitingFor: Self.slot)
        case .waits(let place):
            let leave = { @Sendable [self] (outcome: TurnOutcome) -> Void in
                state.withLock { $0.leaveLine(key, place: place) }?.set(outcome)
            }
            let outcome = await turn.value(
                within: left, on: clock, onTimeout: { leave(.tooLate) }, onCancel: { leave(.cancelled) })
            guard case .turn = outcome else { throw outcome.error(for: request, waitingFor: Self.slot) }
        }
    }

    /// A body that is still arriving keeps the slot until it has ended.
    private func release(_ key: ThrottleKey, after response: HTTPResponse) -> HTTPResponse {
        guard response.body.buffered == nil else {
            leave(key)
            return response
        }
        var response = response
        response.body = response.body.passing { next in
            try await next()
        } end: { [self] in
            leave(key)
        }
        return response
    }

    private func leave(_ key: ThrottleKey) { state.withLock { $0.leave(key) }?.set(.turn) }
}

extension Throttle: ScopedLimit {}

extension Throttle: CustomStringConvertible {
    /// The name and the limit.
    public var description: String { limit == .max ? "Throttle" : "Throttle(\(limit))" }
}
