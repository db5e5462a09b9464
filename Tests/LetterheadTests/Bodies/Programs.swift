#if os(Linux) || os(macOS)
    import Foundation

    /// What a program of the system prints; it must end without an error.
    func run(_ program: String, _ arguments: [String]) throws -> Data {
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program] + arguments
        process.standardOutput = output
        try process.start()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw ProgramFailed(status: process.terminationStatus, output: String(decoding: data, as: UTF8.self))
        }
        return data
    }

    struct ProgramFailed: Error {
        let status: Int32
        let output: String
    }
#endif
