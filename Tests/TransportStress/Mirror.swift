// SPDX-License-Identifier: MIT
#if os(Linux) && DEBUG
    import Foundation
    @testable import Letterhead
    import LetterheadTransfers
    import TestKit

    /// Copies many files with few descriptors, two at a time.
    struct Mirror {
        let count: Int

        func run() async throws {
            let body = String(repeating: "x", count: 20_000)
            let server = RawServer.answering(
                "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
            let folder = FileManager.default.temporaryDirectory.appending(path: "letterhead-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let client = HTTPClient(attemptLinks: Throttle(limit: 2))
            var limit = rlimit(rlim_cur: 100, rlim_max: 100)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let failures = await withTaskGroup(of: String?.self) { group in
                for number in 0..<count {
                    group.addTask {
                        do {
                            try await client.download(
                                HTTPRequest(url: server.url("/\(number)")), to: folder.appending(path: "\(number)"),
                                resuming: .fromPart)
                            return nil
                        } catch { return "\(error)" }
                    }
                }
                return await group.reduce(into: []) { failures, text in if let text { failures.append(text) } }
            }
            expect(failures.isEmpty, "\(failures.count) of \(count) downloads failed: \(failures.first ?? "")")
            let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            expect(names.count == count, "\(names.count) files")
            print("ok: \(count) files with 100 descriptors")
        }
    }
#endif
