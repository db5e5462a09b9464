// SPDX-License-Identifier: MIT

/// The last response times, by route.
struct Latencies {
    /// A route index. It's valid until the routes are forgotten.
    struct Place {
        fileprivate let index: Int
        fileprivate let era: Int
    }

    fileprivate struct Window {
        var nanoseconds: [Int64] = []
        var place = 0
        /// How many response times were added since ``quantile`` was computed.
        var added = 0
        var quantile: Duration?
    }

    /// `kept` is the number of response times for each route. The quantile is computed after each `step` response
    /// times, so the first hedge is possible once `step` are known.
    fileprivate static let (kept, step) = (128, 32)
    /// The maximum number of routes. If there is one more, all measured times are forgotten.
    private static let mostRoutes = 500

    private let quantile: Double
    private var places: [RouteKey: Int] = [:]
    private var windows: [Window] = []
    private var era = 0

    init(quantile: Double) { self.quantile = quantile }

    var count: Int { windows.count }

    /// Finds a route, or adds it.
    mutating func place(of key: RouteKey) -> Place {
        if let index = places[key] { return Place(index: index, era: era) }
        if windows.count >= Self.mostRoutes { reset() }
        places[key] = windows.count
        windows.append(Window())
        return Place(index: windows.count - 1, era: era)
    }

    /// Returns the quantile for a route, or nil if too few response times are known.
    func delay(at place: Place) -> Duration? { place.era == era ? windows[place.index].quantile : nil }

    mutating func add(_ time: Duration, at place: Place) {
        if place.era == era { windows[place.index].add(time, quantile) }
    }

    mutating func reset() {
        era += 1
        (places, windows) = ([:], [])
    }
}

extension Latencies.Window {
    fileprivate mutating func add(_ time: Duration, _ share: Double) {
        let (seconds, attoseconds) = min(time, .seconds(1 << 32)).components
        let time = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        if nanoseconds.count < Latencies.kept {
            nanoseconds.append(time)
        } else {
            nanoseconds[place] = time
            place = (place + 1) % Latencies.kept
        }
        added += 1
        guard added >= Latencies.step else { return }
        added = 0
        let rank = Int((Double(nanoseconds.count) * share).rounded(.up))
        quantile = .nanoseconds(nanoseconds.sorted()[min(max(rank - 1, 0), nanoseconds.count - 1)])
    }
}
