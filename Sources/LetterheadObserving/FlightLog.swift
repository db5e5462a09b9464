// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// The loads that a flight recorder keeps, and their sizes.
struct FlightLog: Sendable {
    /// The settings that an observer sees.
    typealias Settings = (
        timeout: Duration?, idleTimeout: Duration?, connectTimeout: Duration?, deadline: Duration?,
        maximumRetries: Int?, acceptedStatuses: HTTPStatusSet?
    )

    struct Exchange: Sendable {
        let number: Int
        let id: HTTPRequest.ID
        let date: Date
        let settings: Settings
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
        var exchanges: [Exchange] = []
        /// How many of its exchanges are no longer kept.
        var removed = 0

        /// What it counts for, as a load without exchanges is kept, too.
        var count: Int { max(1, exchanges.count) }
        /// An event takes about 384 bytes.
        var bytes: Int { exchanges.reduce(384 * events.count) { $0 + $1.bytes } }
    }

    let mostExchanges: Int
    let mostBytes: Int
    private(set) var loads: [Int: Load] = [:]
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
        guard loads[event.load]?.add(event, at: events, mostBytes / 4_096) == true else { return }
        bytes += 384
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
            if order.count == 1, let load = loads[oldest], load.exchanges.count > 1 {
                (count, bytes) = (count - 1, bytes - load.exchanges[0].bytes)
                loads[oldest]?.exchanges.removeFirst()
                loads[oldest]?.removed += 1
            } else if let load = loads.removeValue(forKey: order.removeFirst()) {
                (count, bytes) = (count - load.count, bytes - load.bytes)
            }
        }
    }
}

extension FlightLog.Load {
    /// Returns whether the event is kept. Of a load with very many events, the last ones aren't, except for its end.
    fileprivate mutating func add(_ event: HTTPEvent, at place: Int, _ most: Int) -> Bool {
        let isEnd = event.isEndOfLoad
        if isEnd { end = place }
        guard events.count < most || isEnd else { return false }
        events.append(event)
        return true
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
