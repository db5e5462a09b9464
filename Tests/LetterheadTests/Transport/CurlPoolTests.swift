#if os(Linux)
    import Foundation
    import RawServer
    import Synchronization
    import Testing

    @testable import Letterhead

    /// Tasks that are answered together share threads; nobody can tell but by the clock.
    @Suite(.timeLimit(.minutes(3)))
    struct CurlPoolTests {
        let pool = CurlPool()
        let loader = CurlLoader()
        private let line = Line()

        @Test func `Tasks that are answered together go on one after the other, in the order of their answers`() async {
            // Each waits by the time that the next one is made.
            let tasks = (0..<500).map { number in
                Task.immediate { [line] in
                    await Seat(in: line).goOn()
                    line.note(number)
                }
            }
            pool.gather(at: 0) { line.answerAll(in: pool) }
            for task in tasks { await task.value }
            #expect(line.noted == Array(0..<500))
        }

        @Test func `A task that prefers an executor goes on there`() async {
            let preferred = Preferred()
            for _ in 0..<100 {
                await withTaskExecutorPreference(preferred) {
                    let seat = Seat(in: line) { [pool, line] in
                        DispatchQueue.global().async { pool.gather(at: 0) { line.answerAll(in: pool) } }
                    }
                    await seat.goOn()
                    #expect(preferred.isCurrent)
                }
            }
        }

        @Test func `Whoever comes when the answer is there goes on, however often`() async throws {
            let transfer = try transfer()
            transfer.finish(.success)
            for _ in 0..<20_000 { _ = await transfer.answered() }
            #expect(!transfer.isWanted)
        }

        @Test func `Several tasks that wait for one answer all go on`() async throws {
            let transfer = try transfer()
            let tasks = (0..<10).map { _ in Task.immediate { _ = await transfer.answered() } }
            transfer.finish(.failure(.cancelled))
            for task in tasks { await task.value }
            #expect(!transfer.isWanted)
        }

        @Test func `A transfer ends with its task, however often a task and its answer come at once`() async throws {
            weak var last: CurlTransfer?
            for _ in 0..<2_000 {
                let transfer = try transfer()
                let thread = Thread { [weak transfer] in transfer?.finish(.success) }
                thread.start()
                _ = await transfer.answered()
                last = transfer
            }
            while last != nil { await Task.yield() }
        }

        private func transfer() throws -> CurlTransfer {
            let request = HTTPRequest(url: try #require(URL(string: "http://127.0.0.1/")))
            let plan = CurlPlan(request, body: nil, TransportConfiguration())
            return CurlTransfer(plan, for: SharedRequest(request), engine: CurlEngine(TransportConfiguration()))
        }

        /// Answers no request before as many have come.
        private func server(for count: Int) -> RawServer {
            let waiting = Mutex<(present: Int, gates: [DispatchSemaphore])>((0, []))
            return RawServer { connection, _ in
                while connection.readHead() != nil {
                    let gate = DispatchSemaphore(value: 0)
                    waiting.withLock { waiting in
                        waiting.gates.append(gate)
                        waiting.present += 1
                        guard waiting.present.isMultiple(of: count) else { return }
                        for gate in waiting.gates { gate.signal() }
                        waiting.gates = []
                    }
                    gate.wait()
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                }
            }
        }

        @Test(.enabled(if: ProcessInfo.processInfo.activeProcessorCount > 1))
        func `A task that keeps its thread holds up nobody who was answered with it`() async throws {
            let count = 16
            let server = server(for: count)
            let goneOn = Counter()
            let isFirstAlone = try await withThrowingTaskGroup { group in
                for _ in 0..<count {
                    group.addTask { [loader] in
                        _ = try await loader.load(HTTPRequest(url: server.url()))
                        guard goneOn.next() == 1 else { return false }
                        let end = ContinuousClock.now + .seconds(60)
                        while goneOn.value < count, ContinuousClock.now < end { usleep(100) }
                        return goneOn.value < count
                    }
                }
                return try await group.contains(true)
            }
            #expect(!isFirstAlone)
        }

        @Test func `Tasks go on where they were: on their executor, on an actor, on the main one`() async throws {
            let server = server(for: 4)
            let preferred = Preferred()
            let url = server.url()
            for _ in 0..<20 {
                async let plain = Guest.nameKept { try await loader.load(HTTPRequest(url: url)) }
                async let preferring = withTaskExecutorPreference(preferred) {
                    _ = try await loader.load(HTTPRequest(url: url))
                    return preferred.isCurrent
                }
                async let main = onMain(url)
                async let isolated = Guest().load(url, with: loader)
                #expect(try await plain == "guest")
                #expect(try await preferring)
                try await main
                try await isolated
            }
        }

        @MainActor private func onMain(_ url: URL) async throws {
            _ = try await loader.load(HTTPRequest(url: url))
            MainActor.preconditionIsolated()
        }
    }

    /// Tasks that wait to be answered, and the order in which they go on.
    private final class Line: Sendable {
        private let waiting = Mutex<[UnownedJob]>([])
        private let numbers = Mutex<[Int]>([])

        var noted: [Int] { numbers.withLock { $0 } }

        func note(_ number: Int) { numbers.withLock { $0.append(number) } }

        func add(_ job: UnownedJob) { waiting.withLock { $0.append(job) } }

        /// Whoever calls it has waited.
        func pass() { waiting.withLock { _ in } }

        func answerAll(in pool: CurlPool) {
            let jobs = waiting.withLock { jobs in
                defer { jobs = [] }
                return jobs
            }
            for job in jobs { pool.run(job) }
        }
    }

    /// Where one task waits in line.
    private actor Seat: SerialExecutor {
        private let line: Line
        private let onWait: @Sendable () -> Void

        init(in line: Line, onWait: @escaping @Sendable () -> Void = {}) {
            (self.line, self.onWait) = (line, onWait)
        }

        nonisolated var unownedExecutor: UnownedSerialExecutor { asUnownedSerialExecutor() }

        nonisolated func enqueue(_ job: UnownedJob) {
            line.add(job)
            onWait()
        }

        /// Who calls it is held.
        func goOn() { line.pass() }
    }

    private actor Guest {
        @TaskLocal static var name = "nobody"

        /// The task's own values are kept.
        static func nameKept(after load: () async throws -> HTTPResponse) async throws -> String {
            try await $name.withValue("guest") {
                _ = try await load()
                return name
            }
        }

        func load(_ url: URL, with loader: CurlLoader) async throws {
            _ = try await loader.load(HTTPRequest(url: url))
            preconditionIsolated()
        }
    }

    /// A queue of its own. A class, since the runtime refers to it.
    private final class Preferred: TaskExecutor {
        private let queue = DispatchQueue(label: "preferred")
        private let key = DispatchSpecificKey<Bool>()

        init() { queue.setSpecific(key: key, value: true) }

        var isCurrent: Bool { DispatchQueue.getSpecific(key: key) == true }

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }
#endif
