// SPDX-License-Identifier: MIT
#if os(Linux) || os(macOS)
    package import Foundation

    /// The system's curl, if it is installed: an independent client that supports TLS.
    package struct CurlCommand {
        package struct Result: Sendable {
            package let status: Int32
            package let output: Data
            package var text: String { String(decoding: output, as: UTF8.self) }
        }

        private static let path = ["/usr/bin/curl", "/usr/local/bin/curl", "/opt/homebrew/bin/curl"]
            .first { FileManager.default.isExecutableFile(atPath: $0) }

        package static var isInstalled: Bool { path != nil }

        /// Runs it with these arguments. `pem` files are written before and removed after, and named by `@NAME`
        /// arguments.
        package static func run(_ arguments: String..., pem: [String: String] = [:]) async throws -> Result {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            for (name, text) in pem {
                try Data((text + "\n").utf8).write(to: folder.appendingPathComponent(name))
            }
            let options = ["-q", "-sS", "--noproxy", "*", "--max-time", "100"]
            let named = arguments.map { text in
                text.hasPrefix("@") ? folder.appendingPathComponent(String(text.dropFirst())).path : text
            }
            let (status, output) = try await ChildProcess.run(
                path ?? "", options + named, seconds: 120, printsErrors: false)
            return Result(status: status, output: output)
        }
    }
#endif
