// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadStreaming

extension Benchmark {
    /// Bodies that are read a line or an event at a time.
    static let streaming: [Benchmark] = [
        Benchmark(
            "read 100,000 lines of 100 bytes",
            floor: { countedByHand(lines) },
            measured: {
                var count = 0
                for try await line in HTTPResponseBody(lines).lines { count += line.utf8.count + 1 }
                return count
            }, limits: .ratio(5)),
        Benchmark(
            "read 10,000 events of 100 bytes",
            floor: {
                var loop = EventsByHand()
                return loop.count(events)
            },
            measured: {
                var count = 0
                for try await _ in client(events, "text/event-stream").events(of: Get<String>("events")) { count += 1 }
                return count
            }, limits: .ratio(3)),
        Benchmark(
            "read 10,000 JSON values of 60 bytes, a line each",
            floor: {
                var (lines, decoder, sum) = (LinesByHand(), JSONDecoder(), 0)
                try lines.forEach(in: rows) { sum += try decoder.decode(Row.self, from: Data($0)).id }
                return sum
            },
            measured: {
                var sum = 0
                let rows = client(rows, "application/x-ndjson").values(of: Get<String>("rows"), as: Row.self)
                for try await row in rows { sum += row.id }
                return sum
            }, limits: .ratio(1.4)),
    ]

    private struct Row: Codable {
        let id: Int
        let name: String
        let isActive: Bool
    }

    private static func countedByHand(_ data: Data) -> Int {
        var lines = LinesByHand()
        return lines.count(data)
    }
}

private func client(_ body: Data, _ type: String) -> HTTPClient {
    HTTPClient(
        transport: AnyLoader { request in
            HTTPResponse(
                request: request, status: .ok, headers: ["Content-Type": type],
                body: HTTPResponseBody(body))
        })
}

private let lines = Data(String(repeating: String(repeating: "a", count: 99) + "\n", count: 100_000).utf8)
private let events = Data(
    String(repeating: "id: 12345\nevent: message\ndata: \(String(repeating: "a", count: 66))\n\n", count: 10_000).utf8)
private let rows = Data(
    (0..<10_000).map { #"{"id":\#($0),"name":"somebody of that name","isActive":true}\#n"# }.joined().utf8)
