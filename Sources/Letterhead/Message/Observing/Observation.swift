// SPDX-License-Identifier: MIT
import Synchronization

/// The observers of a client, shared by all its loads.
final class ObservationHub: Sendable {
    let observers: [any HTTPObserver]
    private let messageObservers: [any MessageObserver]
    private let timeline: Timeline

    init(_ observers: [any HTTPObserver], clock: any Clock<Duration> = ContinuousClock()) {
        self.observers = observers
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

/// One observed load, which its request carries to the links. It creates the events and delivers them in order. The
/// links of the load and the reader of its response share it.
final class Observation: Sendable {
    private struct State {
        var attempt = 0
        var isInAttempt = false
        var attemptStart = Duration.zero
        var exchange = 0
        /// The number of exchanges without a response.
        var unanswered = 0
        var exchangeStart = Duration.zero
        var last = Duration.zero
        var isEnded = false
    }

    private static let lastLoad = Atomic<Int>(0)

    let hub: ObservationHub
    let load: Int
    let parent: Int?
    let kind: String?
    let template: String?
    let route: String?
    /// The trace that the load belongs to; nil if the client propagates no trace.
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

    /// Records an event, unless the load has ended. The recorded time is never before that of the previous event.
    ///
    /// - Parameter time: the time of the event, if the event happened before this call. Default: now.
    func record(
        _ name: HTTPEvent.Name, at time: Duration? = nil, message: ObservedMessage? = nil,
        _ facts: (inout HTTPEvent) -> Void = { _ in }
    ) {
        record(name, at: time, message: message, changing: { _ in }, facts)
    }

    private func record(
        _ name: HTTPEvent.Name, at time: Duration? = nil, message: ObservedMessage? = nil,
        changing change: (inout State) -> Void,
        _ facts: (inout HTTPEvent) -> Void
    ) {
        let now = hub.now
        let point = state.withLock { state -> (attempt: Int, time: Duration)? in
            guard !state.isEnded else { return nil }
            change(&state)
            state.last = max(state.last, min(time ?? now, now))
            return (state.attempt, state.last)
        }
        guard let point else { return }
        var event = HTTPEvent(
            name, load: load, parent: parent, attempt: point.attempt, time: point.time, template: template, route: route
        )
        facts(&event)
        hub.deliver(event, message)
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

    /// Ends the load with the end of its body.
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
        record(name, changing: { $0.isEnded = true }) { event in
            facts(&event)
            event[.duration] = duration
        }
    }

    /// Returns the observation of a load that is sent on behalf of this one.
    func child(_ kind: String) -> Observation {
        Observation(hub, template: template, parent: load, kind: kind, trace: trace)
    }
}

// MARK: Attempts and exchanges

extension Observation {
    /// Begins an attempt. Returns false if an attempt is already in progress, as for a retry link below another one.
    func beginAttempt(_ request: HTTPRequest) -> Bool {
        let now = hub.now
        let isNew = state.withLock { state in
            defer { state.isInAttempt = true }
            return !state.isInAttempt
        }
        guard isNew else { return false }
        record(
            .attemptStart,
            changing: { state in
                state.attempt += 1
                state.attemptStart = now
            }
        ) { $0[.timeLeft] = request.timeLeft }
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

    /// The number and the start of the last exchange.
    var exchange: (number: Int, start: Duration) { state.withLock { ($0.exchange, $0.exchangeStart) } }

    func beginExchange(_ request: HTTPRequest, _ facts: (inout HTTPEvent) -> Void) -> (number: Int, start: Duration) {
        let now = hub.now
        let (number, isHedge) = state.withLock { state in
            state.exchange += 1
            state.unanswered += 1
            state.exchangeStart = now
            return (state.exchange, state.unanswered > 1)
        }
        record(.exchangeStart, at: now, message: .request(request)) { event in
            event[.exchange] = number
            event.describe(request)
            event[.resendCount] = number - 1
            if isHedge { event[.isHedge] = true }
            facts(&event)
        }
        return (number, now)
    }

    /// Call it when the response or the error of an exchange has arrived.
    func answerExchange() { state.withLock { $0.unanswered -= 1 } }
}

extension HTTPEvent {
    mutating func describe(_ request: HTTPRequest) {
        let shown = request.inItsEnvironment
        self[.method] = shown.method.printable
        self[.url] = request.redaction.url(of: shown)
        guard let origin = shown.origin else { return }
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
    /// Records an event of a custom link: `request.record(.shardChosen) { $0[.shard] = 3 }`. The closure sets the
    /// facts, which must not be secret. If the load is not observed, nothing happens, and the closure is not called.
    @inline(__always)
    public func record(_ name: HTTPEvent.Name, _ facts: (inout HTTPEvent) -> Void = { _ in }) {
        if let observation { observation.record(name, facts) }
    }
}

/// The loads of one sequence: the first of them is the parent of the others. All of them share it.
final class LoadFamily: Sendable {
    /// What each load is, for the events.
    let kind: String
    private let first = Atomic<Int>(0)

    init(kind: String) { self.kind = kind }

    /// Adds a load.
    ///
    /// - Returns: its parent; nil for the first load.
    func join(_ load: Int) -> Int? {
        let earlier = first.compareExchange(expected: 0, desired: load, ordering: .relaxed).original
        return earlier == 0 ? nil : earlier
    }
}
