// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadCaching
import LetterheadTesting

extension Benchmark {
    /// The costs of the cache and of a jar: a reused response through a whole client, and what a miss adds.
    static let caching: [Benchmark] = {
        let body = Data(count: 10 << 10)
        let transport = Storable(body: body)
        let plain = HTTPClient(transport: transport)
        let hit = HTTPClient(cache: ResponseCache(store: .memory(bytes: 64 << 20)), transport: transport)
        let miss = HTTPClient(
            cache: ResponseCache(store: .memory(bytes: 64 << 20)), transport: Storable(body: body, control: "no-store"))
        let cookies = HTTPClient(cookies: CookieJar(), transport: transport)
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("letterhead-bench-\(getpid())")
        let files = (try? ResponseCache.Store.files(in: folder, bytes: 64 << 20)) ?? .memory(bytes: 0)
        let file = HTTPClient(cache: ResponseCache(store: files), transport: transport)
        var request = HTTPRequest()
        (request.host, request.path) = ("api.example.com", "/users/1")
        request.headers = ["Accept": "application/json"]
        let sent = request
        return [
            compare("cache: a memory hit through a whole client, beside nothing", hit, .more(nanoseconds: 8_000)),
            compare("cache: a file hit of 10 KiB, beside nothing", file, .more(nanoseconds: 100_000)),
            client("cache: what a miss adds to a client", plain, miss, .more(nanoseconds: 2_000)),
            client("cookies: what an empty jar adds to a client", plain, cookies, .more(nanoseconds: 1_000)),
        ]

        func compare(_ name: String, _ client: HTTPClient, _ limit: Limit) -> Benchmark {
            Benchmark(
                name, floor: { body.count }, measured: { try await client.send(sent).body.buffered?.count ?? 0 },
                limits: limit)
        }

        func client(_ name: String, _ floor: HTTPClient, _ measured: HTTPClient, _ limit: Limit) -> Benchmark {
            Benchmark(
                name, floor: { try await floor.send(sent).status.code },
                measured: { try await measured.send(sent).status.code }, limits: limit)
        }
    }()

    /// A hit beside a request over the loopback.
    static func loopback() async throws -> Benchmark {
        let server = try await MockServer.start { _ in
            var response = MockServer.Response.text("body")
            response.headers["Cache-Control"] = "max-age=600"
            return response
        }
        let plain = HTTPClient()
        let cached = HTTPClient(cache: ResponseCache(store: .memory(bytes: 1 << 20)))
        let url = server.url
        return Benchmark(
            "cache: a memory hit, beside a request over the loopback",
            floor: { try await plain.send(HTTPRequest(url: url)).status.code },
            measured: {
                // The server stops with its last reference.
                _ = server.port
                return try await cached.send(HTTPRequest(url: url)).status.code
            }, limits: .ratio(1.0 / 15))
    }
}

/// A transport that responds at once with a response that can be stored.
private struct Storable: HTTPLoader {
    let body: Data
    var control = "max-age=600"

    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        HTTPResponse(
            request: request, status: .ok, headers: ["Cache-Control": control, "ETag": "\"a\""],
            body: HTTPResponseBody(body))
    }
}
