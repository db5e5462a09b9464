// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    import Letterhead
    import LetterheadTesting

    /// Uploads a file of 2 GiB, plain and as a part, in a separate process, and measures the peak of its memory.
    struct UploadMemory {
        static let name = "upload a 2 GiB file, plain and as a part"
        private static let size = 2 << 30
        private static let memoryLimit = 16.0
        private static let timeLimit = 1.25
        private static let childFlag = "--upload"

        /// Prints what the separate process found, and returns whether the limits are kept.
        static func report() async throws -> Bool {
            print("\n\(name)")
            var configuration = MockServer.Configuration()
            configuration.keptBodySize = 0
            let server = try await MockServer.start(configuration) { try .json($0.bodySize) }
            let file = FileManager.default.temporaryDirectory.appendingPathComponent(
                "letterhead-\(UUID().uuidString).bin")
            defer { try? FileManager.default.removeItem(at: file) }
            _ = FileManager.default.createFile(atPath: file.path, contents: nil)
            let handle = try FileHandle(forWritingTo: file)
            try handle.truncate(atOffset: UInt64(size))
            try handle.close()
            let numbers = try child(server.url, file).split(separator: " ").compactMap { Double($0) }
            await server.stop()
            guard numbers.count == 3 else { return false }
            let (memory, plain, part) = (numbers[0], numbers[1], numbers[2])
            print(
                "  plain \(text(plain)) s, as a part \(text(part)) s: \(text(part / plain)), limit \(text(timeLimit))")
            print("  \(text(memory)) MiB above the process before it, limit \(text(memoryLimit))")
            return memory <= memoryLimit && part <= plain * timeLimit
        }

        /// What the process prints that does the uploads.
        private static func child(_ url: URL, _ file: URL) throws -> String {
            let process = Process()
            let output = Pipe()
            process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            process.arguments = [childFlag, url.absoluteString, file.path]
            process.standardOutput = output
            try process.run()
            let data = try output.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        }

        /// Does the uploads if this process was started for them, and returns whether it was.
        static func runChild() async throws -> Bool {
            let arguments = CommandLine.arguments
            guard arguments.count == 4, arguments[1] == childFlag, let url = URL(string: arguments[2]) else {
                return false
            }
            let file = URL(fileURLWithPath: arguments[3])
            let plain = FileBody(at: file)
            let part = MultipartBody([.file(at: file, name: "file")])
            try await upload(DataBody(Data(count: 1000)), to: url)
            let before = peak()
            var times: (plain: [Double], part: [Double]) = ([], [])
            for _ in 0..<5 {
                times.plain.append(try await upload(plain, to: url))
                times.part.append(try await upload(part, to: url))
            }
            print(peak() - before, times.plain.min() ?? 0, times.part.min() ?? 0)
            return true
        }

        /// Seconds for one upload. Every byte must arrive.
        @discardableResult
        private static func upload(_ body: any HTTPBody, to url: URL) async throws -> Double {
            var request = HTTPRequest(method: .post, url: url)
            request.body = body
            let clock = ContinuousClock()
            let start = clock.now
            let response = try await HTTPClient.defaultTransport.load(request)
            let received = try await JSONDecoder().decode(Int.self, from: response.body.data())
            guard received == body.contentLength else { throw CocoaError(.fileWriteUnknown) }
            return (clock.now - start) / .seconds(1)
        }

        /// The most memory that this process ever had, in MiB.
        static func peak() -> Double {
            let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
            return (line.split(separator: " ").compactMap { Double($0) }.first ?? 0) / 1024
        }
    }
#endif
