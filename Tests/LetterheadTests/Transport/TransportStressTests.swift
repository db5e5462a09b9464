#if os(Linux)
    import Foundation
    import Testing

    /// What could hang or crash runs in a process of its own, with a time limit.
    @Suite(.timeLimit(.minutes(3)), .serialized)
    struct TransportStressTests {
        @Test(
            "The transport under stress",
            arguments: [
                ("posts", 5000), ("cancellations", 10_000), ("many", 5000), ("exit", 50), ("drops", 50),
                ("memory", 10_000), ("transfers", 256), ("rest", 1),
            ])
        func stress(name: String, count: Int) async throws {
            let (status, output) = try await run([name, String(count)], seconds: 120)
            #expect(status == 0, "\(output)")
            #expect(output.contains("ok: "))
        }

        private func run(_ arguments: [String], seconds: Int) async throws -> (status: Int32, output: String) {
            let process = Process()
            let pipe = Pipe()
            process.executableURL = URL(filePath: "/usr/bin/timeout")
            let program = try #require(
                CommandLine.arguments.first.map { URL(filePath: $0).deletingLastPathComponent() })
            process.arguments = [String(seconds), program.appending(path: "transport-stress").path] + arguments
            (process.standardOutput, process.standardError) = (pipe, pipe)
            try process.start()
            // On a thread of its own: the few that run tasks must not be blocked.
            return await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    let output = pipe.fileHandleForReading.readDataToEndOfFile()
                    process.waitUntilExit()
                    let status = process.terminationStatus
                    continuation.resume(returning: (status, String(decoding: output, as: UTF8.self)))
                }
            }
        }
    }
#endif
