// SPDX-License-Identifier: MIT
import Foundation
import Testing

@testable import Letterhead

@Suite(.timeLimit(.minutes(1)))
struct ReceivePipeTests {
    /// Writes pieces until one is refused. Returns how many bytes were taken.
    private func fill(_ pipe: ReceivePipe, pieceSize: Int) -> Int {
        let piece = [UInt8](repeating: 7, count: pieceSize)
        var count = 0
        while count < 8 << 20 {
            guard case .taken = piece.withUnsafeBytes({ pipe.write($0) }) else { break }
            count += pieceSize
        }
        return count
    }

    @Test(arguments: [1000, 16_384, 16_385, 100_000, 300_000])
    func `at most 1 MiB and two blocks wait for a reader, for every size of the pieces`(size: Int) {
        #expect((1 << 20...3 << 19).contains(fill(ReceivePipe(), pieceSize: size)))
    }

    @Test(arguments: [1000, 16_384, 16_385])
    func `a reader receives every byte, and reports once that there is room`(size: Int) throws {
        let pipe = ReceivePipe()
        var (left, reports) = (fill(pipe, pieceSize: size), 0)
        pipe.flush()
        while let step = try pipe.take() {
            #expect(step.bytes.allSatisfy { $0 == 7 } && step.bytes.count <= 256 << 10)
            left -= step.bytes.count
            if step.isRoomMade { reports += 1 }
        }
        #expect(left == 0 && reports == 1)
        #expect(fill(pipe, pieceSize: size) >= 1 << 20)
    }

    @Test func `a transfer without a reader ends, and does not receive the rest of the body`() {
        let pipe = ReceivePipe()
        pipe.end(.cancelled)
        let piece = [UInt8](repeating: 7, count: 300_000)
        var isRefused = false
        for _ in 0..<3 {
            if case .cancelled = piece.withUnsafeBytes({ pipe.write($0) }) { isRefused = true }
        }
        #expect(isRefused)
    }

    @Test func `small pieces that arrive one by one are joined while the pipe is not read`() throws {
        let pipe = ReceivePipe()
        for _ in 0..<1000 {
            _ = [UInt8](repeating: 1, count: 100).withUnsafeBytes { pipe.write($0) }
            pipe.flush()
        }
        pipe.end()
        #expect(try pipe.take()?.bytes.count == 100_000)
        #expect(try pipe.take()?.bytes.isEmpty == true)
    }

    @Test func `bytes that the reader stores do not change when more arrive`() throws {
        let pipe = ReceivePipe()
        var kept: [Data] = []
        for byte in UInt8(1)...20 {
            _ = [UInt8](repeating: byte, count: 256 << 10).withUnsafeBytes { pipe.write($0) }
            kept.append(try #require(try pipe.take()).bytes)
        }
        for (data, byte) in zip(kept, UInt8(1)...20) { #expect(data == Data(repeating: byte, count: 256 << 10)) }
    }
}
