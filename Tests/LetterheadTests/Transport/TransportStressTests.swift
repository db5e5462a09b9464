#if os(Linux)
    import Testing

    /// What could hang or crash runs in a process of its own, with a time limit.
    @Suite(.timeLimit(.minutes(3)), .serialized)
    struct TransportStressTests {
        @Test(
            "The transport under stress",
            arguments: [
                ("posts", 5000), ("cancellations", 10_000), ("many", 5000), ("exit", 50), ("leave", 64),
                ("fork", 5), ("exhaust", 64), ("drops", 50), ("memory", 10_000), ("transfers", 256), ("rest", 1),
                ("fuzz", 6000),
                ("deallocators", 100),
            ])
        func stress(name: String, count: Int) async throws {
            // An exit finds the threads elsewhere each time.
            for _ in 0..<(name == "leave" ? 5 : 1) {
                let (status, output) = try await ChildProcess.run(
                    ofPackage: "transport-stress", [name, String(count)], seconds: 120,
                    // Otherwise a process with the thread sanitizer sleeps for a second before it exits.
                    environment: ["TSAN_OPTIONS": "atexit_sleep_ms=0"])
                #expect(status == 0, "\(output)")
                #expect(output.contains("ok: "))
            }
        }
    }
#endif
