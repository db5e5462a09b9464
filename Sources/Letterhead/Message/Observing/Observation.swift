// SPDX-License-Identifier: MIT
import Synchronization

/// The observers of a client, and the trace that it sends.
final class ObservationHub: Sendable {
    let observers: [any HTTPObserver]
    let tracing: TraceContextPropagation?
    private let messageObservers: [any MessageObserver]
    private let timeline: Timeline

    init(
        _ observers: [any HTTPObserver], tracing: TraceContextPropagation? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        (self.observers, self.tracing) = (observers, tracing)
        messageObservers = observers.compactMap { $0 as? any MessageObserver }
        timeline = Timeline(clock)
    }

    var now: Duration { timeline.now }

    fileprivate func deliver(_ event: HTTPEvent, _ message: ObservedMessage?) {
        for observer in observers { observer.record(event) }
        guard let message else { return }
        for observer in messageObservers { observer.record(message, of: event) }
    }
}

/// One observed load. It creates the events and delivers them in order. The request refers to it, so that all links and
/// the reader of the response record events in the same load.
final class Observation: Sendable {
    /// One exchange with the transport. The request of the exchange refers to it, because several exchanges of a load
    /// may run at the same time.
    struct Exchange: Sendable {
        let number: Int
        let start: Duration
    }

    struct State {
        var attempt = 0
        var isInAttempt = false
        var attemptStart = Duration.zero
        var exchanges = 0
        /// The number of exchanges without a response.
        var unanswered = 0
        var last = Duration.zero
        var isEnded = false
        /// Events that are still to be delivered, while a thread delivers them.
        var events: [(HTTPEvent, ObservedMessage?)] = []
        var isDelivering = false

        mutating func nextEvent() -> (HTTPEvent, ObservedMessage?)? {
            isDelivering = !events.isEmpty
            return isDelivering ? events.removeFirst() : nil
        }
    }

    private static let lastLoad = Atomic<Int>(0)

    let hub: ObservationHub
    let load: Int
    let parent: Int?
    let kind: String?
    let template: String?
    let route: String?
    /// The load trace, or nil if the client propagates none.
    let trace: TraceContext?
    private let start: Duration
    private let state = Mutex(State())

    init(
        _ hub: ObservationHub, template: String? = nil, route: String? = nil, parent: Int? = nil, kind: String? = nil,
        family: LoadFamily? = nil, trace: TraceContext? = nil
    ) {
        let load = Self.lastLoad.wrappingAdd(1, ordering: .relaxed).newValue
        (self.load, self.hub, self.template, self.route) = (load, hub, template, route)
        (self.parent, self.kind, self.trace) = (family.map { $0.join(load) } ?? parent, family?.kind ?? kind, trace)
        start = hub.now
    }

    /// Records an event, and delivers events in order of time. A thread that is already delivering also delivers this
    /// one.
    ///
    /// After the load has ended, only exchange events are recorded. Such an exchange can outlive the load, because
    /// other loads may wait for it.
    ///
    /// - Parameter time: when the event happened, if earlier. Default: now.
    func record(
        _ name: HTTPEvent.Name, at time: Duration? = nil, message: ObservedMessage? = nil,
        _ facts: (inout HTTPEvent) -> Void = { _ in },
        changing change: (inout State, inout HTTPEvent) -> Void = { _, _ in }
    ) {
        let now = hub.now
        var event = HTTPEvent(name, load: load, parent: parent, template: template, route: route)
        facts(&event)
        if let trace, event[.traceID] == nil { event[.traceID] = trace.traceID }
        let isDelivered = state.withLock { state in
            guard !state.isEnded || name == .exchangeStart || event[.exchange] != nil else { return true }
            change(&state, &event)
            state.last = max(state.last, min(time ?? now, now))
            (event.attempt, event.time) = (state.attempt, state.last)
            state.events.append((event, message))
            defer { state.isDelivering = true }
            return state.isDelivering
        }
        guard !isDelivered else { return }
        while let (event, message) = state.withLock({ $0.nextEvent() }) { hub.deliver(event, message) }
    }
}

// MARK: Loads

extension Observation {
    func begin(_ request: HTTPRequest) {
        record(.loadStart) { event in
            event.describe(request)
            event[.kind] = kind
            event[.timeLeft] = request.timeLeft
        }
    }

    func end(_ response: HTTPResponse) {
        finish(.loadEnd) { event in
            event[.status] = response.status.code
            event[.bytes] = response.body.length
        }
    }

    func end(_ response: HTTPResponse, _ end: HTTPResponseBody.End) {
        if case .failed(let error) = end { self.end(error) } else { self.end(response) }
    }

