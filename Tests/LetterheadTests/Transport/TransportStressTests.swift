// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    import TestKit
    import Testing

    /// Tests that could hang or crash run in a separate process with a time limit.
    @Suite(.timeLimit(.minutes(3)), .serialized)
    struct TransportStressTests {
        @Test(
            "The transport under stress",
            arguments: [
                ("posts", 2000), ("cancellations", 2000), ("many", 2000), ("exit", 50), ("leave", 64), ("fork", 5),
                ("exhaust", 24), ("drops", 50), ("memory", 6000), ("transfers", 128), ("rest", 1), ("download", 50),
                ("mirror", 200), ("shared-folders", 1), ("fuzz", 3000), ("differ", 1000), ("deallocators", 100),
                ("initialize", 32), ("failed-initialization", 4), ("other-tls", 1), ("executor", 2000),
            ])
        func stress(name: String, count: Int) async throws {
            // An exit finds the threads elsewhere each time.
            for _ in 0..<(name == "leave" ? 3 : 1) {
                var (status, output) = try await run(name, count)
                // On a busy machine, Dispatch examines its pools of threads, and ends a process that has no descriptor
                // left for that.
                if name == "exhaust", status == 128 + SIGILL { (status, output) = try await run(name, count) }
                #expect(status == 0, "\(output)")
                #expect(output.contains("ok: "))
            }
        }

        private func run(_ name: String, _ count: Int) async throws -> (status: Int32, output: String) {
            try await ChildProcess.run(
                ofPackage: "transport-stress", [name, String(count)], seconds: 120,
                // Otherwise a process with the thread sanitizer sleeps for a second before it exits.
                environment: Self.environment)
        }

        // The sanitizers reserve more address space than a process may have with a limit.
        @Test(.disabled(if: isSanitized))
        func `a body that does not fit into memory is an error`() async throws {
            let (status, output) = try await ChildProcess.run(
                ofPackage: "transport-stress", ["memory-limit", "400"], seconds: 120)
            #expect(status == 0, "\(output)")
            #expect(output.contains("ok: "))
        }

        @Test(arguments: [
            ("posts", 1000), ("cancellations", 1000), ("many", 1000), ("executor", 500), ("transfers", 64),
        ])
        func `the transport works on a single processor`(name: String, count: Int) async throws {
            let program = try ChildProcess.path(ofPackage: "transport-stress")
            let (status, output) = try await ChildProcess.run(
                "taskset", ["-c", "0", program, name, String(count)], seconds: 120, environment: Self.environment)
            #expect(status == 0, "\(String(decoding: output, as: UTF8.self))")
        }

        /// One arena, because each further one of the C library's allocator keeps up to 2 MiB for a later use.
        private static let environment = ["TSAN_OPTIONS": "atexit_sleep_ms=0", "MALLOC_ARENA_MAX": "1"]
        private static let isSanitized = dlsym(nil, "__tsan_init") != nil || dlsym(nil, "__asan_init") != nil
    }
#endif
