// SPDX-License-Identifier: MIT
#if os(Linux) && DEBUG
    import Foundation
    @testable import Letterhead
    import TestKit
    import Synchronization

    /// Requests cancelled at random moments: each ends once, and nothing is left of them.
    struct CancelRaces {
        let count: Int

        func run() async throws {
            let server = RawServer { connection, _ in
                while connection.readRequest() != nil {
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
                    connection.write([UInt8](repeating: 0, count: 1000))
                }
            }
            let alive = Alive()
            try await race(200, server, alive, CurlLoader())  // What is made once is made now.
            let before = try await settled()
            let (finished, cancelled) = try await race(count, server, alive, CurlLoader())
            let after = try await settled(at: before)
            expect(finished >= count / 20, "only \(finished) finished")
            expect(cancelled >= count / 20, "only \(cancelled) were cancelled")
            expect(alive.count == 0, "\(alive.count) requests are still alive")
            print("ok: \(finished) finished, \(cancelled) cancelled, \(before) before, \(after) after")
        }

        @discardableResult
        private func race(
            _ count: Int, _ server: RawServer, _ alive: Alive, _ loader: CurlLoader
        ) async throws -> (finished: Int, cancelled: Int) {
            let finished = await withTaskGroup(of: Int.self) { group in
                for lane in 0..<8 {
                    group.addTask {
                        var random = SeededGenerator(seed: UInt64(lane))
                        var finished = 0
                        for number in stride(from: lane, to: count, by: 8) {
                            if await one(number, server, alive, loader, &random) { finished += 1 }
                        }
                        return finished
                    }
                }
                return await group.reduce(0, +)
            }
            return (finished, count - finished)
        }

        /// One request, buffered or streamed, with or without a body, cancelled after a while.
        private func one(
            _ number: Int, _ server: RawServer, _ alive: Alive, _ loader: CurlLoader, _ random: inout SeededGenerator
        ) async -> Bool {
            let task = Task {
                var request = HTTPRequest(method: .post, url: server.url())
                request.body = Tracked(token: alive.token(), size: [0, 10, 200_000][number % 3])
                request.responseDelivery = number % 2 == 0 ? .buffered : .streamed
                return try await loader.load(request).body.data().count
            }
            // From nothing to 16 ms, each length as likely: a request is cancelled in all its phases on any machine.
            // One in eight is cancelled once it has ended, so that some end however busy the machine is.
            let delay = random.next() % (1 << (random.next() % 15))
            if number / 8 % 8 == 0 {
                _ = await task.result
            } else if delay > 4 {
                try? await Task.sleep(for: .microseconds(delay))
            }
            task.cancel()
            switch await task.result {
            case .success(let count):
                expect(count == 1000, "a body of \(count) bytes")
                return true
            case .failure(let error):
                let isCancelled = error is CancellationError || (error as? HTTPError)?.code == .cancelled
                expect(isCancelled, "an unexpected failure: \(error)")
                return false
            }
        }

        /// How many descriptors and threads there are, once the server has seen the ends of its connections.
        private func settled(at goal: Resources? = nil) async throws -> Resources {
            var last = Resources()
            for _ in 0..<400 {
                try await Task.sleep(for: .milliseconds(50))
                let now = Resources()
                if let goal {
                    if now.isWithin(goal) { return now }
                } else if now == last {
                    return now
                }
                last = now
            }
            if let goal { expect(false, "\(last) are left, there were \(goal)") }
            return last
        }
    }

    /// What the process holds of the system. Its other threads come and go as the runtime pleases.
    struct Resources: Equatable, CustomStringConvertible {
        let descriptors = Self.entries("/proc/self/fd").count
        let threads = Self.entries("/proc/self/task").count { thread in
            (try? String(contentsOfFile: "/proc/self/task/\(thread)/comm", encoding: .utf8)) == "letterhead.curl\n"
        }

        var description: String { "\(descriptors) descriptors and \(threads) of its threads" }

        func isWithin(_ other: Resources) -> Bool { descriptors <= other.descriptors && threads <= other.threads }

        private static func entries(_ path: String) -> [String] {
            (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        }
    }

    /// How many tokens are alive: a request that holds one is not freed before it. A class, since tokens count on it.
    final class Alive: Sendable {
        final class Token: Sendable {
            private let alive: Alive
            init(_ alive: Alive) {
                self.alive = alive
                alive.number.wrappingAdd(1, ordering: .relaxed)
            }
            deinit { alive.number.wrappingSubtract(1, ordering: .relaxed) }
        }

        private let number = Atomic(0)
        var count: Int { number.load(ordering: .relaxed) }
        func token() -> Token { Token(self) }
    }

    /// A body that is pulled, and holds a token.
    struct Tracked: HTTPBody {
        let token: Alive.Token
        let size: Int

        func chunks() -> BodyChunks {
            let box = Once()
            return BodyChunks(length: size) { [size] in box.take() && size > 0 ? Data(count: size) : nil }
        }

        private final class Once: Sendable {
            private let isTaken = Mutex(false)
            func take() -> Bool {
                isTaken.withLock { isTaken in
                    defer { isTaken = true }
                    return !isTaken
                }
            }
        }
    }
#endif
