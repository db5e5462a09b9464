// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadCaching
import LetterheadTesting
import Synchronization

/// Measures the response cache by the public suite http-tests/cache-tests, and lists each check that fails.
///
/// `cache-suite SUITE.json [--files] [--only ID]`, where SUITE.json is the suite as JSON. CONTRIBUTING.md has the
/// command that writes it. The suite is not part of this project. The program exits with 1 if fewer checks pass than
/// the project promises.
@main
enum CacheSuite {
    /// The number of checks that must pass.
    private static let promised = (required: 130, optional: 62)

    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst()
        guard let file = arguments.first else {
            print("usage: cache-suite SUITE.json [--files] [--only ID]")
            exit(2)
        }
        var checks = try Check.all(in: URL(filePath: file))
        if let flag = arguments.firstIndex(of: "--only") { checks = checks.filter { $0.id == arguments[flag + 1] } }
        let failures = try await run(checks, inFiles: arguments.contains("--files"))
        for check in checks {
            guard let failure = failures[check.id] else { continue }
            print("\(check.isRequired ? "required" : "optional") \(check.suite)/\(check.id): \(failure)")
        }
        let passed = [true, false].map { kind in
            checks.filter { $0.isRequired == kind && failures[$0.id] == nil }.count
        }
        let all = [true, false].map { kind in checks.filter { $0.isRequired == kind }.count }
        print("\(passed[0]) of \(all[0]) required and \(passed[1]) of \(all[1]) optional checks pass")
        exit(passed[0] >= promised.required && passed[1] >= promised.optional ? 0 : 1)
    }

    /// Returns the reason for each check that failed.
    private static func run(_ checks: [Check], inFiles: Bool) async throws -> [String: String] {
        let now = Date().timeIntervalSince1970.rounded(.down)
        let servers = checks.map { SuiteServer($0, time: now) }
        let byID = Dictionary(uniqueKeysWithValues: servers.map { ($0.id, $0) })
        let server = try await MockServer.start { request in
            let id = request.path.split(separator: "/").dropFirst().first.map(String.init) ?? ""
            return byID[id]?.respond(to: request) ?? .text("no such check", status: 404)
        }
        let folder = FileManager.default.temporaryDirectory.appending(path: "cache-suite-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        return try await withThrowingTaskGroup(of: (String, String?).self) { group in
            for one in servers {
                let store: ResponseCache.Store =
                    inFiles
                    ? try .files(in: folder.appending(path: one.id), bytes: 1 << 24) : .memory(bytes: 1 << 24)
                group.addTask {
                    do {
                        try await SuiteClient(one, url: server.url, store: store).run()
                        return (one.check.id, nil)
                    } catch {
                        let failure = error as? SuiteClient.Failure
                        return (one.check.id, failure.map { ($0.isSetup ? "setup: " : "") + $0.message } ?? "\(error)")
                    }
                }
            }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
    }
}
