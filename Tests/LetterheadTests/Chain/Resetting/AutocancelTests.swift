// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadCaching
import LetterheadTesting
import Synchronization
import TestKit
import Testing

@Suite(.timeLimit(.minutes(3))) struct AutocancelTests {
    private let request: HTTPRequest

    init() throws { request = try .to("https://a.test") }

    @Test func `a reset cancels the running loads, and returns when all have ended`() async throws {
        let held = HeldLoader()
        let link = Autocancel()
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

    @Test func `loads are removed when they end, in any order`() async throws {
        let held = HeldLoader()
        let link = Autocancel()
        let chain = link --> held
        let start = { (path: String) async throws -> Task<HTTPResponse, any Error> in
            let (request, count) = (try HTTPRequest.to("https://a.test" + path), held.running)
            let task = Task { try await chain.load(request) }
            await held.waitForRunning(count + 1)
            return task
        }
        var tasks = [try await start("/0"), try await start("/1"), try await start("/2")]
        for (index, left) in [(0, 2), (2, 1)] {
            held.open("/\(index)")
            _ = try await tasks[index].value
            #expect(link.running == left)
        }
        tasks.append(try await start("/3"))
        #expect(link.running == 2)
        await chain.reset()
        #expect(link.running == 0 && held.running == 0)
        for task in [tasks[1], tasks[3]] { await #expect(throws: HTTPError.self) { try await task.value } }
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
        func `a client with a jar, observers and a trace sends in the task of its caller`(hasCache: Bool) async throws {
            let server = try await MockServer.start { _ in .text("a") }
            let watch = Watch()
            let client = HTTPClient(
                environment: ServerEnvironment(baseURL: server.url), cookies: CookieJar(),
                cache: hasCache ? ResponseCache(store: .memory(bytes: 1 << 20)) : nil, observers: [watch],
                tracing: TraceContextPropagation())
            _ = try await client.send(Get<String>("a"))
            let own = withUnsafeCurrentTask { $0?.hashValue }
            #expect(watch.task.withLock { $0 } == own)
            await server.stop()
        }

        @Test func `a reset cancels a request of a client with a jar and observers, in the task of its caller`()
            async throws
        {
            let server = try await MockServer.start()
            server.enqueue(.response(.text("a")).fault(.stall, at: .responseStart))
            let watch = Watch()
            let client = HTTPClient(
                environment: ServerEnvironment(baseURL: server.url), cookies: CookieJar(), observers: [watch])
            let task = Task {
                let own = withUnsafeCurrentTask { $0?.hashValue }
                let error = await #expect(throws: HTTPError.self) { try await client.send(Get<String>("a")) }
                #expect(error?.code == .cancelled && !Task.isCancelled)
                #expect(watch.task.withLock { $0 } == own)
            }
            while server.requests.isEmpty { await Task.yield() }
            await client.reset()
            await task.value
            await server.stop()
        }
    #endif

    @Test func `a load that begins during a reset is refused, and a later one is not`() async throws {
        let (slow, held) = (HeldReset(), HeldLoader())
        let chain = Autocancel() --> slow --> held
        async let reset: Void = chain.reset()
        await slow.waitForResets(1)
        let error = await #expect(throws: HTTPError.self) { try await chain.load(request) }
        #expect(error?.code == .resetInProgress && error?.mayHaveBeenSent == false && held.started.isEmpty)
        slow.open()
        await reset
        async let response = chain.load(request)
        await held.waitForRunning(1)
        held.open()
        #expect(try await response.status == .ok)
    }

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
        let error = await #expect(throws: HTTPError.self) { try await chain.load(request) }
        #expect(error?.code == .cancelled)
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
        let error = await #expect(throws: HTTPError.self) { try await chain.load(request).body.data() }
        #expect(error?.code == .cancelled)
        await until { deduplicate.running == 0 && autocancel.running == 0 }
        whole.change { $0 = nil }
    }

    @Test func `a response that arrives after a reset has begun is not returned`() async throws {
        let link = Autocancel()
        let chain =
            link
            --> AnyLoader { request in
                try? await Task.sleep(for: .seconds(3_600))
                return .ok(request)
            }
        let load = Task { try await chain.load(request) }
        await until { link.running == 1 }
        await chain.reset()
        let error = await #expect(throws: HTTPError.self) { try await load.value }
        #expect(error?.code == .cancelled && !load.isCancelled)
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
        let error = await #expect(throws: HTTPError.self) { try await load.value }
        #expect(error?.code == .cancelled)
        whole.change { $0 = nil }
    }
}
