// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import Testing

@Suite struct HTTPRetryStrategyTests {
    @Test(
        arguments: [
            ("immediate", .immediate, [0, 0, 0, 0, 0]), ("delayed", .delayed(.seconds(3)), [3, 3, 3, 3, 3]),
            ("exponential", .exponential(base: .seconds(1)), [1, 2, 4, 8, 16]),
            ("factor", .exponential(base: .seconds(2), factor: 3, cap: .seconds(20)), [2, 6, 18, 20, 20]),
            ("fibonacci", .fibonacci(unit: .seconds(1)), [1, 1, 2, 3, 5]),
            ("exponential without arguments", .exponential, [1, 2, 4, 8, 16]),
            ("fibonacci without arguments", .fibonacci, [1, 1, 2, 3, 5]),
            ("capped", .fibonacci(unit: .seconds(2), cap: .seconds(5)), [2, 2, 4, 5, 5]),
            ("list", .delays([.seconds(1), .seconds(5)]), [1, 5, nil, nil, nil]),
            ("empty list", .delays([]), [nil, nil, nil, nil, nil]),
            (
                "each in a chain counts from one",
                .immediate.times(1).then(.delays([.seconds(7)])).then(.exponential(base: .seconds(1))), [0, 7, 1, 2, 4]
            ),
            ("after unlimited waits the next is never used", .immediate.then(.delayed(.seconds(9))), [0, 0, 0, 0, 0]),
            ("bounded", .immediate.times(2), [0, 0, nil, nil, nil]),
            ("a negative bound allows no retry", .immediate.times(-2), [nil, nil, nil, nil, nil]),
            ("a bound above the list", .delays([.zero]).times(5), [0, nil, nil, nil, nil]),
        ] as [(String, HTTPRetryStrategy, [Int?])])
    func `the waits are those documented`(name: String, strategy: HTTPRetryStrategy, seconds: [Int?]) {
        let waits: [Duration?] = (1...5).map { strategy.delay(before: $0) }
        #expect(waits == seconds.map { $0.map { .seconds($0) } })
    }

    @Test(arguments: [
        HTTPRetryStrategy.exponential(base: .milliseconds(3), factor: 1.7, cap: .seconds(50)),
        .exponential(base: .seconds(1), factor: .infinity, cap: .seconds(50)),
        .exponential(base: .seconds(60), cap: .seconds(50)),
        .fibonacci(unit: .milliseconds(3), cap: .seconds(50)), .fibonacci(unit: .seconds(60), cap: .seconds(50)),
        .exponential(base: .nanoseconds(1), factor: 1.000001, cap: .seconds(50)),
    ]) func `waits never shrink, never pass the cap and never overflow`(strategy: HTTPRetryStrategy) throws {
        var last = Duration.zero
        for retry in [1, 2, 3, 4, 5, 10, 50, 63, 64, 65, 100, 1_000, 1_024, 10_000, .max] {
            let wait = try #require(strategy.delay(before: retry))
            #expect(wait >= last && wait <= .seconds(50))
            last = wait
        }
    }

    @Test(arguments: [
        (HTTPRetryStrategy.exponential(base: .seconds(1), factor: 0.5), 1.0),
        (.exponential(base: .seconds(1), factor: .nan), 1), (.exponential(base: .seconds(1), factor: -.infinity), 1),
        (.exponential(base: .seconds(-1)), 0), (.exponential(base: .seconds(1), cap: .seconds(-1)), 0),
        (.fibonacci(unit: .seconds(-1)), 0), (.fibonacci(unit: .zero), 0),
        (.fibonacci(unit: .seconds(1), cap: .seconds(-1)), 0), (.delayed(.seconds(-5)), 0),
        (.delays([.seconds(-5)]), 0), (.exponential(base: .zero, factor: .infinity), 0),
        (.afterTask(delay: .seconds(-1), task: { _ in }), 0), (.delayed(.seconds(Int64.max)), 31_536_000),
        (.exponential(base: .seconds(Int64.max), cap: .seconds(Int64.max)), 31_536_000),
    ]) func `invalid numbers are clamped as documented`(strategy: HTTPRetryStrategy, seconds: Double) {
        #expect(strategy.delay(before: 1) == .seconds(seconds))
    }

    @Test(arguments: [0, -1, Int.min]) func `a retry before the first counts as the first`(retry: Int) {
        #expect(HTTPRetryStrategy.exponential(base: .seconds(1)).delay(before: retry) == .seconds(1))
    }

    @Test func `a closure receives the number and the result, and its wait is clamped`() throws {
        let request = HTTPRequest()
        let response = HTTPResponse(request: request, status: 429, headers: ["X-Reset": "12"])
        let strategy = HTTPRetryStrategy.custom { retry, result in
            guard retry < 3, let reset = (try? result.get())?.headers["X-Reset"].flatMap(Int.init) else { return nil }
            return .seconds(reset * (retry == 1 ? 1 : -1))
        }
        #expect(strategy.delay(before: 1, after: .success(response)) == .seconds(12))
        #expect(strategy.delay(before: 2, after: .success(response)) == .zero)
        #expect(strategy.delay(before: 3, after: .success(response)) == nil)
        #expect(strategy.delay(before: 1, after: .failure(HTTPError(.timedOut, request: request))) == nil)
        #expect(strategy.delay(before: 1) == nil)
    }
}
