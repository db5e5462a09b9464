import Foundation
import Testing

#if os(Linux) || os(macOS)
    /// A program of this package, run with a time limit: what may crash or hang does so there.
    enum ChildProcess {
        /// Runs a program that is built beside the tests, and gives what it printed and how it ended.
        static func run(_ name: String, _ arguments: [String], seconds: Int) async throws -> (
            status: Int32, output: String
        ) {
            let process = Process()
            let pipe = Pipe()
            let tests = try #require(CommandLine.arguments.first.map { URL(filePath: $0).deletingLastPathComponent() })
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = ["timeout", String(seconds), tests.appending(path: name).path] + arguments
            (process.standardOutput, process.standardError) = (pipe, pipe)
            try process.start()
            return await Task.detached {
                let output = pipe.fileHandleForReading.readDataToEndOfFile()
                process.waitUntilExit()
                return (process.terminationStatus, String(decoding: output, as: UTF8.self))
            }.value
        }
    }
#endif
