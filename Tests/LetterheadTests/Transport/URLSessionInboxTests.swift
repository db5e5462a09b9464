// SPDX-License-Identifier: MIT
#if Foundation || canImport(Darwin)
    import Foundation
    import Synchronization
    import Testing

    @testable import Letterhead

    @Suite struct URLSessionInboxTests {
        @Test func `a task is suspended once for any amount that arrives meanwhile, and resumes once`() {
            var inbox = URLSessionInbox()
            var rests: [Bool] = []
            for _ in 0..<4 {
                _ = inbox.add(Data(count: 10), limit: .max)
                rests.append(inbox.beginsRest(above: 15))
            }
            #expect(rests == [false, true, false, false])
            var ends = [inbox.endsRest(upTo: 15)]
            _ = inbox.takeAll()
            ends += [inbox.endsRest(upTo: 15), inbox.endsRest(upTo: 15)]
            #expect(ends == [false, true, false])
            _ = inbox.add(Data(count: 20), limit: .max)
            let restsAgain = inbox.beginsRest(above: 15)
            #expect(restsAgain)
        }

        @Test func `pieces are taken in order, and the rest as a whole`() async throws {
            let shared = SharedInbox()
            for byte in UInt8(0)..<10 { shared.inbox.withLock { _ = $0.add(Data([byte]), limit: 10) } }
            for byte in UInt8(0)..<4 { #expect(try await shared.read() == Data([byte])) }
            #expect(shared.inbox.withLock { $0.heldBytes } == 6)
            #expect(shared.inbox.withLock { $0.takeAll() } == Data([4, 5, 6, 7, 8, 9]))
            #expect(shared.inbox.withLock { $0.heldBytes } == 0)
        }

        @Test func `a task that is not suspended is not resumed`() {
            var inbox = URLSessionInbox()
            let ends = inbox.endsRest(upTo: 15)
            #expect(!ends)
        }

        @Test func `bytes over the limit are not accepted`() {
            var inbox = URLSessionInbox()
            _ = inbox.add(Data(count: 10), limit: 15)
            guard case .overflow = inbox.add(Data(count: 6), limit: 15) else {
                Issue.record("16 bytes were held")
                return
            }
            #expect(inbox.heldBytes == 10)
        }

        @Test func `waiting readers receive pieces and the end in order`() async throws {
            let shared = SharedInbox()
            var readers: [Task<Data?, any Error>] = []
            for count in 1...3 {
                readers.append(Task { try await shared.read() })
                while shared.asked.load(ordering: .acquiring) < count { await Task.yield() }
            }
            guard case .wanted(let first) = shared.inbox.withLock({ $0.add(Data("x".utf8), limit: 1) }) else {
                Issue.record("nobody wanted the piece")
                return
            }
            first.resume(returning: Data("x".utf8))
            for reader in shared.inbox.withLock({ $0.finish(.success(nil)) }) { reader.resume(returning: nil) }
            var pieces: [Data?] = []
            for reader in readers { pieces.append(try await reader.value) }
            #expect(pieces == [Data("x".utf8), nil, nil])
        }
    }

    /// An inbox that several tasks read. A class, because they share it.
    private final class SharedInbox: Sendable {
        let inbox = Mutex(URLSessionInbox())
        let asked = Atomic<Int>(0)

        func read() async throws -> Data? {
            try await withCheckedThrowingContinuation { reader in
                let answer = inbox.withLock { $0.ask(reader) }
                asked.add(1, ordering: .releasing)
                if let answer { reader.resume(with: answer) }
            }
        }
    }
#endif
