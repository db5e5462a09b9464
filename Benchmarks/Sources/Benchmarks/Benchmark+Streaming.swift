// SPDX-License-Identifier: MIT
import Foundation
import Letterhead

extension Benchmark {
    /// Bodies that are read a line or an event at a time.
    static let streaming: [Benchmark] = [
        Benchmark(
            "read 100,000 lines of 100 bytes",
            floor: { countedByHand(lines) },
            measured: {
                var count = 0
                for try await line in HTTPResponseBody(lines).lines { count += line.utf8.count }
                return count
            }, limits: .ratio(5)),
        Benchmark(
            "read 10,000 events of 100 bytes",
            floor: { countedByHand(events) },
            measured: {
                var count = 0
                for try await _ in client.events(of: Get<String>("events")) { count += 1 }
                return count
            }, limits: .ratio(10), areSame: { $0 > 0 && $1 == 10_000 }),
    ]

    private static func countedByHand(_ data: Data) -> Int {
        var lines = LinesByHand()
        return lines.count(data)
    }
}

private let client = HTTPClient(
    transport: AnyLoader { request in
        HTTPResponse(
            request: request, status: .ok, headers: ["Content-Type": "text/event-stream"],
            body: HTTPResponseBody(events))
    })
private let lines = Data(String(repeating: String(repeating: "a", count: 99) + "\n", count: 100_000).utf8)
private let events = Data(
    String(repeating: "id: 12345\nevent: message\ndata: \(String(repeating: "a", count: 66))\n\n", count: 10_000).utf8)