    func end(_ error: any Error) {
        let own = error as? HTTPError
        let isCancelled = error is CancellationError || own?.code == .cancelled
        finish(isCancelled ? .loadCancelled : .loadFailed) { event in
            event.describe(error)
            event[.status] = own?.response?.status.code
        }
    }

    private func finish(_ name: HTTPEvent.Name, _ facts: (inout HTTPEvent) -> Void) {
        let duration = hub.now - start
        record(name) { event in
            facts(&event)
            event[.duration] = duration
        } changing: { state, _ in
            state.isEnded = true
        }
    }

    /// Returns the observation of a load that serves this one.
    func child(_ kind: String) -> Observation {
        Observation(hub, template: template, parent: load, kind: kind, trace: trace)
    }
}

// MARK: Attempts and exchanges

extension Observation {
    /// Begins an attempt. Returns false if one is already in progress, as with one retry link below a second one.
    func beginAttempt(_ request: HTTPRequest) -> Bool {
        let now = hub.now
        let isNew = state.withLock { state in
            defer { state.isInAttempt = true }
            return !state.isInAttempt
        }
        guard isNew else { return false }
        record(.attemptStart) { event in
            event[.timeLeft] = request.timeLeft
        } changing: { state, _ in
            state.attempt += 1
            state.attemptStart = now
        }
        return true
    }

    func endAttempt(_ result: Result<HTTPResponse, HTTPError>) {
        let start = state.withLock { state in
            state.isInAttempt = false
            return state.attemptStart
        }
        record(.attemptEnd) { event in
            switch result {
            case .success(let response): event[.status] = response.status.code
            case .failure(let error): event.describe(error)
            }
            event[.duration] = hub.now - start
        }
    }

    var exchanges: Int { state.withLock { $0.exchanges } }

    func beginExchange(_ request: HTTPRequest, _ facts: (inout HTTPEvent) -> Void) -> Exchange {
        let now = hub.now
        var number = 0
        record(.exchangeStart, at: now, message: .request(request)) { event in
            event.describe(request)
            facts(&event)
        } changing: { state, event in
            state.exchanges += 1
            state.unanswered += 1
            number = state.exchanges
            event[.exchange] = number
            event[.resendCount] = number - 1
            if state.unanswered > 1 { event[.isHedge] = true }
        }
        return Exchange(number: number, start: now)
    }

    /// Call it when an exchange has received a response or an error.
    func answerExchange() { state.withLock { $0.unanswered -= 1 } }
}

extension HTTPEvent {
    mutating func describe(_ request: HTTPRequest) {
        let shown = request.withEnvironment
        self[.method] = shown.method.printable
        self[.url] = request.redaction.url(of: shown)
        if let origin = shown.origin { describe(origin) }
    }

    mutating func describe(_ origin: HTTPOrigin) {
        self[.origin] = origin.description
        self[.host] = Redaction.visible(origin.host)
        self[.port] = origin.port
    }

    mutating func describe(_ error: any Error) {
        let own = error as? HTTPError
        self[.errorType] = error is CancellationError ? "cancelled" : own?.code.rawValue ?? "\(Swift.type(of: error))"
        self[.error] = own?.description ?? HTTPError.summary(of: error)
    }
}

extension HTTPRequest {
    /// The facts about this request for an exchange event, for links that create spans themselves.
    ///
    /// They are the method, the URL without secrets, the origin, the route, and the number of earlier exchanges in the
    /// load.
    public var exchangeEvent: HTTPEvent {
        var event = HTTPEvent(.exchangeStart, route: observation?.route ?? path.route)
        event.describe(self)
        event[.resendCount] = observation.map { context.observed?.exchange.map { $0.number - 1 } ?? $0.exchanges }
        return event
    }

    /// Records an event in a custom link: `request.record(.shardChosen) { $0[.shard] = 3 }`.
    ///
    /// The closure sets the facts. They must not be secret. If the load isn't observed, nothing happens, and the
    /// closure isn't called.
    @inline(__always)
    public func record(_ name: HTTPEvent.Name, _ facts: (inout HTTPEvent) -> Void = { _ in }) {
        if let observation { observation.record(name, facts) }
    }
}

/// The loads of one sequence. The first is the parent of the others.
final class LoadFamily: Sendable {
    /// The kind of each load, for the events.
    let kind: String
    private let first = Atomic<Int>(0)

    init(kind: String) { self.kind = kind }

    /// Adds a load and returns its parent, or nil for the first load.
    func join(_ load: Int) -> Int? {
        let earlier = first.compareExchange(expected: 0, desired: load, ordering: .relaxed).original
        return earlier == 0 ? nil : earlier
    }
}
