// SPDX-License-Identifier: MIT
import Letterhead

/// The order of one load's events.
struct EventOrder {
    private struct Exchange {
        var isConnected = false
        var isClosed = false
        var isEnded = false
    }

    private var violations: [LawViolation] = []
    private var first: HTTPEvent?
    private var last: HTTPEvent?
    private var isEnded = false
    private var attempt = 0
    private var isInAttempt = false
    private var exchange = 0
    private var exchanges: [Int: Exchange] = [:]
    private var open: [String] = []

    /// The violations, now that no event follows.
    var ended: [LawViolation] {
        guard !isEnded else { return violations }
        return violations + [LawViolation("start and end", nil, "a load does not end")]
    }

    mutating func add(_ event: HTTPEvent) {
        checkEnds(event)
        checkIdentity(event)
        if event.attempt < attempt { note("attempts", "\(event.name) has the number of an earlier attempt") }
        checkAttempt(event)
        checkExchange(event)
        checkPairs(event)
        last = event
    }

    private mutating func note(_ law: String, _ reason: String) {
        violations.append(LawViolation(law, nil, reason))
    }

    private mutating func checkEnds(_ event: HTTPEvent) {
        if (first == nil) != (event.name == .loadStart) { note("start and end", "\(event.name) is out of place") }
        // An exchange may outlive its load, if other loads wait for its response.
        if isEnded, event[.exchange] == nil { note("start and end", "\(event.name) follows the end of the load") }
        if [.loadEnd, .loadFailed, .loadCancelled].contains(event.name) { isEnded = true }
        if let last, event.time < last.time { note("time", "\(event.name) is earlier than \(last.name) before it") }
    }

    private mutating func checkIdentity(_ event: HTTPEvent) {
        let first = first ?? event
        self.first = first
        if first.parent != event.parent || first.template != event.template || first.route != event.route {
            note("identity", "\(event.name) has another parent, template or route than \(first.name)")
        }
    }

    private mutating func checkAttempt(_ event: HTTPEvent) {
        switch event.name {
        case .attemptStart:
            if isInAttempt { note("attempts", "an attempt starts within another attempt") }
            if event.attempt != attempt + 1 { note("attempts", "attempt \(event.attempt) follows attempt \(attempt)") }
            (attempt, isInAttempt) = (event.attempt, true)
        case .attemptEnd:
            if !isInAttempt { note("attempts", "an attempt ends that has not started") }
            isInAttempt = false
        default: break
        }
    }

    private mutating func checkExchange(_ event: HTTPEvent) {
        guard let number = event[.exchange] else { return }
        if event.name == .exchangeStart {
            if number != exchange + 1 { note("exchanges", "exchange \(number) follows exchange \(exchange)") }
            exchange = number
        } else if number > exchange || number < 1 {
            note("exchanges", "\(event.name) belongs to an exchange that has not started")
        }
        var state = exchanges[number] ?? Exchange()
        if state.isEnded { note("exchanges", "\(event.name) follows the end of its exchange") }
        switch event.name {
        case .exchangeEnd, .exchangeFailed: state.isEnded = true
        case .connectionOpened, .connectionReused: state.isConnected = true
        case .connectionClosed:
            if !state.isConnected { note("connections", "a connection closes that was not opened") }
            if state.isClosed { note("connections", "a connection closes twice") }
            state.isClosed = true
        default: break
        }
        exchanges[number] = state
    }

    private mutating func checkPairs(_ event: HTTPEvent) {
        let parts = event.name.rawValue.split(separator: ".")
        guard parts.count == 2, ["lookup", "connect", "tls", "decoding", "queue"].contains(parts[0]) else { return }
        let phase = parts[0] + (event[.queue].map { " \($0)" } ?? "")
        if ["start", "entered"].contains(parts[1]) {
            open.append(String(phase))
        } else if let place = open.lastIndex(of: String(phase)) {
            open.remove(at: place)
        } else {
            note("pairs", "\(event.name) has no start")
        }
    }
}
