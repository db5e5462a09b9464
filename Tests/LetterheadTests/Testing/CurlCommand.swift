#if os(Linux) || os(macOS)
    import Foundation
    import Synchronization

    /// The system's curl, where it is installed: a client that is none of ours, and speaks TLS.
    struct CurlCommand {
        struct Result: Sendable {
            let status: Int32
            let output: Data
            var text: String { String(decoding: output, as: UTF8.self) }
        }

        private static let path = ["/usr/bin/curl", "/usr/local/bin/curl", "/opt/homebrew/bin/curl"]
            .first { FileManager.default.isExecutableFile(atPath: $0) }

        static var isInstalled: Bool { path != nil }

        /// Runs it with these arguments; `pem` files are written before and removed after, and named by `@NAME` arguments.
        static func run(_ arguments: String..., pem: [String: String] = [:]) async throws -> Result {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            for (name, text) in pem {
                try Data((text + "\n").utf8).write(to: folder.appendingPathComponent(name))
            }
            let process = Process()
            process.executableURL = URL(fileURLWithPath: path ?? "")
            process.arguments =
                ["-q", "-sS", "--noproxy", "*", "--max-time", "20"]
                + arguments.map { $0.hasPrefix("@") ? folder.appendingPathComponent(String($0.dropFirst())).path : $0 }
            let output = folder.appendingPathComponent("output")
            try Data().write(to: output)
            process.standardOutput = try FileHandle(forWritingTo: output)
            process.standardError = FileHandle.nullDevice
            process.standardInput = FileHandle.nullDevice
            let status = try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Int32, any Error>) in
                process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
                do { try process.start() } catch {
                    process.terminationHandler = nil
                    continuation.resume(throwing: error)
                }
            }
            return Result(status: status, output: try Data(contentsOf: output))
        }
    }
#endif
