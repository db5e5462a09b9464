// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// The loads that a flight recorder keeps, and their sizes.
struct FlightLog: Sendable {
    struct Exchange: Sendable {
        let number: Int
        let id: HTTPRequest.ID
        let date: Date
        let method: String
        /// Redacted.
        let url: String
        /// The settings that an observer sees, by name.
        let settings: [(name: String, value: (any Sendable)?)]
        let request: FlightMessage
        var response: FlightMessage?
        /// Where it begins in the order of all events that the recorder has received.
        var start = 0

        var bytes: Int { 512 + 3 * url.utf8.count + request.bytes + (response?.bytes ?? 0) }
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

    /// Adds an event. The last events of a load with very many aren't kept, except for its end.
    mutating func add(_ event: HTTPEvent) {
        events += 1
        if event.name == .loadStart {
            loads[event.load] = Load(start: events)
            order.append(event.load)
            count += 1
        }
        guard let kept = loads[event.load]?.events.count else { return }
        if event.isEndOfLoad { loads[event.load]?.end = events }
        guard kept < mostBytes / 4_096 || event.isEndOfLoad else { return }
        loads[event.load]?.events.append(event)
        bytes += 384
        trim()
    }

    mutating func add(_ exchange: Exchange, of load: Int) {
        guard loads[load] != nil else { return }
        loads[load]?.exchanges.append(exchange)
        let last = (loads[load]?.exchanges.count ?? 1) - 1
        loads[load]?.exchanges[last].start = events
        (count, bytes) = (count + min(last, 1), bytes + exchange.bytes)
        trim()
    }

    mutating func change(_ exchange: Int, of load: Int, _ change: (inout Exchange) -> Void) {
        guard let place = loads[load]?.exchanges.lastIndex(where: { $0.number == exchange }) else { return }
        func size() -> Int { loads[load]?.exchanges[place].bytes ?? 0 }
        let before = size()
        change(&loads[load, default: Load(start: 0)].exchanges[place])
        bytes += size() - before
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
