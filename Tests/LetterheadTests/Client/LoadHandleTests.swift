// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadTesting
import TestKit
import Testing

@Suite(.timeLimit(.minutes(3))) struct LoadHandleTests {
    /// What happened, in order.
    private struct Log: Sendable {
        private let entries = Observed<[String]>([])
        var all: [String] { entries.value }
        func add(_ entry: String) { entries.change { $0.append(entry) } }
        func wait(until fits: @escaping @Sendable ([String]) -> Bool) async { await entries.wait(until: fits) }
    }

    private let log = Log()
    private let held = HeldLoader()

    private func start() throws -> LoadHandle {
        held.start(try .to("https://a.test")) { [log] result in
            switch result {
            case .success(let response): log.add("\(response.status.code)")
            case .failure(let error): log.add("\(error.code)")
            }
        }
    }

    @Test func `a load that is started ends with its result, once`() async throws {
        let handle = try start()
        await held.waitForRunning(1)
        held.open()
        await log.wait { !$0.isEmpty }
        handle.cancel()
        #expect(log.all == ["200"] && !handle.isCancelled)
    }

    @Test func `a load continues without its handle`() async throws {
        _ = try start()
        await held.waitForRunning(1)
        held.open()
        await log.wait { $0 == ["200"] }
    }

    @Test func `handlers are called once, the last added first`() async throws {
        let handle = try start()
        for name in ["1", "2", "3"] { handle.onCancel { [log] in log.add(name) } }
        handle.cancel()
        handle.cancel()
        await log.wait { $0.count == 4 }
        #expect(log.all.filter { $0 != "cancelled" } == ["3", "2", "1"] && log.all.contains("cancelled"))
        #expect(handle.isCancelled)
    }

    @Test func `a handler that is added after the cancellation runs at once`() async throws {
        let handle = try start()
        handle.cancel()
        handle.onCancel { [log] in log.add("late") }
        #expect(log.all.contains("late"))
        await log.wait { $0.count == 2 }
    }

    @Test func `a handler that is added after the end never runs`() async throws {
        let handle = try start()
        await held.waitForRunning(1)
        held.open()
        await log.wait { !$0.isEmpty }
        handle.onCancel { [log] in log.add("never") }
        handle.cancel()
        #expect(log.all == ["200"])
    }

    @Test func `another load may be started from a completion and from a handler`() async throws {
        let chain = MockLoader { .ok($0) }
        let request = try HTTPRequest.to("https://a.test")
        chain.start(request) { [log] _ in chain.start(request) { _ in log.add("second") } }
        await log.wait { $0 == ["second"] }
        let handle = try start()
        handle.onCancel { [log] in chain.start(request) { _ in log.add("third") } }
        handle.cancel()
        await log.wait { $0.contains("third") && $0.contains("cancelled") }
    }

    @Test(arguments: 0..<200) func `cancelling a load that ends at the same time calls exactly one completion`(_: Int)
        async throws
    {
        let count = Observed(0)
        let mock = MockLoader { .ok($0) }
        let handle = mock.start(try .to("https://a.test")) { _ in count.change { $0 += 1 } }
        handle.cancel()
        await count.wait { $0 > 0 }
        #expect(count.value == 1)
    }
}
