// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation
import Synchronization

/// A stored body in an open file. It stays readable after the file is removed.
///
/// The last reader closes the descriptor. The system writes to memory only until its functions return.
final class CacheFileBody: Sendable {
    let count: Int
    private let descriptor: Int32
    private static let pieceSize = 1 << 16

    init(_ descriptor: Int32, count: Int) { (self.descriptor, self.count) = (descriptor, count) }

    deinit { close(descriptor) }

    /// Returns all bytes, or nil if they can't be read or their checksum is different.
    func data(checksum: UInt64) -> Data? {
        guard let data else { return nil }
        var found = CacheChecksum()
        found.append(data)
        return found.value == checksum ? data : nil
    }

    /// All bytes, or nil if the file cannot be read or there is not enough memory.
    var data: Data? {
        guard hasFullSize else { return nil }
        let data = try? Data.filled(count: count, orThrow: CancellationError()) {
            (memory: UnsafeMutableRawBufferPointer) throws(CancellationError) -> Int in
            // The system writes at most as many bytes as there is room for.
            var filled = 0
            while filled < count {
                let length = unsafe pread(
                    descriptor, memory.baseAddress.unsafelyUnwrapped + filled, count - filled, off_t(filled))
                if length < 0, errno == EINTR { continue }
                guard length > 0 else { break }
                filled += length
            }
            return filled
        }
        return data?.count == count ? data : nil
    }

    /// Returns whether the file is complete and has this checksum. It reads the file in pieces.
    func isIntact(checksum: UInt64) -> Bool {
        guard hasFullSize else { return false }
        var found = CacheChecksum()
        var offset = 0
        while offset < count {
            guard let piece = piece(at: offset) else { return false }
            found.append(piece)
            offset += piece.count
        }
        return found.value == checksum
    }

    func makeBody() -> HTTPResponseBody {
        let offset = Mutex(0)
        let pull: @Sendable () async throws -> Data? = {
            try offset.withLock { offset in
                guard offset < self.count else { return nil }
                guard let piece = self.piece(at: offset) else {
                    throw FileCacheFolder.Failure("cannot read a body", code: EIO)
                }
                offset += piece.count
                return piece
            }
        }
        return HTTPResponseBody(length: count, pull: pull, cancel: {})
    }

    private var hasFullSize: Bool {
        var facts = stat()
        return unsafe fstat(descriptor, &facts) == 0 && Int(facts.st_size) == count
    }

    private func piece(at offset: Int) -> Data? {
        var piece = Data(count: min(Self.pieceSize, count - offset))
        while true {
            let length = unsafe piece.withUnsafeMutableBytes {
                unsafe pread(descriptor, $0.baseAddress, $0.count, off_t(offset))
            }
            if length < 0, errno == EINTR { continue }
            guard length > 0 else { return nil }
            return length == piece.count ? piece : piece.prefix(length)
        }
    }
}
