// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import Synchronization
import Testing

@Suite struct BodyChunksTests {
    @Test func `data is one piece and knows its length`() async throws {
        let chunks = BodyChunks(Data("abc".utf8))
        #expect(chunks.data == Data("abc".utf8) && chunks.length == 3)
        #expect(try await pieces(of: chunks) == ["abc"])
    }

    @Test func `empty pieces are omitted`() async throws {
        #expect(try await pieces(of: pulling(["", "a", "", "b"])) == ["a", "b"])
    }

    @Test func `exactly the declared number of bytes is accepted`() async throws {
        #expect(try await pieces(of: pulling(["ab", "c"], length: 3)) == ["ab", "c"])
    }

    @Test(arguments: [2, 4]) func `more or fewer bytes than declared are an error`(length: Int) async {
        await #expect(throws: HTTPBodyError.self) { try await pieces(of: pulling(["ab", "c"], length: length)) }
    }

    @Test func `no byte is delivered after the declared length`() async throws {
        var walk = pulling(["ab", "cd"], length: 3).makeAsyncIterator()
        #expect(try await walk.next() == Data("ab".utf8))
        await #expect(throws: HTTPBodyError.self) { try await walk.next() }
        #expect(try await walk.next() == nil)
    }

    @Test func `the last piece is delivered only when the end has been reached`() async {
        var walk = pulling(["ab", "", "c"], length: 2).makeAsyncIterator()
        await #expect(throws: HTTPBodyError.self) { try await walk.next() }
    }

    @Test(arguments: [-1, 2]) func `a length that contradicts the known one is refused`(length: Int) {
        #expect(throws: HTTPBodyError.self) { try BodyChunks(Data("abc".utf8)).held(to: length) }
    }

    @Test func `an end caused by a cancellation is not the end of the body`() async {
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await pieces(of: pulling(["a"]))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    private func pulling(_ pieces: [String], length: Int? = nil) -> BodyChunks {
        let left = Mutex(pieces[...])
        return BodyChunks(length: length) { left.withLock { $0.popFirst() }.map { Data($0.utf8) } }
    }

    private func pieces(of chunks: BodyChunks) async throws -> [String] {
        var pieces: [String] = []
        for try await chunk in chunks { pieces.append(String(decoding: chunk, as: UTF8.self)) }
        return pieces
    }
}
