// SPDX-License-Identifier: MIT
import Foundation
import LetterheadTesting
import Synchronization
import TestKit
import Testing

@testable import Letterhead
@testable import LetterheadCaching

@Suite struct SharedValidationTests {
    /// A server that waits for a gate before each validation.
    private func scene(_ control: String, gate: OneShot<Void>, failing: Bool = false) -> CacheScene {
        CacheScene { request in
            if request.headers.contains(.ifNoneMatch) {
                await gate.value
                if failing { throw HTTPError(.connectionLost, request: request) }
                if Task.isCancelled { throw CancellationError() }
                return HTTPResponse(request: request, status: .notModified)
            }
            return HTTPResponse(
                request: request, status: .ok, headers: ["Cache-Control": control, "ETag": "\"a\""],
                body: HTTPResponseBody(Data("body".utf8)))
        }
    }

    private func waiters(_ cache: ResponseCache, _ count: Int) async {
        while cache.validations.waiting < count { await Task.yield() }
    }

    @Test func `concurrent requests share one validation`() async throws {
        let gate = OneShot<Void>()
        let scene = scene("max-age=1", gate: gate)
        let (cache, client) = try await scene.stale()
        let texts = try await withThrowingTaskGroup(of: (String, ResponseCache.Outcome).self) { group in
            for _ in 0..<20 {
                group.addTask {
                    let response = try await client.get()
                    return (response.text, response.cache)
                }
            }
            await waiters(cache, 20)
            gate.set(())
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(texts.allSatisfy { $0 == ("body", .revalidated) } && texts.count == 20)
        #expect(scene.server.requests.count == 2)
    }

    @Test(
        .timeLimit(.minutes(1)),
        arguments: ["max-age=1": nil, "max-age=1, stale-if-error=60": .stale] as [String: ResponseCache.Outcome?])
    func `a waiting request keeps its own deadline`(control: String, outcome: ResponseCache.Outcome?) async throws {
        let gate = OneShot<Void>()
        let scene = scene(control, gate: gate)
        let (cache, client) = try await scene.stale()
        let first = Task { try await client.get().cache }
        await waiters(cache, 1)
        let second = Task { try await client.get { $0.deadline = .milliseconds(100) }.cache }
        switch await second.result {
        case .success(let used): #expect(used == outcome)
        case .failure(let error): #expect((error as? HTTPError)?.code == .timedOut && outcome == nil)
        }
        gate.set(())
        #expect(try await first.value == .revalidated && scene.server.requests.count == 2)
    }

    @Test func `a waiting request keeps its own limit of the response`() async throws {
        let gate = OneShot<Void>()
        let count = Counter()
        let scene = CacheScene { request in
            let number = count.next()
            if number == 2 { await gate.value }
            let body = HTTPResponseBody(Data(count: number == 1 ? 4 : 400))
            return HTTPResponse(
                request: request, status: .ok, headers: ["Cache-Control": "max-age=1", "ETag": "\"\(number)\""],
                body: body)
        }
        let (cache, client) = try await scene.stale()
        let first = Task { try await client.get().response.body.data().count }
        while scene.server.requests.count < 2 { await Task.yield() }
        let second = Task { try await client.get { $0.responseLimit = 100 }.text.utf8.count }
        await waiters(cache, 2)
        gate.set(())
        #expect(try await first.value == 400)
        let error = await #expect(throws: HTTPError.self) { try await second.value }
        #expect(error?.code == .responseTooLarge && scene.server.requests.count == 3)
    }

    @Test func `invalidations of other URLs are not kept while a request is under way`() {
        var state = CacheState()
        let (ticket, other) = (state.begin("https://a.example/"), state.begin("https://a.example/1"))
        for number in 0..<30_000 { state.invalidate("https://a.example/\(number)") }
        #expect(state.loads.count == 2 && state.isCurrent(ticket) && !state.isCurrent(other))
        let later = state.begin("https://a.example/1")
        #expect(state.isCurrent(later))
        for ticket in [other, later, ticket] { state.end(ticket) }
        #expect(state.loads.isEmpty)
    }

    @Test func `a waiting request does not receive another variant`() async throws {
        let gate = OneShot<Void>()
        let scene = CacheScene { request in
            let user = request.headers["X-User"] ?? "none"
            var headers: HTTPHeaders = ["Cache-Control": "max-age=1", "ETag": "\"a\""]
            if request.headers.contains(.ifNoneMatch) {
                await gate.value
                headers[.vary] = "X-User"
            }
            return HTTPResponse(
                request: request, status: .ok, headers: headers, body: HTTPResponseBody(Data(user.utf8)))
        }
        let (cache, client) = try await scene.stale()
        let first = Task { try await client.get { $0.headers["X-User"] = "a" }.text }
        while scene.server.requests.count < 2 { await Task.yield() }
        let second = Task { try await client.get { $0.headers["X-User"] = "b" }.text }
        await waiters(cache, 2)
        gate.set(())
        let texts = (try await first.value, try await second.value)
        #expect(texts.0 == "a" && texts.1 == "b")
    }

    @Test(arguments: ["no-store", "max-age=60"])
    func `a 304 that forbids to store, or varies by another field, removes the response`(control: String) async throws {
        let scene = CacheScene { request in
            if request.headers.contains(.ifNoneMatch) {
                var headers: HTTPHeaders = ["Cache-Control": control]
                if control == "max-age=60" { headers[.vary] = "X-User" }
                return HTTPResponse(request: request, status: .notModified, headers: headers)
            }
            return HTTPResponse(
                request: request, status: .ok, headers: ["Cache-Control": "max-age=1", "ETag": "\"a\""],
                body: HTTPResponseBody(Data("body".utf8)))
        }
        let client = try await scene.stale().client
        let confirmed = try await client.get()
        #expect(confirmed.cache == .revalidated && confirmed.text == "body")
        #expect(try await client.get().cache == .stored)
    }

    @Test func `the memory of a store is bounded when each 304 adds fields`() async throws {
        let count = Counter()
        let scene = CacheScene { request in
            let number = count.next()
            var headers: HTTPHeaders = ["Cache-Control": "max-age=1", "ETag": "\"a\""]
            headers[HTTPHeaders.Name("X-\(number)")] = String(repeating: "x", count: 1000)
            let isKnown = request.headers.contains(.ifNoneMatch)
            return HTTPResponse(request: request, status: isKnown ? .notModified : .ok, headers: headers)
        }
        let store = ResponseCache.Store.memory(bytes: 20_000, entries: 10)
        let storage = try #require(store.storage as? MemoryCacheStorage)
        let client = scene.client(scene.cache(store))
        for _ in 0..<100 {
            _ = try await client.get()
            scene.advance(2)
            #expect(storage.size.bytes <= 20_000)
        }
    }

    @Test func `a request that waits is cancelled alone, even if it began the validation`() async throws {
        let gate = OneShot<Void>()
        let scene = scene("max-age=1", gate: gate)
        let (cache, client) = try await scene.stale()
        let first = Task { try await client.get().cache }
        while scene.server.requests.count < 2 { await Task.yield() }
        let second = Task { try await client.get().cache }
        let third = Task { try await client.get().cache }
        await waiters(cache, 3)
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        first.cancel()
        await #expect(throws: CancellationError.self) { try await first.value }
        gate.set(())
        #expect(try await third.value == .revalidated)
        #expect(scene.server.requests.count == 2)
    }

    @Test func `the failure of a validation is shared, and not stored`() async throws {
        let gate = OneShot<Void>()
        let scene = scene("max-age=1", gate: gate, failing: true)
        let (cache, client) = try await scene.stale()
        let tasks = (0..<3).map { _ in Task { try await client.get().cache } }
        await waiters(cache, 3)
        gate.set(())
        for task in tasks { await #expect(throws: HTTPError.self) { try await task.value } }
        #expect(scene.server.requests.count == 2)
        #expect(try await client.get { $0.caching = .staleAllowed(.seconds(60)) }.cache == .stale)
    }

    @Test func `a stale response is validated once in the background`() async throws {
        let gate = OneShot<Void>()
        let scene = scene("max-age=1, stale-while-revalidate=60", gate: gate)
        let (cache, client) = try await scene.stale()
        for _ in 0..<3 { #expect(try await client.get().cache == .stale) }
        #expect(cache.validations.running == 1 && cache.validations.waiting == 0)
        gate.set(())
        while cache.validations.running > 0 { await Task.yield() }
        #expect(try await client.get().cache == .hit && scene.server.requests.count == 2)
    }

    @Test(arguments: [true, false])
    func `a validation in the background reports its error unless a stale response may replace it`(
        mayReplace: Bool
    ) async throws {
        let gate = OneShot<Void>()
        gate.set(())
        let scene = scene(
            "max-age=1, stale-while-revalidate=60" + (mayReplace ? ", stale-if-error=60" : ""), gate: gate,
            failing: true)
        let (cache, client) = try await scene.stale()
        #expect(try await client.get().cache == .stale)
        while cache.validations.running > 0 { await Task.yield() }
        #expect(scene.errors.withLock { $0.count } == (mayReplace ? 0 : 1))
    }

    @Test(arguments: ["max-age=1", "max-age=1, stale-if-error=60"])
    func `a validation is sent with the deadline of its request, whose error is returned unchanged`(
        control: String
    ) async throws {
        let scene = CacheScene { request in
            guard request.headers.contains(.ifNoneMatch) else {
                return HTTPResponse(
                    request: request, status: .ok, headers: ["Cache-Control": control, "ETag": "\"a\""])
            }
            try #require(request.timeLeft != nil)
            var sent = request
            sent.headers["X-Sent"] = "yes"
            throw sent.deadlinePassed(while: "receiving")
        }
        let chain = Deadline() --> scene.cache() --> scene.server
        var request = try HTTPRequest("https://a.example/")
        request.deadline = .seconds(600)
        let limited = request
        _ = try await chain.load(limited)
        scene.advance(2)
        if control.contains("stale-if-error") {
            #expect(try await chain.load(limited).cache == .stale)
        } else {
            let error = await #expect(throws: HTTPError.self) { try await chain.load(limited) }
            #expect(error?.code == .timedOut && error?.request.headers["X-Sent"] == "yes")
        }
    }

    @Test(arguments: [true, false])
    func `a request that was cancelled, or has no time left, begins no validation`(isCancelled: Bool) async throws {
        let clock = TestClock()
        let scene = CacheScene.counting("max-age=1")
        let chain =
            Deadline(clock: clock) --> ModifyRequest { _ in clock.advance(by: .seconds(1)) }
            --> scene.cache() --> scene.server
        var request = try HTTPRequest("https://a.example/")
        _ = try await chain.load(request)
        scene.advance(2)
        if !isCancelled { request.deadline = .seconds(1) }
        let task = Task { [request] in
            if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
            return try await chain.load(request)
        }
        let error = await #expect(throws: HTTPError.self) { try await task.value }
        #expect(error?.code == (isCancelled ? .cancelled : .timedOut) && error?.mayHaveBeenSent == false)
        #expect(scene.server.requests.count == 1)
    }

    @Test(.timeLimit(.minutes(1)))
    func `a reset ends the validations of its own client only`() async throws {
        let gate = OneShot<Void>()
        let scene = scene("max-age=1", gate: gate)
        let (cache, first) = try await scene.stale()
        let second = scene.client(cache)
        let (ended, kept) = (Task { try await first.get().cache }, Task { try await second.get().cache })
        await waiters(cache, 2)
        // The transport of this client ends only when the gate opens, and the reset waits for that.
        let reset = Task { await first.reset() }
        await #expect(throws: (any Error).self) { try await ended.value }
        gate.set(())
        await reset.value
        // The reset removes the response, before the other client looks it up again or afterwards.
        let outcome = try await kept.value
        #expect(outcome == .stored || outcome == .revalidated)
    }

    /// A storage that notes whether its responses are saved and removed under the lock of a cache.
    private final class LockedStorage: ResponseCache.Storage {
        let cache = Mutex<ResponseCache?>(nil)
        let calls = Mutex<[String]>([])
        let record = Mutex<ResponseCache.Record?>(nil)

        private func note(_ call: String) {
            let isLocked = cache.withLock { $0 }?.storingLock.withLockIfAvailable { _ in } == nil
            calls.withLock { $0.append(isLocked ? call : "\(call) without the lock") }
        }

        func records(for url: String) -> [ResponseCache.Record] { record.withLock { $0.map { [$0] } ?? [] } }

        func save(_ new: ResponseCache.Record) {
            note("save")
            record.withLock { $0 = new }
        }

        func remove(_ id: String?, for url: String) {
            note("remove")
            record.withLock { $0 = nil }
        }

        func urls(withPrefix prefix: String) -> [String] {
            note("urls")
            return record.withLock { $0.map { [$0.url] } ?? [] }
        }

        func removeAll() {
            note("removeAll")
            record.withLock { $0 = nil }
        }
    }

    @Test func `a response is stored under the lock with which a reset and an invalidation remove responses`()
        async throws
    {
        let storage = LockedStorage()
        let scene = CacheScene.counting("max-age=1")
        let cache = scene.cache(.custom(storage))
        storage.cache.withLock { $0 = cache }
        let client = scene.client(cache)
        _ = try await client.get()
        scene.advance(2)
        #expect(try await client.get().cache == .revalidated)
        _ = try await client.get { $0.method = .post }
        _ = try await client.get { $0.responseDelivery = .streamed }
        cache.removeAll(under: URL(filePath: "/"))
        cache.removeAll(under: try #require(URL(string: "https://a.example/")))
        await client.reset()
        #expect(storage.calls.withLock { $0 } == ["save", "save", "remove", "save", "urls", "remove", "removeAll"])
        storage.cache.withLock { $0 = nil }
    }

    @Test(.timeLimit(.minutes(1)))
    func `a reset ends a validation in the background`() async throws {
        let isCancelled = OneShot<Void>()
        let scene = CacheScene { request in
            if request.headers.contains(.ifNoneMatch) {
                await withTaskCancellationHandler {
                    await isCancelled.value
                } onCancel: {
                    isCancelled.set(())
                }
                throw CancellationError()
            }
            return HTTPResponse(
                request: request, status: .ok,
                headers: ["Cache-Control": "max-age=1, stale-while-revalidate=60", "ETag": "\"a\""])
        }
        let (cache, client) = try await scene.stale()
        #expect(try await client.get().cache == .stale)
        while scene.server.requests.count < 2 { await Task.yield() }
        await client.reset()
        #expect(cache.validations.running == 0 && isCancelled.valueNow != nil && scene.errors.withLock { $0.isEmpty })
        #expect(try await client.get().cache == .stored)
    }
}
