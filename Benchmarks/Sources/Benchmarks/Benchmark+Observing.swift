// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadRecording

extension Benchmark {
    /// What a flight recorder costs a request that succeeds, beside an observer that does nothing with the same events
    /// and messages. A copy of the large body alone would take longer than the limit.
    static let observing: [Benchmark] = {
        func compare(_ name: String, bytes: Int) -> Benchmark {
            let answer = Answer(body: Data(repeating: UInt8(ascii: "x"), count: bytes))
            let idle = client(answer, IgnoreMessages())
            let recorded = client(answer, FlightRecorder())
            return Benchmark(
                name, floor: { try await idle.send(GetText()).utf8.count },
                measured: { try await recorded.send(GetText()).utf8.count }, limits: .more(nanoseconds: 3_000))
        }
        return [
            compare("a flight recorder", bytes: 200),
            compare("a flight recorder and a body of 256 KB", bytes: 256 << 10),
        ]
    }()

    private static func client(_ transport: any HTTPLoader, _ observer: any HTTPObserver) -> HTTPClient {
        let base = URL(string: "https://api.example.com") ?? URL(filePath: "/")
        return HTTPClient(
            environment: ServerEnvironment(baseURL: base), authentication: .bearer("token"), observers: [observer],
            transport: transport)
    }
}

private struct GetText: RequestTemplate {
    typealias Response = String

    var path: RequestPath { "users/1" }
    var headers: HTTPHeaders { ["Accept": "text/plain", "Accept-Language": "en", "X-Request-Source": "benchmark"] }
}

/// Receives messages, so that the client creates them, and ignores them.
private struct IgnoreMessages: MessageObserver {
    func record(_ event: HTTPEvent) {}
    func record(_ message: ObservedMessage, of event: HTTPEvent) {}
}

/// A transport that responds with the fields of a usual server.
private struct Answer: HTTPLoader {
    let body: Data

    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        HTTPResponse(
            request: request, status: .ok,
            headers: [
                "Content-Type": "text/plain; charset=utf-8", "Content-Length": "200", "Server": "example",
                "Date": "Sat, 28 Nov 2026 09:00:00 GMT", "Cache-Control": "no-cache", "Vary": "Accept",
                "X-Request-ID": "3c2a5f2e", "Strict-Transport-Security": "max-age=63072000",
            ], body: HTTPResponseBody(body))
    }
}
