// SPDX-License-Identifier: MIT
import CLetterheadZlib
import LetterheadFoundation

/// Compresses bytes to the gzip format with the system zlib. A class, because the zlib state must not move and must be
/// freed.
///
/// It owns the state and the memory for the output until its end. zlib reads the input only within
/// ``deflated(_:isLast:)``.
@safe final class Deflater {
    private static let pieceSize = 64 << 10
    /// The largest input that one call takes, because zlib counts the bytes in 32 bits.
    private static let largestInput = 1 << 30

    private let stream: UnsafeMutablePointer<CZlibStream>
    private let output: UnsafeMutableBufferPointer<UInt8>

    init(level: Int) throws(HTTPBodyError) {
        guard (1...9).contains(level) else {
            throw HTTPBodyError.invalid("the compression level is not in 1...9")
        }
        unsafe output = .allocate(capacity: Self.pieceSize)
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: CZlibStream())
        let status = unsafe czlib_deflate_begin(
            stream, Int32(level), Int32(CZLIB_DEFLATED), Int32(CZLIB_WINDOW_GZIP), Int32(CZLIB_DEFAULT_MEMORY),
            Int32(CZLIB_DEFAULT_STRATEGY), czlib_version(), Int32(MemoryLayout<CZlibStream>.size))
        guard Int(status) == CZLIB_OK else { throw Self.failed(Int(status)) }
    }

    deinit {
        unsafe czlib_deflate_end(stream)
        unsafe stream.deallocate()
        unsafe output.deallocate()
    }

    /// Compresses more bytes and returns the available output. After the last bytes, returns all remaining output.
    func deflated(_ data: Data, isLast: Bool) throws(HTTPBodyError) -> Data {
        var compressed = Data()
        let status = unsafe data.withUnsafeBytes { input in
            var rest = unsafe input[...]
            var status = CZLIB_OK
            repeat {
                let piece = unsafe UnsafeRawBufferPointer(rebasing: rest.prefix(Self.largestInput))
                unsafe rest = rest.dropFirst(piece.count)
                unsafe stream.pointee.next_in = piece.baseAddress?.assumingMemoryBound(to: UInt8.self)
                unsafe stream.pointee.avail_in = UInt32(piece.count)
                repeat {
                    unsafe stream.pointee.next_out = output.baseAddress
                    unsafe stream.pointee.avail_out = UInt32(output.count)
                    status = unsafe Int(
                        czlib_deflate(stream, Int32(isLast && rest.isEmpty ? CZLIB_FINISH : CZLIB_NO_FLUSH)))
                    unsafe compressed.append(contentsOf: output[..<(output.count - Int(stream.pointee.avail_out))])
                } while unsafe status == CZLIB_OK && stream.pointee.avail_out == 0
            } while unsafe !rest.isEmpty
            return status
        }
        // zlib returns CZLIB_BUF_ERROR if it had nothing to do.
        guard isLast ? status == CZLIB_STREAM_END : status == CZLIB_OK || status == CZLIB_BUF_ERROR else {
            throw Self.failed(status)
        }
        return compressed
    }

    private static func failed(_ status: Int) -> HTTPBodyError {
        HTTPBodyError.invalid("zlib cannot compress the body: status \(status)")
    }
}

/// Compresses a body while it is read. An actor, because the position in the body and the state of zlib change.
actor DeflateWalk {
    private let deflater: Deflater
    private var walk: BodyChunks.Iterator
    private var isFinished = false

    init(_ chunks: BodyChunks, level: Int) throws(HTTPBodyError) {
        deflater = try Deflater(level: level)
        walk = chunks.makeAsyncIterator()
    }

    /// Returns the next compressed bytes, or empty data if zlib needs more input. Nil at the end.
    func next() async throws -> Data? {
        guard !isFinished else { return nil }
        var walk = walk
        let chunk = try await walk.next()
        self.walk = walk
        isFinished = chunk == nil
        return try deflater.deflated(chunk ?? Data(), isLast: isFinished)
    }
}
