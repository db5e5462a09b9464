// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    import Letterhead
    import LetterheadCaching

    /// Opens a store of 100,000 responses: in under a second, and with less than 64 MiB.
    enum CacheOpening {
        static let name = "cache: a file store of 100,000 responses is opened"
        private static let count = 100_000
        private static let limit = (seconds: 1.0, bytes: 64 << 20)

        static func report() async throws -> Bool {
            print("\n\(name)")
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("letterhead-open-\(getpid())")
            defer { try? FileManager.default.removeItem(at: folder) }
            try await fill(folder)
            let before = residentBytes()
            let start = ContinuousClock.now
            let store = try ResponseCache.Store.files(in: folder, bytes: 1 << 40)
            let took = start.duration(to: .now)
            let seconds = Double(took.components.seconds) + Double(took.components.attoseconds) / 1e18
            let bytes = residentBytes() - before
            withExtendedLifetime(store) {}
            let isKept = seconds < limit.seconds && bytes < limit.bytes
            print("  \(text(seconds)) s and \(bytes >> 20) MiB, limits 1 s and 64 MiB: \(isKept ? "kept" : "NOT KEPT")")
            return isKept
        }

        private static func fill(_ folder: URL) async throws {
            let transport = AnyLoader { request in
                HTTPResponse(
                    request: request, status: .ok, headers: ["Cache-Control": "max-age=600"],
                    body: HTTPResponseBody(Data("body".utf8)))
            }
            let cache = ResponseCache(store: try .files(in: folder, bytes: 1 << 40))
            let client = HTTPClient(cache: cache, transport: transport)
            for number in 0..<count { _ = try await client.send(HTTPRequest("https://a.example/\(number)")) }
        }

        private static func residentBytes() -> Int {
            let status = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
            let pages = status.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
            return pages * Int(getpagesize())
        }
    }
#endif
