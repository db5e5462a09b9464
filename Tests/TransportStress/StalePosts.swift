// SPDX-License-Identifier: MIT
#if os(Linux) && DEBUG
    import Foundation
    @testable import Letterhead
    import TestKit
    import Synchronization

    /// POSTs with unique ids against a server that closes kept connections at random moments: each id arrives at most
    /// once, and each outcome is what the server did.
    struct StalePosts {
        let count: Int

        private final class Record: Sendable {
            struct Contents {
                var arrivals: [Int: Int] = [:]
                var answered: Set<Int> = []
                var closesOnReuse = 0
                var reused = 0
            }
            let contents = Mutex(Contents())
        }

        func run() async throws {
            let (record, loader) = (Record(), CurlLoader())
            let server = RawServer { connection, number in
                var random = SeededGenerator(seed: UInt64(number))
                serve(connection, record, &random)
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for lane in 0..<16 {
                    group.addTask {
                        for id in stride(from: lane, to: count, by: 16) {
                            let outcome = await outcome(of: id, server, loader)
                            if outcome.isReused { record.contents.withLock { $0.reused += 1 } }
                            try judge(id, outcome.isSuccess, record)
                        }
                    }
                }
                try await group.waitForAll()
            }
            let contents = record.contents.withLock { $0 }
            let (most, share) = (contents.arrivals.values.max() ?? 0, Double(contents.reused) / Double(count))
            expect(most == 1, "an id arrived \(most) times")
            expect(share >= 0.5, "only \(share) of the answers came on kept connections")
            expect(contents.closesOnReuse >= count / 10, "only \(contents.closesOnReuse) closes on kept connections")
            print(
                "ok: \(count) posts, \(contents.answered.count) answered, \(contents.closesOnReuse) closes on kept "
                    + "connections, \(server.connectionCount) connections, each id at most once")
        }

        private func outcome(
            of id: Int, _ server: RawServer, _ loader: CurlLoader
        ) async -> (isSuccess: Bool, isReused: Bool) {
            var request = HTTPRequest(method: .post, url: server.url("/\(id)"))
            // Empty, with the head, and pulled from memory: libcurl sends each again by itself.
            request.body = DataBody(Data(count: [0, 500, 100_000][id % 3]))
            do {
                let response = try await loader.load(request)
                return (response.status == 200, response.metrics.isReusedConnection)
            } catch {
                expect(
                    error.code == .connectionLost && error.mayHaveBeenSent, "an unexpected failure: \(error)")
                return (false, false)
            }
        }

        private func judge(_ id: Int, _ isSuccess: Bool, _ record: Record) throws {
            let wasAnswered = record.contents.withLock { $0.answered.contains(id) }
            expect(
                isSuccess == wasAnswered, "id \(id): the caller was told \(isSuccess), the server did \(wasAnswered)")
        }

        /// Answers, and closes at a moment that the numbers choose: in idleness, or under a request.
        private func serve(_ connection: RawConnection, _ record: Record, _ random: inout SeededGenerator) {
            var served = 0
            while let head = connection.readHead() {
                let parts = head.split(separator: " ")
                guard let id = Int(parts[1].dropFirst()) else { fail("an unknown request: \(parts[1])") }
                record.contents.withLock { $0.arrivals[id, default: 0] += 1 }
                let fate = random.next() % 20
                let mustClose = served > 0 && fate < 4
                if mustClose { record.contents.withLock { $0.closesOnReuse += 1 } }
                if mustClose, fate == 0 { return connection.reset() }
                if mustClose, fate == 1 { return connection.close() }
                guard connection.read([0, 500, 100_000][id % 3]) != nil else { return }
                if mustClose { return fate == 2 ? connection.reset() : connection.close() }
                record.contents.withLock { _ = $0.answered.insert(id) }
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                served += 1
                if fate == 5 { return connection.close() }
            }
        }
    }
#endif
