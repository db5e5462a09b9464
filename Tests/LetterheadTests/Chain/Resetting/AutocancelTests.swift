// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadCaching
import LetterheadTesting
import Synchronization
import TestKit
import Testing

@Suite(.timeLimit(.minutes(3))) struct AutocancelTests {
    private let link = Autocancel()
    private let request: HTTPRequest

    init() throws { request = try .to("https://a.test") }

    @Test func `a reset cancels the running loads, and returns when all have ended`() async throws {
        let held = HeldLoader()
        let chain = link --> held
        let tasks = (0..<5).map { _ in Task { try await chain.load(request) } }
        await held.waitForRunning(5)
        await chain.reset()
        #expect(link.running == 0 && held.running == 0)
        for task in tasks {
            let error = await #expect(throws: HTTPError.self) { try await task.value }
            #expect(error?.code == .cancelled && error?.message == "the chain was reset" && !task.isCancelled)
        }
    }

    @Test func `any error of a cancelled load is reported as cancelled`() async throws {
        struct Odd: Error {}
        let chain =
            Autocancel()
            --> AnyLoader { _ in
                withUnsafeCurrentTask { $0?.cancel() }
                throw Odd()
            }
        let error = await #expect(throws: HTTPError.self) { try await chain.load(request) }
        #expect(error?.code == .cancelled && (error?.underlying as? HTTPError)?.underlying is Odd)
    }

    #if os(Linux)
        /// Records the task that an exchange begins in.
        private final class Watch: HTTPObserver {
            let task = Mutex<Int?>(nil)

            func record(_ event: HTTPEvent) {
                guard event.name == "exchange.start" else { return }
                task.withLock { $0 = withUnsafeCurrentTask { $0?.hashValue } }
            }
        }

        @Test(arguments: [false, true])
        func `a client with a jar, observers and a trace sends in the task of its caller, also until a reset`(
            isReset: Bool
        ) async throws {
            let server = try await MockServer.start { _ in .text("a") }
            if isReset { server.enqueue(.response(.text("a")).fault(.stall, at: .responseStart)) }
            let watch = Watch()
            let client = HTTPClient(
                environment: ServerEnvironment(baseURL: server.url), cookies: CookieJar(),
                cache: isReset ? nil : ResponseCache(store: .memory(bytes: 1 << 20)), observers: [watch],
                tracing: TraceContextPropagation())
            let expected: HTTPError.Code? = isReset ? .cancelled : nil
            let task = Task {
                let own = withUnsafeCurrentTask { $0?.hashValue }
                #expect(await failure { try await client.send(Get<String>("a")) }?.code == expected)
                #expect(!Task.isCancelled && watch.task.withLock { $0 } == own)
            }
            if isReset {
                while server.requests.isEmpty { await Task.yield() }
                await client.reset()
            }
            await task.value
            await server.stop()
        }
    #endif

    @Test(arguments: [Autocancel(), Deduplicate()] as [any LoaderLink])
    func `a load that was cancelled before it began reaches no loader`(link: any LoaderLink) async throws {
        let mock = MockLoader { .ok($0) }
        let chain = link --> mock
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            _ = try await chain.load(request)
        }
        let error = await #expect(throws: HTTPError.self) { try await task.value }
        #expect(error?.code == .cancelled && error?.mayHaveBeenSent == false && mock.requests.isEmpty)
    }

    @Test(arguments: [Autocancel(), Deduplicate()] as [any LoaderLink])
    func `a reset from within a load that is just beginning ends that load`(link: any LoaderLink) async throws {
        let chain =
            link
            --> AnyLoader { request in
                Task { await link.reset(next: MockLoader()) }
                try await Task.sleep(for: .seconds(3_600))
                return .ok(request)
            }
        #expect(await failure { try await chain.load(request) }?.code == .cancelled)
    }

    /// Who, within a load, awaits the reset of the chain.
    enum Inside: CaseIterable {
        case theLoad, aChild, aReader
    }

    @Test(arguments: Inside.allCases) func `a load may await the reset that ends it`(inside: Inside) async throws {
        let whole = Observed<(any HTTPLoader)?>(nil)
        let (autocancel, deduplicate) = (Autocancel(), Deduplicate())
        let end = AnyLoader { request in
            switch inside {
            case .theLoad: await whole.value?.reset()
            case .aChild: async let reset: Void? = whole.value?.reset(); _ = await reset
            case .aReader:
                return HTTPResponse(
                    request: request, status: .ok,
                    body: HTTPResponseBody(length: nil) {
                        await whole.value?.reset()
                        return nil
                    })
            }
            if Task.isCancelled { throw HTTPError(.cancelled, request: request) }
            return .ok(request)
        }
        let shared: any LoaderLink = inside == .theLoad ? autocancel --> deduplicate : autocancel
        let chain: any HTTPLoader = ResetGuard() --> shared --> end
        whole.change { $0 = chain }
        #expect(await failure { try await chain.load(request).body.data() }?.code == .cancelled)
        await until { deduplicate.running == 0 && autocancel.running == 0 }
        whole.change { $0 = nil }
    }

    @Test func `a response that arrives after a reset has begun is not returned`() async throws {
        let chain =
            link
            --> AnyLoader { request in
                try? await Task.sleep(for: .seconds(3_600))
                return .ok(request)
            }
        let load = Task { try await chain.load(request) }
        await until { link.running == 1 }
        await chain.reset()
        #expect(await failure { try await load.value }?.code == .cancelled && !load.isCancelled)
    }

    @Test func `a load may await a reset that another task began`() async throws {
        let whole = Observed<(any HTTPLoader)?>(nil)
        let held = HeldLoader()
        let chain =
            ResetGuard() --> Autocancel()
            --> AnyLoader { request in
                do { return try await held.load(request) } catch {
                    await whole.value?.reset()
                    throw error
                }
            }
        whole.change { $0 = chain }
        let load = Task { try await chain.load(request) }
        await held.waitForRunning(1)
        await chain.reset()
        #expect(await failure { try await load.value }?.code == .cancelled)
        whole.change { $0 = nil }
    }

    // MARK: Bodies that are still being read

    /// A body that has one piece, and then nothing until its reader's pull is cancelled.
    ///
    /// A class, because the chain and the test share what they see of it.
    private final class Stalling: HTTPLoader {
        let pulls = AsyncStream<Int>.makeStream()
        let ends = Counter()
        private let count = Counter()

        func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
            HTTPResponse(
                request: request, status: .ok,
                body: HTTPResponseBody(length: nil) { [self] in
                    let number = count.next()
                    pulls.continuation.yield(number)
                    if number > 1 { try await Task.sleep(for: .seconds(3_600)) }
                    return Data("x".utf8)
                } cancel: { [self] in
                    ends.next()
                })
        }
    }

    private let stalling = Stalling()

    private func load() async throws -> HTTPResponse { try await (link --> stalling).load(request) }

    @Test func `a reset ends a body whose next piece is awaited, with .cancelled`() async throws {
        let response = try await load()
        let reader = Task { try await response.body.data() }
        for await pull in stalling.pulls.stream where pull == 2 { break }
        #expect(link.running == 1)
        await (link --> stalling).reset()
        #expect(link.running == 0 && stalling.ends.value == 1)
        let error = await #expect(throws: HTTPError.self) { try await reader.value }
        #expect(error?.code == .cancelled && !reader.isCancelled && error?.request.id == response.request.id)
    }

    @Test(arguments: [0, 1])
    func `a reset ends a body that is not being read, and the next read reports it`(pieces: Int) async throws {
        let response = try await load()
        var chunks = response.body.makeAsyncIterator()
        for _ in 0..<pieces { _ = try await chunks.next() }
        await (link --> stalling).reset()
        #expect(link.running == 0 && stalling.ends.value == 1)
        let error = await #expect(throws: HTTPError.self) { try await chunks.next() }
        #expect(error?.code == .cancelled)
        #expect(try await chunks.next() == nil)
    }
}
