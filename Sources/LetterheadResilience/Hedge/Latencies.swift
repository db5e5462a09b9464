// SPDX-License-Identifier: MIT

/// The last response times of each route.
struct Latencies {
    /// The response times of one route.
    fileprivate struct Window {
        var seconds: [Double] = []
        var place = 0
        /// The number of response times since ``quantile`` was computed.
        var added = 0
        var quantile: Double?
    }

    /// The number of response times that are kept for each route, that must be known before the first hedge, and after
    /// which the quantile is computed again.
    fileprivate static let (kept, needed, step) = (128, 32, 16)
    /// The maximum number of routes. If it is reached, all are measured again.
    private static let mostRoutes = 500

    private let quantile: Double
    private var windows: [RouteKey: Window] = [:]

    init(quantile: Double) { self.quantile = quantile }

    var count: Int { windows.count }

    /// The quantile of a route; nil if too little is known.
    func delay(for key: RouteKey) -> Duration? {
        windows[key]?.quantile.map { .seconds($0) }
    }

    mutating func add(_ time: Duration, for key: RouteKey) {
        if windows.count >= Self.mostRoutes, windows[key] == nil { windows = [:] }
        windows[key, default: Window()].add(time / .seconds(1), quantile)
    }

    mutating func reset() { windows = [:] }
}

extension Latencies.Window {
    fileprivate mutating func add(_ time: Double, _ share: Double) {
        if seconds.count < Latencies.kept {
            seconds.append(time)
        } else {
            seconds[place] = time
            place = (place + 1) % Latencies.kept
        }
        added += 1
        guard seconds.count >= Latencies.needed, added >= Latencies.step else { return }
        added = 0
        let rank = Int((Double(seconds.count) * share).rounded(.up))
        quantile = seconds.sorted()[min(max(rank - 1, 0), seconds.count - 1)]
    }
}
