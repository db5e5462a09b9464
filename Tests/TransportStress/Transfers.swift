// SPDX-License-Identifier: MIT
#if os(Linux) && DEBUG
    import Foundation
    @testable import Letterhead
    import LetterheadFoundation
    import TestKit

    /// Bodies far larger than what may be held of them, in both directions, and a loader that rests.
    struct Transfers {
        /// How large a body is, in MiB.
        let size: Int

        /// Up from a file, and down to a reader that is quick and one that is slow: the most memory that the process
        /// ever had is at most 16 MiB above what it had before, this process's own server included.
        func keepMemory() async throws {
            let (server, loader) = (Self.server(), CurlLoader())
            let file = FileManager.default.temporaryDirectory.appending(path: "letterhead-\(UUID().uuidString).bin")
            defer { try? FileManager.default.removeItem(at: file) }
            try Data(count: 1 << 20).write(to: file)
            try await up(file, server, loader)
            try await down(1 << 20, server, loader)
            let before = Self.peakKilobytes
            let handle = try FileHandle(forWritingTo: file)
            try handle.truncate(atOffset: UInt64(size << 20))
            try handle.close()
            try await up(file, server, loader)
            try await down(size << 20, server, loader)
            try await down(size << 20, server, loader, slowChunks: 100)
            let growth = Self.peakKilobytes - before
            expect(before > 0 && growth <= 16 << 10, "\(size) MiB in each direction took \(growth) KiB")
            print("ok: \(size) MiB up, down and down slowly took \(growth) KiB at most")
        }

        /// A client that saves a body to a file needs at most 16 MiB more memory than before, this process's own server
        /// included.
        func download() async throws {
            let (server, client) = (Self.server(), HTTPClient())
            let file = FileManager.default.temporaryDirectory.appending(path: "letterhead-\(UUID().uuidString).bin")
            defer { try? FileManager.default.removeItem(at: file) }
            var (before, growth) = (0, 0)
            for length in [1 << 20, size << 20] {
                before = Self.peakKilobytes
                try await client.download(HTTPRequest(url: server.url("/\(length)")), to: file)
                growth = Self.peakKilobytes - before
                let saved = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int
                expect(saved == length, "\(saved ?? -1) bytes of \(length) were saved")
            }
            expect(before > 0 && growth <= 16 << 10, "saving \(size) MiB took \(growth) KiB")
            print("ok: saving \(size) MiB took \(growth) KiB at most")
        }

        /// A loader with a kept connection and nothing to do uses no processor.
        func rest() async throws {
            let server = RawServer.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let loader = CurlLoader()
            for _ in 0..<10 { _ = try await loader.load(HTTPRequest(url: server.url())) }
            let before = Self.processorTime
            try await Task.sleep(for: .seconds(2))
            let used = Self.processorTime - before
            expect(used < .milliseconds(20), "\(used) of the processor in two seconds of rest")
            expect(try await loader.load(HTTPRequest(url: server.url())).metrics.isReusedConnection, "a new connection")
            print("ok: \(used) of the processor in two seconds of rest")
        }

        private func up(_ file: URL, _ server: RawServer, _ loader: CurlLoader) async throws {
            var request = HTTPRequest(method: .put, url: server.url())
            let body = FileBody(at: file)
            request.body = body
            let answer = try await loader.load(request).body.data()
            expect(answer == Data("\(body.contentLength ?? -1)".utf8), "the server got another number of bytes")
        }

        private func down(_ size: Int, _ server: RawServer, _ loader: CurlLoader, slowChunks: Int = 0) async throws {
            var request = HTTPRequest(url: server.url("/\(size)"))
            request.responseDelivery = .streamed
            var (count, chunks) = (0, 0)
            for try await chunk in try await loader.load(request).body {
                (count, chunks) = (count + chunk.count, chunks + 1)
                if chunks <= slowChunks { try await Task.sleep(for: .milliseconds(20)) }
            }
            expect(count == size, "\(count) bytes of \(size) arrived")
        }

        /// Receives bodies and returns their lengths. Sends as many bytes as the path contains.
        private static func server() -> RawServer {
            RawServer { connection, _ in
                while let head = connection.readHead() {
                    let line = head.split(separator: " ")
                    if line[0] == "PUT" {
                        let lines = head.lowercased().split(separator: "\r\n")
                        let field = lines.first { $0.hasPrefix("content-length: ") }
                        let length = field.flatMap { Int($0.dropFirst(16)) } ?? 0
                        guard connection.skip(length) else { return }
                        let text = "\(length)"
                        connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)")
                    } else {
                        let length = Int(line[1].dropFirst()) ?? 0
                        connection.write("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n")
                        guard connection.writeZeros(length) else { return }
                    }
                }
            }
        }

        static var peakKilobytes: Int {
            let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM") }
            return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        }

        private static var processorTime: Duration {
            .nanoseconds(SystemTime.nanoseconds(of: CLOCK_PROCESS_CPUTIME_ID))
        }
    }
#endif
