// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    import FoundationNetworking
    import Letterhead
    import LetterheadTesting
    import LetterheadURLSession
    import TestKit

    /// The session of `LetterheadURLSession` beside `URLSession`, alternately and each in a process of its own: requests a
    /// second, the first byte of a stream, the memory for a GiB down and up, and the time to cancel.
    struct SessionSpeed {
        static let name = "a session beside URLSession"
        private static let childFlag = "--session"
        private static let contenders = ["foundation", "letterhead"]
        private static let rounds = 5
        private static let size = 1 << 30

        /// Prints the medians, and their ratios. There is no limit, because the other side changes with Foundation.
        static func report() async throws -> Bool {
            print("\n\(name): URLSession, ClientSession, and and the second relative to the first")
            let gets = try await GetServer()
            print("  requests are sent to \(gets.name)")
            var configuration = MockServer.Configuration()
            configuration.keptBodySize = 0
            let server = try await MockServer.start(configuration) { try await answer(to: $0) }
            let transfers = TransferSpeed.server()
            let file = FileManager.default.temporaryDirectory.appending(path: "letterhead-\(UUID().uuidString).bin")
            _ = FileManager.default.createFile(atPath: file.path, contents: nil)
            defer { try? FileManager.default.removeItem(at: file) }
            let handle = try FileHandle(forWritingTo: file)
            try handle.truncate(atOffset: UInt64(size))
            try handle.close()
            let rows: [(name: String, work: [String], unit: String)] = [
                ("1 request at a time", ["rate", gets.url.absoluteString, "1"], "a second"),
                ("16 requests at a time", ["rate", gets.url.absoluteString, "16"], "a second"),
                ("64 requests at a time", ["rate", gets.url.absoluteString, "64"], "a second"),
                ("first byte of a stream", ["first", "\(server.url)/stream", ""], "ms"),
                ("a cancelled request", ["cancel", "\(server.url)/stall", ""], "ms"),
                ("1 GiB down to a file", ["down", transfers.url().absoluteString, ""], "MiB"),
                ("1 GiB up from a file", ["up", transfers.url().absoluteString, file.path], "MiB"),
            ]
            for row in rows {
                var results: [[Double]] = [[], []]
                for _ in 0..<rounds {
                    for (index, contender) in contenders.enumerated() {
                        results[index] += try child([contender] + row.work)
                    }
                }
                let texts = results.map { $0.isEmpty ? "doesn't end" : text($0.sorted()[$0.count / 2]) }
                let ratio = results.contains([]) ? "" : ": \(ratio(results))"
                print("  \(row.name): \(texts[0]) and \(texts[1]) \(row.unit)\(ratio)")
            }
            await server.stop()
            gets.stop()
            return true
        }

        private static func ratio(_ results: [[Double]]) -> String {
            let medians = results.map { $0.sorted()[$0.count / 2] }
            return text(medians[1] / max(medians[0], 0.001))
        }

        private static func answer(to request: MockServer.Request) async throws -> MockServer.Response {
            if request.path == "/stall" { return .text("late").fault(.stall, at: .responseBody) }
            let (chunks, sender) = AsyncStream.makeStream(of: Data.self)
            sender.yield(Data("first\n".utf8))
            Task {
                try? await Task.sleep(for: .seconds(1))
                sender.yield(Data("last\n".utf8))
                sender.finish()
            }
            return MockServer.Response(chunks: chunks)
        }

        /// What a process prints that does the work, or nothing if it doesn't end within half a minute.
        private static func child(_ arguments: [String]) throws -> [Double] {
            let (process, output) = (Process(), Pipe())
            process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            process.arguments = [childFlag] + arguments
            (process.standardOutput, process.standardError) = (output, FileHandle.nullDevice)
            try process.run()
            let id = process.processIdentifier
            DispatchQueue.global().asyncAfter(deadline: .now() + 30) { [weak process] in
                if process?.isRunning == true { kill(id, SIGKILL) }
            }
            let data = try output.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            return String(decoding: data, as: UTF8.self).split(separator: "\n").compactMap { Double($0) }
        }

        /// Does the work if this process was started for it, and returns whether it was.
        static func runChild() async throws -> Bool {
            let arguments = CommandLine.arguments
            guard arguments.count == 6, arguments[1] == childFlag, let url = URL(string: arguments[4]) else {
                return false
            }
            let contender = Contender(isFoundation: arguments[2] == "foundation")
            switch arguments[3] {
            case "rate": print(try await contender.rate(of: url, atOnce: Int(arguments[5]) ?? 1))
            case "first": print(try await contender.firstByte(of: url))
            case "cancel": print(try await contender.cancel(url))
            case "down":
                let before = UploadMemory.peak()
                try await contender.download(url)
                print(UploadMemory.peak() - before)
            default:
                let before = UploadMemory.peak()
                try await contender.upload(URL(fileURLWithPath: arguments[5]), to: url)
                print(UploadMemory.peak() - before)
            }
            return true
        }
    }

    /// One of the two sessions.
    private struct Contender {
        let isFoundation: Bool

        private func get(_ url: URL) async throws {
            if isFoundation {
                _ = try await URLSession.shared.data(from: url)
            } else {
                _ = try await ClientSession.shared.data(from: url)
            }
        }

        /// The requests of two seconds, for each second, after a quarter of a second.
        func rate(of url: URL, atOnce count: Int) async throws -> Double {
            let clock = ContinuousClock()
            let start = clock.now + .milliseconds(250)
            let end = start + .seconds(2)
            let total = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<count {
                    group.addTask {
                        var sent = 0
                        while clock.now < end {
                            try await get(url)
                            if clock.now > start { sent += 1 }
                        }
                        return sent
                    }
                }
                return try await group.reduce(0, +)
            }
            return Double(total) / 2
        }

        /// The milliseconds until the first bytes of a response can be used. Foundation passes them to a delegate.
        func firstByte(of url: URL) async throws -> Double {
            let start = ContinuousClock.now
            if isFoundation {
                let (bytes, sender) = AsyncStream.makeStream(of: Data.self)
                let session = URLSession(configuration: .ephemeral, delegate: Receiver(sender), delegateQueue: nil)
                session.dataTask(with: url).resume()
                for await _ in bytes { break }
            } else {
                for try await _ in try await ClientSession.shared.bytes(from: url).0 { break }
            }
            return (ContinuousClock.now - start) / .milliseconds(1)
        }

        /// The milliseconds between a cancellation and the error.
        func cancel(_ url: URL) async throws -> Double {
            let load = Task { try await get(url) }
            try await Task.sleep(for: .milliseconds(300))
            let start = ContinuousClock.now
            load.cancel()
            _ = await load.result
            return (ContinuousClock.now - start) / .milliseconds(1)
        }

        func download(_ url: URL) async throws {
            let file =
                isFoundation
                ? try await URLSession.shared.download(from: url).0
                : try await ClientSession.shared.download(from: url).0
            try FileManager.default.removeItem(at: file)
        }

        func upload(_ file: URL, to url: URL) async throws {
            var request = URLRequest(url: url)
            request.httpMethod = "PUT"
            if isFoundation {
                _ = try await URLSession.shared.upload(for: request, fromFile: file)
            } else {
                _ = try await ClientSession.shared.upload(for: request, fromFile: file)
            }
        }
    }

    /// A delegate that passes on the data.
    private final class Receiver: NSObject, URLSessionDataDelegate {
        private let sender: AsyncStream<Data>.Continuation

        init(_ sender: AsyncStream<Data>.Continuation) { self.sender = sender }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            sender.yield(data)
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            sender.finish()
        }
    }
#endif
