// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// The loads that a flight recorder keeps, and their sizes.
struct FlightLog: Sendable {
    struct Exchange: Sendable {
        let number: Int
        /// The event of its start.
        let begin: HTTPEvent
        let id: HTTPRequest.ID
        let date: Date
        let settings: [(name: String, value: (any Sendable)?)]
        let request: FlightMessage
        var response: FlightMessage?
        /// Where it begins in the order of all events that the recorder has received.
        var start = 0

        var bytes: Int { 1_024 + request.bytes + (response?.bytes ?? 0) }
    }

    struct Load: Sendable {
        /// Where the load begins and ends in the order of all events.
        let start: Int
        var end: Int?
        var events: [HTTPEvent] = []
        var eventBytes = 0
        var exchanges: [Exchange] = []
        /// How many of its exchanges are no longer kept.
        var removed = 0

        /// What it counts for, as a load without exchanges is kept, too.
        var count: Int { max(1, exchanges.count) }
        var bytes: Int { exchanges.reduce(eventBytes) { $0 + $1.bytes } }
    }

    let mostExchanges: Int
    let mostBytes: Int
    private(set) var loads: [Int: Load] = [:]
    /// How many exchanges are no longer kept.
    private(set) var removed = 0
    private var order: [Int] = []
    private var (count, bytes, events) = (0, 0, 0)

    init(mostExchanges: Int, mostBytes: Int) { (self.mostExchanges, self.mostBytes) = (mostExchanges, mostBytes) }

    mutating func add(_ event: HTTPEvent) {
        events += 1
        if event.name == .loadStart {
            var load = Load(start: events)
            load.events.reserveCapacity(16)
            loads[event.load] = load
            order.append(event.load)
            count += 1
        }
        guard let index = loads.index(forKey: event.load) else { return }
        let most = max(mostBytes / 4_096, 64)
        if loads.values[index].events.count >= most { removeFirst(at: index) }
        bytes += loads.values[index].add(event, at: events, most)
        trim()
    }

    mutating func add(_ exchange: Exchange, of load: Int) {
        guard let added = loads[load]?.add(exchange, at: events) else { return }
        (count, bytes) = (count + added, bytes + exchange.bytes)
        trim()
    }

    mutating func change(_ exchange: Int, of load: Int, _ change: (inout Exchange) -> Void) {
        bytes += loads[load]?.change(exchange, change) ?? 0
        trim()
    }

    /// Removes the oldest loads, and of the last one the oldest exchanges.
    private mutating func trim() {
        while count > mostExchanges || bytes > mostBytes, let oldest = order.first {
            if order.count == 1, let index = loads.index(forKey: oldest), removeFirst(at: index) {
                continue
            } else if let load = loads.removeValue(forKey: order.removeFirst()) {
                (count, bytes, removed) = (count - load.count, bytes - load.bytes, removed + load.exchanges.count)
            }
        }
    }

    /// Removes a load's oldest exchange, unless it's the only one.
    @discardableResult private mutating func removeFirst(at index: Dictionary<Int, Load>.Index) -> Bool {
        guard let freed = loads.values[index].removeFirst() else { return false }
        (count, bytes, removed) = (count - 1, bytes - freed, removed + 1)
        return true
    }
}

extension HTTPEvent {
    /// About its memory. To search an event for its longest strings takes time, so only those events are searched that
    /// each request has, and failures.
    fileprivate var bytes: Int {
        switch name {
        case .loadStart, .exchangeStart, .exchangeFailed, .decodingFailed, .loadFailed:
            384 + (self[.url]?.utf8.count ?? 0) + (self[.error]?.utf8.count ?? 0)
        default: 384
        }
    }
}

extension FlightLog.Load {
    /// The results of an exchange, which are kept even if it has very many events.
    private static let results: Set<HTTPEvent.Name> = [.responseHead, .exchangeEnd, .exchangeFailed]

    /// Returns by how many bytes the load has grown.
    fileprivate mutating func add(_ event: HTTPEvent, at place: Int, _ most: Int) -> Int {
        if event.isEndOfLoad { end = place }
        guard events.count < most || event.isEndOfLoad || Self.results.contains(event.name) else { return 0 }
        events.append(event)
        let bytes = event.bytes
        eventBytes += bytes
        return bytes
    }

    /// Removes the oldest exchange, with the events between the load's start and the next exchange. Returns the bytes
    /// that are free now, or nil for the only exchange.
    fileprivate mutating func removeFirst() -> Int? {
        guard exchanges.count > 1 else { return nil }
        let first = exchanges.removeFirst()
        removed += 1
        let next = exchanges[0].number
        let end = events.firstIndex { $0[.exchange] == next } ?? events.endIndex
        let old = 1..<max(1, end)
        let freed = events[old].reduce(0) { $0 + $1.bytes }
        events.removeSubrange(old)
        eventBytes -= freed
        return first.bytes + freed
    }

    /// Returns by how much the load counts for more.
    fileprivate mutating func add(_ exchange: FlightLog.Exchange, at place: Int) -> Int {
        exchanges.append(exchange)
        exchanges[exchanges.count - 1].start = place
        return exchanges.count == 1 ? 0 : 1
    }

    /// Returns by how many bytes the exchange has grown.
    fileprivate mutating func change(_ number: Int, _ change: (inout FlightLog.Exchange) -> Void) -> Int {
        guard let place = exchanges.lastIndex(where: { $0.number == number }) else { return 0 }
        let before = exchanges[place].bytes
        change(&exchanges[place])
        return exchanges[place].bytes - before
    }
}
