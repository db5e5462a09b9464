// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    import Letterhead
    import RawCurl
    import TestKit

    /// A GiB up from a file, beside the program curl, and down to a reader that counts, beside a loop in C.
    struct TransferSpeed {
        static let name = "a GiB up and down"
        private static let size = 1 << 30
        private static let rounds = 7
        private static let limit = Limit.speed(0.8)

        /// Measures and prints both directions, and returns whether the limits are kept.
        static func report() async throws -> Bool {
            print("\n\(name); the floor is the program curl")
            let paths = ["/usr/bin/curl", "/usr/local/bin/curl"]
            guard let curl = paths.first(where: { FileManager.default.isExecutableFile(atPath: $0) }) else {
                print("  curl is not installed")
                return true
            }
            let file = FileManager.default.temporaryDirectory.appending(path: "letterhead-\(UUID().uuidString).bin")
            _ = FileManager.default.createFile(atPath: file.path, contents: nil)
            defer { try? FileManager.default.removeItem(at: file) }
            let handle = try FileHandle(forWritingTo: file)
            try handle.truncate(atOffset: UInt64(size))
            try handle.close()
            let server = server()
            switch CommandLine.arguments.dropFirst(2).first {
            case "up": return try await runUp(file, server)
            case "down": return try await runDown(server)
            default: break
            }
            let isUpKept = try await compare(
                "up", { try run(curl, ["-T", file.path, server.url().absoluteString]) }, { try await up(file, server) })
            return try await compareDown(server) && isUpKept
        }

        /// A loop in C with a receive buffer of 256 KiB, a reader of the loader, and a reader of `HTTPClient.stream`.
        private static func compareDown(_ server: RawServer) async throws -> Bool {
            var times: [[Double]] = [[], [], []]
            for _ in 0..<rounds {
                times[0].append(try downRaw(server))
                times[1].append(try await down(server))
                times[2].append(try await streamDown(server))
            }
            let medians = times.map { $0.sorted()[rounds / 2] }
            let rows = medians.map { Round(time: $0, processor: 0) }
            print("  down: C loop \(text(1024 / medians[0])) MiB a second")
            let verdicts = [
                ("load", limit.verdict(on: rows[1], beside: rows[0]), medians[1]),
                ("HTTPClient.stream", limit.verdict(on: rows[2], beside: rows[0]), medians[2]),
                ("HTTPClient.stream beside load", Limit.speed(0.9).verdict(on: rows[2], beside: rows[1]), medians[2]),
            ]
            for (name, verdict, time) in verdicts {
                print("  \(name): \(text(1024 / time)) MiB a second")
                print("    \(verdict.text): \(verdict.isKept ? "kept" : "NOT KEPT")")
            }
            return verdicts.allSatisfy(\.1.isKept)
        }

        private static func compare(
            _ name: String, _ floor: () throws -> Double, _ measured: () async throws -> Double
        ) async throws -> Bool {
            var (floors, times) = ([Double](), [Double]())
            for _ in 0..<rounds {
                floors.append(try floor())
                times.append(try await measured())
            }
            let (floor, time) = (floors.sorted()[rounds / 2], times.sorted()[rounds / 2])
            print("  \(name): curl \(text(1024 / floor)) MiB a second, load \(text(1024 / time)) MiB a second")
            let verdict = limit.verdict(on: Round(time: time, processor: 0), beside: Round(time: floor, processor: 0))
            print("    \(verdict.text): \(verdict.isKept ? "kept" : "NOT KEPT")")
            return verdict.isKept
        }

        /// Seconds, as curl counts them.
        private static func run(_ curl: String, _ arguments: [String]) throws -> Double {
            let (process, output) = (Process(), Pipe())
            process.executableURL = URL(fileURLWithPath: curl)
            process.arguments = ["-s", "--noproxy", "*", "-o", "/dev/null", "-w", "%{time_total}"] + arguments
            process.standardOutput = output
            try process.run()
            let data = try output.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            guard process.terminationStatus == 0, let time = Double(String(decoding: data, as: UTF8.self)) else {
                throw WrongAnswer()
            }
            return time
        }

        private static func up(_ file: URL, _ server: RawServer) async throws -> Double {
            var request = HTTPRequest(method: .put, url: server.url())
            request.body = FileBody(at: file)
            let start = ContinuousClock.now
            guard try await HTTPClient.defaultTransport.load(request).status == 200 else { throw WrongAnswer() }
            return (ContinuousClock.now - start) / .seconds(1)
        }

        private static func down(_ server: RawServer) async throws -> Double {
            var request = HTTPRequest(url: server.url())
            request.responseDelivery = .streamed
            let start = ContinuousClock.now
            var count = 0
            for try await chunk in try await HTTPClient.defaultTransport.load(request).body { count += chunk.count }
            guard count == size else { throw WrongAnswer() }
            return (ContinuousClock.now - start) / .seconds(1)
        }

        private static func downRaw(_ server: RawServer) throws -> Double {
            let start = ContinuousClock.now
            guard raw_download(server.url().absoluteString, 256 << 10) == size else { throw WrongAnswer() }
            return (ContinuousClock.now - start) / .seconds(1)
        }

        private static func streamDown(_ server: RawServer) async throws -> Double {
            let (client, start) = (HTTPClient(), ContinuousClock.now)
            var count = 0
            var request = HTTPRequest(url: server.url())
            request.responseDelivery = .streamed
            for try await chunk in try await client.send(request).body { count += chunk.count }
            guard count == size else { throw WrongAnswer() }
            return (ContinuousClock.now - start) / .seconds(1)
        }

        /// Runs the uploads by themselves, beside a loop in C: `benchmarks GiB up`.
        private static func runUp(_ file: URL, _ server: RawServer) async throws -> Bool {
            for _ in 0..<rounds {
                let start = ContinuousClock.now
                guard raw_upload(server.url().absoluteString, file.path, size) == 1 else { throw WrongAnswer() }
                let raw = (ContinuousClock.now - start) / .seconds(1)
                let load = try await up(file, server)
                print("  C loop \(text(1024 / raw)), load \(text(1024 / load)) MiB a second: \(text(raw / load))")
            }
            return true
        }

        /// Runs the readers by themselves, for a profiler: `benchmarks GiB down`.
        private static func runDown(_ server: RawServer) async throws -> Bool {
            for _ in 0..<rounds {
                let (raw, load, stream) = (try downRaw(server), try await down(server), try await streamDown(server))
                print(
                    "  C loop \(text(1024 / raw)), load \(text(1024 / load)), stream \(text(1024 / stream)) MiB a second"
                )
            }
            return true
        }

        static func server() -> RawServer {
            RawServer { connection, _ in
                while let head = connection.readHead() {
                    if head.hasPrefix("PUT ") {
                        if head.lowercased().contains("expect:") { connection.write("HTTP/1.1 100 Continue\r\n\r\n") }
                        guard connection.skip(size) else { return }
                        connection.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                    } else {
                        connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
                        guard connection.writeZeros(size) else { return }
                    }
                }
            }
        }
    }
#endif
