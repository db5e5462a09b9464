// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadCaching
import LetterheadObserving
import LetterheadTesting
import TestKit
import Testing

@Suite(.timeLimit(.minutes(3))) struct CacheEventsTests {
    @Test func `a cache records whether it stored or reused a response`() async throws {
        let log = EventRecorder()
        let transport = AnyLoader {
            HTTPResponse(
                request: $0, status: .ok,
                headers: [.cacheControl: "max-age=600", .date: "Sun, 06 Nov 1994 08:49:37 GMT"])
        }
        let recorder = StatisticsRecorder()
        let client = HTTPClient(
            environment: .of("https://a.test"),
            attemptLinks: ResponseCache(
                store: .memory(bytes: 1 << 20), now: { Date(timeIntervalSince1970: 784_111_777) }),
            observers: [log, recorder], transport: transport)
        for _ in 1...2 { _ = try await client.send(TestEndpoint("a")) }
        let names = log.names.filter { $0.rawValue.hasPrefix("cache.") }
        #expect(names == ["cache.stored", "cache.hit"])
        #expect(recorder.statistics.cacheHits == 1 && recorder.statistics.cacheMisses == 1)
        #expect(ObserverLaws.violations(of: log.events) == [])
    }

    @Test func `a validation in the background is a load on behalf of the request that received the stale response`()
        async throws
    {
        let log = EventRecorder()
        let now = SharedValue(Date(timeIntervalSince1970: 784_111_777))
        let transport = AnyLoader {
            HTTPResponse(
                request: $0, status: .ok,
                headers: [
                    .cacheControl: "max-age=1, stale-while-revalidate=600", .date: "Sun, 06 Nov 1994 08:49:37 GMT",
                ])
        }
        let client = HTTPClient(
            environment: .of("https://a.test"),
            attemptLinks: ResponseCache(store: .memory(bytes: 1 << 20), now: { now.withLock { $0 } }),
            observers: [log], transport: transport)
        _ = try await client.send(TestEndpoint("a"))
        now.withLock { $0 += 60 }
        _ = try await client.send(TestEndpoint("a"))
        while log.loads.count < 3 || log.loads[2].last?.name != .loadEnd { await Task.yield() }
        let validation = log.loads[2]
        #expect(validation[0][.kind] == "validation" && validation[0].parent == log.loads[1][0].load)
        #expect(validation.map(\.name).contains(.exchangeEnd))
        #expect(ObserverLaws.violations(of: log.events) == [])
    }
}
