// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    import TestKit
    import Testing

    /// What other processes and crashes do to the folder of a store.
    @Suite(.serialized, .timeLimit(.minutes(10)))
    struct CacheCrashTests {
        private let folder = FileManager.default.temporaryDirectory.appending(path: "letterhead-\(UUID())")

        @Test func `a process that is killed at any moment leaves no mixed or truncated response`() async throws {
            defer { try? FileManager.default.removeItem(at: folder) }
            for round in 0..<125 {
                let children = try (0..<4).map { _ in
                    try ChildProcess(
                        ChildProcess.path(ofPackage: "transport-stress"), ["cache-use", "1000000", folder.path])
                }
                // The children write files as soon as they run, and are killed at a random time while they write one.
                for child in children {
                    try await Task.sleep(for: .microseconds(Int.random(in: 10_000...40_000)))
                    child.kill()
                }
                for child in children { _ = await child.end(within: 60) }
                guard round % 25 == 24 else { continue }
                let (status, output) = try await ChildProcess.run(
                    ofPackage: "transport-stress", ["cache-check", "1", folder.path], seconds: 60)
                #expect(status == 0 && output.contains("ok"), "round \(round): \(output)")
            }
        }

        @Test func `two processes use one folder, and its size stays within the limit`() async throws {
            defer { try? FileManager.default.removeItem(at: folder) }
            let children = try (0..<2).map { _ in
                try ChildProcess(ChildProcess.path(ofPackage: "transport-stress"), ["cache-use", "4000", folder.path])
            }
            for child in children {
                let status = await child.end(within: 200)
                #expect(status == 0, "\(String(decoding: child.output, as: UTF8.self))")
            }
            let (status, output) = try await ChildProcess.run(
                ofPackage: "transport-stress", ["cache-check", "1", folder.path], seconds: 60)
            #expect(status == 0 && !output.contains("ok: 0 "), "\(output)")
            let bytes = try FileManager.default.subpathsOfDirectory(atPath: folder.path).reduce(0) { sum, path in
                let facts = try FileManager.default.attributesOfItem(atPath: folder.appending(path: path).path)
                let isFile = facts[.type] as? FileAttributeType == .typeRegular
                return sum + (isFile ? (facts[.size] as? NSNumber)?.intValue ?? 0 : 0)
            }
            #expect(bytes <= 420_000)
        }

        @Test func `a full disk is an error of the hook, and no request fails`() async throws {
            defer { try? FileManager.default.removeItem(at: folder) }
            let (status, output) = try await ChildProcess.run(
                ofPackage: "transport-stress", ["cache-fill", "1", folder.path], seconds: 60)
            #expect(status == 0 && output.contains("ok: ten full disks"), "\(output)")
        }
    }
#endif
