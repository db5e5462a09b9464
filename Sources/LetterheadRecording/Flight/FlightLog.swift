// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// The loads that a flight recorder keeps. It counts their exchanges and bytes.
struct FlightLog: Sendable {
    struct Exchange: Sendable {
        let number: Int
        let begin: HTTPEvent
        let id: HTTPRequest.ID
        let date: Date
        let settings: [(name: String, value: (any Sendable)?)]
        let request: FlightMessage
        var response: FlightMessage?
        /// The index of this exchange among all events that the recorder has received.
        var start = 0

        var bytes: Int { 1_024 + request.bytes + (response?.bytes ?? 0) }
    }

    struct Load: Sendable {
        /// The indices of the first and the last event of the load, among all events that the recorder has received.
        let start: Int
        fileprivate(set) var end: Int?
        fileprivate(set) var events: [HTTPEvent] = []
        fileprivate(set) var exchanges: [Exchange] = []
        /// How many exchanges of this load were removed.
        fileprivate(set) var removed = 0
        fileprivate(set) var bytes = 0

        /// The number that counts for the limit. A load without exchanges counts as one, because it is kept, too.
        var count: Int { max(1, exchanges.count) }
    }

    let mostExchanges: Int
    let mostBytes: Int
    private(set) var loads: [Int: Load] = [:]
    /// The number of exchanges that the recorder has removed so far.
    private(set) var removed = 0
    private var order: [Int] = []
    private var (count, bytes, events) = (0, 0, 0)

    init(mostExchanges: Int, mostBytes: Int) { (self.mostExchanges, self.mostBytes) = (mostExchanges, mostBytes) }

    /// Returns a redaction with the secret names and values that the kept requests declare.
    func redaction(_ names: Redaction) -> ArchiveRedaction {
        Set(loads.values.flatMap { $0.exchanges.map(\.request.redaction) })
            .reduce(ArchiveRedaction(names: names)) { $0.adding($1) }
    }

    mutating func add(_ event: HTTPEvent) {
        events += 1
        if event.name == .loadStart {
            loads[event.load] = Load(start: events)
            order.append(event.load)
            count += 1
        }
        update(event.load) { [events, mostBytes] in $0.add(event, at: events, max(mostBytes / 4_096, 64)) }
        trim()
    }

    mutating func add(_ exchange: Exchange, of load: Int) {
        update(load) { [events] in $0.add(exchange, at: events) }
        trim()
    }

    mutating func change(_ exchange: Int, of load: Int, _ change: (inout Exchange) -> Void) {
        update(load) { $0.change(exchange, change) }
        trim()
    }

    private mutating func update(_ load: Int, _ change: (inout Load) -> Void) {
        guard let index = loads.index(forKey: load) else { return }
        func add(_ load: Load, _ sign: Int) {
            count += sign * load.count
            bytes += sign * load.bytes
            removed += sign * load.removed
        }
        add(loads.values[index], -1)
        change(&loads.values[index])
        add(loads.values[index], 1)
    }

    /// Removes the oldest loads until the limits are met. If only one load is left, its oldest exchanges are removed.
    private mutating func trim() {
        while count > mostExchanges || bytes > mostBytes, let oldest = order.first {
            if order.count == 1, loads[oldest]?.count ?? 1 > 1 {
                update(oldest) { $0.removeFirst() }
            } else if let load = loads.removeValue(forKey: order.removeFirst()) {
                (count, bytes, removed) = (count - load.count, bytes - load.bytes, removed + load.exchanges.count)
            }
        }
    }
}

extension HTTPEvent {
    /// About how much memory the event uses, in bytes.
    fileprivate var bytes: Int { 384 + (self[.url]?.utf8.count ?? 0) + (self[.error]?.utf8.count ?? 0) }
}

extension FlightLog.Load {
    /// The events with the results of an exchange. They are kept even if an exchange has very many events.
    private static let results: Set<HTTPEvent.Name> = [.responseHead, .exchangeEnd, .exchangeFailed]

    fileprivate mutating func add(_ event: HTTPEvent, at place: Int, _ most: Int) {
        if events.count >= most { removeFirst() }
        if event.isEndOfLoad { end = place }
        guard events.count < most || event.isEndOfLoad || Self.results.contains(event.name) else { return }
        events.append(event)
        bytes += event.bytes
    }

    /// Removes the oldest exchange, and the events between the start of the load and the next exchange. If the load has
    /// only one exchange, nothing is removed.
    fileprivate mutating func removeFirst() {
        guard exchanges.count > 1 else { return }
        bytes -= exchanges.removeFirst().bytes
        removed += 1
        let next = exchanges[0].number
        let old = 1..<max(1, events.firstIndex { $0[.exchange] == next } ?? events.endIndex)
        bytes -= events[old].reduce(0) { $0 + $1.bytes }
        events.removeSubrange(old)
    }

    fileprivate mutating func add(_ exchange: FlightLog.Exchange, at place: Int) {
        exchanges.append(exchange)
        exchanges[exchanges.count - 1].start = place
        bytes += exchange.bytes
    }

    fileprivate mutating func change(_ number: Int, _ change: (inout FlightLog.Exchange) -> Void) {
        guard let place = exchanges.lastIndex(where: { $0.number == number }) else { return }
        bytes -= exchanges[place].bytes
        change(&exchanges[place])
        bytes += exchanges[place].bytes
    }
}
