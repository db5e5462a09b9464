// SPDX-License-Identifier: MIT
import Letterhead

extension HTTPStatistics {
    /// Returns the numbers in OpenMetrics 1.0 text format, which Prometheus reads. Serve them with the media type
    /// `application/openmetrics-text; version=1.0.0; charset=utf-8`.
    ///
    /// ```swift
    /// let text = recorder.statistics.openMetrics()
    /// // letterhead_loads_total{route="users/{}"} 12
    /// ```
    ///
    /// Every name begins with `letterhead_`. Numbers of loads have the label `route`, and numbers of exchanges have the
    /// label `origin`. A histogram has one bucket for every fourth bound in ``Histogram/bounds``, so each bound is
    /// twice the previous one.
    public func openMetrics() -> String {
        var text = OpenMetricsText()
        text.add("loads_in_progress", .gauge, "Loads that have begun and not ended", [("", loadsInProgress)])
        text.add("connections_opened", .counter, "Connections that were opened", [("", connectionsOpened)])
        text.add(
            "connections_reused", .counter, "Exchanges that reused a connection", [("", connectionsReused)])
        text.add("cache_hits", .counter, "Responses from the cache", [("", cacheHits)])
        text.add("cache_misses", .counter, "Responses from the server and not the cache", [("", cacheMisses)])
        text.add(
            "retry_budget_tokens", .gauge, "Tokens in the retry budget", Self.samples(budgetLeft, "origin") { $0 })
        text.add(routes, "load", "Loads", label: "route")
        text.add(origins, "exchange", "Exchanges", label: "origin")
        return text.text + "# EOF\n"
    }

    /// One sample for each entry, sorted by name.
    fileprivate static func samples<Entry, Number>(
        _ entries: [String: Entry], _ label: String, _ number: (Entry) -> Number
    ) -> [(labels: String, number: Number)] {
        entries.sorted { $0.key < $1.key }.map { ("\(label)=\"\(OpenMetricsText.escaped($0.key))\"", number($0.value)) }
    }
}

/// Writes metrics in families: the type, the description and the samples.
private struct OpenMetricsText {
    enum Kind: String { case counter, gauge, histogram }

    private(set) var text = ""

    mutating func add(_ name: String, _ kind: Kind, _ help: String, _ samples: [(labels: String, number: some Any)]) {
        begin(name, kind, help)
        for sample in samples { add(kind == .counter ? name + "_total" : name, sample.labels, "\(sample.number)") }
    }

    /// Adds the numbers for routes or origins.
    mutating func add(
        _ entries: [String: HTTPStatistics.Entry], _ name: String, _ subject: String, label: String
    ) {
        let numbers: [(String, String, (HTTPStatistics.Entry) -> Int)] = [
            (name + "s", "\(subject) that have ended", { $0.count }),
            (name + "_failures", "\(subject) that failed, or received a status of 500 or more", { $0.failures }),
            (name + "_cancellations", "\(subject) that were cancelled", { $0.cancelled }),
            (name + "_retries", "Retries, by \(label)", { $0.retries }),
            (name + "_hedges", "Exchanges that began while another exchange waited, by \(label)", { $0.hedges }),
        ]
        for (name, help, number) in numbers {
            add(name, .counter, help, HTTPStatistics.samples(entries, label, number))
        }
        begin(name + "_duration_seconds", .histogram, "Duration in seconds")
        for (labels, histogram) in HTTPStatistics.samples(entries, label, { $0.latency }) {
            add(histogram, name + "_duration_seconds", labels)
        }
    }

    private mutating func add(_ histogram: HTTPStatistics.Histogram, _ name: String, _ labels: String) {
        var count = 0
        // The last bucket also contains longer durations, so its bound is infinite.
        for (index, bound) in HTTPStatistics.Histogram.bounds.enumerated().dropLast() {
            count += histogram.counts.isEmpty ? 0 : histogram.counts[index]
            if index % 4 == 0 { add(name + "_bucket", "\(labels),le=\"\(bound / .seconds(1))\"", "\(count)") }
        }
        add(name + "_bucket", labels + ",le=\"+Inf\"", "\(histogram.count)")
        add(name + "_count", labels, "\(histogram.count)")
        add(name + "_sum", labels, "\(histogram.total / .seconds(1))")
    }

    private mutating func begin(_ name: String, _ kind: Kind, _ help: String) {
        text += "# TYPE letterhead_\(name) \(kind.rawValue)\n# HELP letterhead_\(name) \(help)\n"
    }

    private mutating func add(_ name: String, _ labels: String, _ number: String) {
        text += "letterhead_\(name)" + (labels.isEmpty ? "" : "{\(labels)}") + " \(number)\n"
    }

    /// Escapes the backslashes, quotation marks and line breaks in a label.
    static func escaped(_ label: String) -> String {
        var bytes: [UInt8] = []
        for byte in label.utf8 {
            switch byte {
            case UInt8(ascii: "\\"): bytes += "\\\\".utf8
            case UInt8(ascii: "\""): bytes += "\\\"".utf8
            case UInt8(ascii: "\n"): bytes += "\\n".utf8
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
