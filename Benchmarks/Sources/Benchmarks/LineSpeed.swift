// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    import Letterhead
    import TestKit

    /// Lines over the loopback interface, beside lines that a hand-written loop splits from the same response, and
    /// beside its raw pieces.
    struct LineSpeed {
        static let name = "lines over loopback"
        private static let lineCount = 2_000_000
        private static let rounds = 5
        private static let limit = Limit.speed(0.7)

        /// Measures and prints all three, and returns whether the limit is kept.
        static func report() async throws -> Bool {
            print("\n\(name); the floor splits the pieces of the same response by hand")
            let server = server()
            let client = HTTPClient(environment: ServerEnvironment(baseURL: server.url()))
            var times: [[Double]] = [[], [], []]
            for _ in 0..<rounds {
                times[0].append(try await seconds { try await pieces(client) })
                times[1].append(try await seconds { try await linesByHand(client) })
                times[2].append(try await seconds { try await lines(client) })
            }
            let medians = times.map { $0.sorted()[rounds / 2] }
            let speeds = medians.map { text(Double(lineCount * 100) / 1_048_576 / $0) }
            print("  MiB a second: pieces \(speeds[0]), lines by hand \(speeds[1]), lines \(speeds[2])")
            print("  \(text(medians[0] / medians[2])) of the speed of pieces")
            let rows = medians.map { Round(time: $0, processor: 0) }
            let verdict = limit.verdict(on: rows[2], beside: rows[1])
            print("    \(verdict.text): \(verdict.isKept ? "kept" : "NOT KEPT")")
            return verdict.isKept
        }

        private struct Export: RequestTemplate {
            var path: RequestPath { "lines" }
        }

        private static func seconds(_ work: () async throws -> Int) async throws -> Double {
            let start = ContinuousClock.now
            guard try await work() == lineCount * 100 else { throw WrongAnswer() }
            return (ContinuousClock.now - start) / .seconds(1)
        }

        private static func pieces(_ client: HTTPClient) async throws -> Int {
            var count = 0
            for try await piece in try await client.stream(Export()).body { count += piece.count }
            return count
        }

        private static func linesByHand(_ client: HTTPClient) async throws -> Int {
            var (count, lines) = (0, LinesByHand())
            for try await piece in try await client.stream(Export()).body { count += lines.count(piece) }
            return count
        }

        private static func lines(_ client: HTTPClient) async throws -> Int {
            var count = 0
            for try await line in try await client.stream(Export()).body.lines { count += line.utf8.count + 1 }
            return count
        }

        private static func server() -> RawServer {
            let line = String(repeating: "a", count: 99) + "\n"
            let piece = Array(String(repeating: line, count: 1000).utf8)
            return RawServer { connection, _ in
                while connection.readHead() != nil {
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(lineCount * 100)\r\n\r\n")
                    for _ in 0..<(lineCount / 1000) where !connection.write(piece) { return connection.close() }
                }
            }
        }
    }
#endif
