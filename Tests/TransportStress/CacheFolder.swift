// SPDX-License-Identifier: MIT
#if os(Linux) && DEBUG
    import Foundation
    @testable import Letterhead
    import LetterheadCaching
    import Synchronization

    /// Uses the cache in a folder as fast as possible, until it is killed or has sent a number of requests.
    struct CacheFolder {
        let count: Int
        let folder: URL

        /// The body of a version of a page. Each part of it names both.
        static func body(_ page: Int, _ version: Int) -> String {
            String(repeating: "page \(page) version \(version);", count: 20 + page * 30 % 2000)
        }

        /// Stores and reuses responses, and checks each reused one.
        func run() async throws {
            // Tests with time limits run at the same time.
            _ = nice(15)
            let transport = AnyLoader { request in
                let page = Int(request.path.string.dropFirst()) ?? 0
                let version = Int.random(in: 0..<1_000_000)
                var response = HTTPResponse(
                    request: request, status: .ok,
                    headers: ["Cache-Control": "max-age=600", "ETag": "\"\(version)\"", "Page": "\(page)"])
                response.body = HTTPResponseBody(Data(Self.body(page, version).utf8))
                return response
            }
            let store = try ResponseCache.Store.files(in: folder, bytes: 400_000)
            let client = HTTPClient(cache: ResponseCache(store: store), transport: transport)
            var hits = 0
            for _ in 0..<count {
                var request = try HTTPRequest("https://a.example/\(Int.random(in: 0..<60))")
                if Int.random(in: 0..<20) == 0 { request.method = .put }
                let response = try await client.send(request)
                guard request.method == .get else { continue }
                expect(Self.isWhole(response), "a body is mixed or truncated: \(response)")
                if response.cache == .hit { hits += 1 }
            }
            print("ok: \(hits) hits")
        }

        /// Checks that every page in the folder is whole.
        func check() async throws {
            let store = try ResponseCache.Store.files(in: folder, bytes: 400_000)
            let client = HTTPClient(cache: ResponseCache(store: store))
            var hits = 0
            for page in 0..<60 {
                var request = try HTTPRequest("https://a.example/\(page)")
                request.caching = .onlyIfCached
                do {
                    expect(Self.isWhole(try await client.send(request)), "page \(page) is mixed or truncated")
                    hits += 1
                } catch let error as HTTPError where error.code == .notCached {}
            }
            print("ok: \(hits) pages")
        }

        /// Stores responses on a disk that accepts only 4 KiB for each file. The requests succeed.
        func fill() async throws {
            var limit = rlimit(rlim_cur: 4096, rlim_max: 4096)
            signal(SIGXFSZ, SIG_IGN)
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            let transport = AnyLoader { request in
                HTTPResponse(
                    request: request, status: .ok, headers: ["Cache-Control": "max-age=600"],
                    body: HTTPResponseBody(Data(count: 100_000)))
            }
            let errors = ErrorCount()
            let cache = ResponseCache(store: try .files(in: folder, bytes: 1 << 20), onError: { _ in errors.add() })
            let client = HTTPClient(cache: cache, transport: transport)
            for _ in 0..<10 {
                let response = try await client.send(try HTTPRequest("https://a.example/"))
                expect(response.body.buffered?.count == 100_000 && response.cache == .missed, "\(response.cache)")
            }
            expect(errors.value == 10, "\(errors.value) errors")
            let left = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.contains(".") }
            expect(left.isEmpty, "files are left: \(left)")
            print("ok: ten full disks")
        }

        private static func isWhole(_ response: HTTPResponse) -> Bool {
            guard let page = response.headers["Page"].flatMap({ Int($0) }),
                let version = response.headers[.eTag].flatMap({ Int($0.dropFirst().dropLast()) })
            else { return false }
            return response.body.buffered == Data(body(page, version).utf8)
        }
    }

    /// A count of errors. It is a class, because the cache and the test share it.
    private final class ErrorCount: Sendable {
        private let count = Mutex(0)

        var value: Int { count.withLock { $0 } }

        func add() { count.withLock { $0 += 1 } }
    }
#endif
