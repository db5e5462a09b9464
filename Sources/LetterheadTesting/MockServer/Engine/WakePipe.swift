// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// A pipe with which other threads end the loop's wait in `poll`.
struct WakePipe: Sendable {
    let output: Int32
    private let input: Int32

    init() throws(SocketFailure) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw SocketFailure("pipe") }
        output = ends[0]
        input = ends[1]
        SystemSocket.makeNonblocking(output)
        SystemSocket.makeNonblocking(input)
    }

    /// Ends the wait. If the pipe is full, the wait has already ended.
    func wake() {
        var byte: UInt8 = 1
        _ = write(input, &byte, 1)
    }

    /// Reads what was written, so that the next wait blocks again.
    func drain() {
        var bytes: (UInt64, UInt64) = (0, 0)
        while read(output, &bytes, MemoryLayout.size(ofValue: bytes)) == MemoryLayout.size(ofValue: bytes) {}
    }

    func release() {
        _ = close(input)
        _ = close(output)
    }
}
