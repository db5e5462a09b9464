// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadObserving
import LetterheadTesting
import Testing

@Suite struct OpenMetricsTests {
    private func event(_ name: HTTPEvent.Name, route: String? = nil, _ duration: Duration? = nil) -> HTTPEvent {
        var event = HTTPEvent(name, route: route)
        event[.duration] = duration
        return event
    }

    private func lines(of recorder: StatisticsRecorder) -> [String] {
        recorder.statistics.openMetrics().split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    @Test func `loads are counters and a histogram with the label of the route`() {
        let recorder = StatisticsRecorder()
        for milliseconds in [0, 1, 3, 1_000] {
            recorder.record(event(.loadStart))
            recorder.record(event(.loadEnd, route: "users/{}", .milliseconds(milliseconds)))
        }
        recorder.record(event(.loadStart))
        let lines = lines(of: recorder)
        for line in [
            "letterhead_loads_in_progress 1", "letterhead_loads_total{route=\"users/{}\"} 4",
            "letterhead_load_failures_total{route=\"users/{}\"} 0",
            "letterhead_load_duration_seconds_bucket{route=\"users/{}\",le=\"0.0001\"} 1",
            "letterhead_load_duration_seconds_bucket{route=\"users/{}\",le=\"0.0016\"} 2",
            "letterhead_load_duration_seconds_bucket{route=\"users/{}\",le=\"0.0032\"} 3",
            "letterhead_load_duration_seconds_bucket{route=\"users/{}\",le=\"+Inf\"} 4",
            "letterhead_load_duration_seconds_count{route=\"users/{}\"} 4",
            "letterhead_load_duration_seconds_sum{route=\"users/{}\"} 1.004",
        ] { #expect(lines.contains(line), "\(line)") }
    }

    @Test func `a label is escaped`() {
        let recorder = StatisticsRecorder()
        recorder.record(event(.loadEnd, route: "a\"b\\c\nd"))
        #expect(lines(of: recorder).contains(#"letterhead_loads_total{route="a\"b\\c\nd"} 1"#))
    }

    @Test func `each sample follows the type and the description of its family, and the text has an end`() throws {
        let recorder = StatisticsRecorder()
        var exchange = event(.exchangeEnd, .milliseconds(5))
        exchange[.origin] = "https://h.test"
        recorder.record(exchange)
        recorder.record(event(.loadEnd, route: "a", .milliseconds(5)))
        let lines = lines(of: recorder)
        #expect(lines.suffix(2) == ["# EOF", ""])
        var (family, kind, families) = ("", "", Set<String>())
        for line in lines.dropLast(2) {
            let words = line.split(separator: " ").map(String.init)
            if line.hasPrefix("# TYPE ") {
                (family, kind) = (words[2], words[3])
                #expect(families.insert(family).inserted, "\(family)")
            } else if line.hasPrefix("# HELP ") {
                #expect(words[2] == family)
            } else {
                let name = String(line.prefix { $0 != "{" && $0 != " " }.dropFirst(family.count))
                let suffixes = ["counter": ["_total"], "gauge": [""], "histogram": ["_bucket", "_count", "_sum"]]
                #expect(line.hasPrefix(family) && suffixes[kind]?.contains(name) == true, "\(line)")
                #expect(Double(words.last ?? "") != nil)
            }
        }
        #expect(families.contains("letterhead_exchanges") && families.count == 18)
    }
}
