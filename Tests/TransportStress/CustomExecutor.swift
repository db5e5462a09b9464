// SPDX-License-Identifier: MIT
#if os(Linux) && DEBUG
    import Foundation
    @testable import Letterhead
    import TestKit
    import Synchronization

    /// A program that has the Swift runtime hand its jobs to threads of the program: every load resumes on one of them.
    struct CustomExecutor {
        let count: Int

        func run() async throws {
            guard Self.install() else { return print("ok: the runtime lets no executor be installed") }
            let server = RawServer.answering("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + Self.text)
            let loader = CurlLoader()
            let client = HTTPClient(transport: loader)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for lane in 0..<8 {
                    group.addTask {
                        for number in stride(from: lane, to: count, by: 8) {
                            try await Self.load(number, server, loader, client)
                        }
                    }
                }
                try await group.waitForAll()
            }
            print("ok: \(count) loads resumed on the program's threads, which ran \(Self.queue.jobCount) jobs")
        }

        @concurrent
        private static func load(
            _ number: Int, _ server: RawServer, _ loader: CurlLoader, _ client: HTTPClient
        ) async throws {
            var request = HTTPRequest(url: server.url())
            request.responseDelivery = number % 2 == 0 ? .buffered : .streamed
            let response = number % 4 < 2 ? try await loader.load(request) : try await client.send(request)
            expect(JobQueue.isCurrent, "load \(number) resumed on \(Thread.current.name ?? "a thread")")
            var size = 0
            for try await chunk in response.body {
                expect(
                    JobQueue.isCurrent, "the reader of body \(number) resumed on \(Thread.current.name ?? "a thread")")
                size += chunk.count
            }
            expect(size == 100_000, "\(size) bytes")
        }

        private static let text = String(repeating: "x", count: 100_000)
        fileprivate static let queue = JobQueue()

        /// Sets the runtime's hook for jobs of the global executor. Returns false when the runtime has none.
        private static func install() -> Bool {
            typealias Hook = @convention(c) (UnsafeRawPointer, UnsafeRawPointer?) -> Void
            let handle = UnsafeMutableRawPointer(bitPattern: 0)
            guard let place = dlsym(handle, "swift_task_enqueueGlobal_hook"), JobQueue.runJob != nil else {
                return false
            }
            let hook: Hook = { job, _ in CustomExecutor.queue.add(job) }
            queue.start(threads: 3)
            place.assumingMemoryBound(to: Hook?.self).pointee = hook
            return true
        }
    }

    /// The jobs of the global executor, and the threads that run them. `@unchecked`: the condition guards what changes.
    private final class JobQueue: @unchecked Sendable {
        private let condition = NSCondition()
        private var jobs: [UnsafeRawPointer] = []
        private var runCount = 0

        /// The runtime's function that runs a job on no particular executor: job, and the two words of the executor.
        typealias Run = @convention(c) (UnsafeRawPointer, UnsafeRawPointer?, UnsafeRawPointer?) -> Void
        static let runJob: Run? = dlsym(nil, "swift_job_run").map { unsafeBitCast($0, to: Run.self) }

        private static let threads = Mutex<Set<pthread_t>>([])
        static var isCurrent: Bool { threads.withLock { $0.contains(pthread_self()) } }

        var jobCount: Int { condition.withLock { runCount } }

        func add(_ job: UnsafeRawPointer) {
            condition.withLock {
                jobs.append(job)
                condition.signal()
            }
        }

        func start(threads count: Int) {
            for _ in 0..<count {
                Thread.detachNewThread { [self] in
                    _ = Self.threads.withLock { $0.insert(pthread_self()) }
                    while true { Self.runJob?(next(), nil, nil) }
                }
            }
        }

        private func next() -> UnsafeRawPointer {
            condition.withLock {
                while jobs.isEmpty { condition.wait() }
                runCount += 1
                return jobs.removeFirst()
            }
        }
    }
#endif
