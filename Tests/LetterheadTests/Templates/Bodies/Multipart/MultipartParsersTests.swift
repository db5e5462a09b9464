// SPDX-License-Identifier: MIT
#if os(Linux) || os(macOS)
    import Foundation
    import TestKit
    import Testing

    /// Reads what the library writes with parsers that others wrote: the standard library's of Python, and the ones of
    /// its web frameworks that can be imported. `Tests/Scripts/multipart-parsers.sh` installs them all.
    @Suite struct MultipartParsersTests {
        private static let python = ProcessInfo.processInfo.environment["LETTERHEAD_PYTHON"] ?? "python3"

        private static func hasPython() async -> Bool {
            (try? await ChildProcess.output(of: python, ["--version"])) != nil
        }

        @Test(.enabled("there is no python3 here") { await hasPython() })
        func `other parsers read every valid body as intended, and reject every damaged one`() async throws {
            let directory = try TemporaryDirectory()
            #expect(try MultipartCorpus.write(to: directory.url) >= 300)
            let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("../../../../Scripts/multipart-parsers.py").standardizedFileURL
            let report = try await ChildProcess.output(of: Self.python, [script.path, directory.url.path])
            print(String(decoding: report, as: UTF8.self))
        }
    }
#endif
