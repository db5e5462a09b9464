// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadObserving
import LetterheadTesting
import TestKit
import Testing

@Suite(.timeLimit(.minutes(3))) struct StatisticsTests {
    @Test func `loads are counted by route and origin`() async throws {
        let count = Counter()
        let transport = AnyLoader { request in
            HTTPResponse(request: request, status: count.next() == 1 ? .serviceUnavailable : .ok)
        }
        let recorder = StatisticsRecorder()
        let client = HTTPClient(environment: .of("https://a.test"), observers: [recorder], transport: transport)
        for number in 1...3 { _ = try await client.send(TestEndpoint("users/\(number)").retry(.immediate)) }
        let statistics = recorder.statistics
        #expect(statistics.routes.keys.sorted() == ["users/{}"] && statistics.origins["https://a.test"]?.count == 4)
        let entry = try #require(statistics.routes["users/{}"])
        #expect(entry.count == 3 && entry.failures == 0 && entry.retries == 1 && entry.latency.count == 3)
        #expect(statistics.loadsInProgress == 0 && statistics.retries == 1)
        #expect(statistics.description.contains("route users/{}: 3 (0 failed, 0 cancelled, 1 retries, 0 hedges)"))
        #expect(statistics.origins["https://a.test"]?.retries == 1 && statistics.hedges == 0)
    }

    @Test func `a hedge and a redirect are not retries, and hedges are counted`() async throws {
        let waiting = SharedValue(0)
        let transport = AnyLoader { request in
            guard request.path.string != "/first" else {
                return HTTPResponse(request: request, status: .found, headers: ["Location": "/second"])
            }
            waiting.withLock { $0 += 1 }
            while waiting.withLock({ $0 }) < 2 { await Task.yield() }
            return HTTPResponse(request: request, status: .ok)
        }
        let hedging = SendTwice().when { $0.path.string == "/second" }
        let recorder = StatisticsRecorder()
        let client = HTTPClient(
            environment: .of("https://a.test"), attemptLinks: hedging, observers: [recorder], transport: transport)
        _ = try await client.send(TestEndpoint("first"))
        let statistics = recorder.statistics
        let origin = try #require(statistics.origins["https://a.test"])
        #expect(origin.count == 3 && origin.retries == 0 && origin.hedges == 1)
        #expect(statistics.routes["first"]?.hedges == 1 && statistics.retries == 0 && statistics.hedges == 1)
    }

    @Test func `the number of routes is limited`() {
        let recorder = StatisticsRecorder(maximumNames: 2)
        for number in 1...10 {
            recorder.record(HTTPEvent("load.end", load: number, route: "route\(number)"))
        }
        #expect(recorder.statistics.routes.count == 3 && recorder.statistics.routes["(other)"]?.count == 8)
    }

    @Test func `quantiles are at most a bucket too large`() {
        var latency = HTTPStatistics.Histogram()
        for number in 1...1_000 { latency.add(.milliseconds(number)) }
        for (quantile, exact) in [(0.5, 500.0), (0.95, 950), (0.99, 990), (1, 1_000)] {
            let found = latency.duration(atQuantile: quantile) / .milliseconds(1)
            #expect(found >= exact && found <= exact * 1.2, "\(quantile)")
        }
        latency.add(.seconds(1 << 40))
        latency.add(.zero)
        #expect(latency.count == 1_002 && HTTPStatistics.Histogram().duration(atQuantile: 0.5) == .zero)
    }
}
