// SPDX-License-Identifier: MIT
import CLetterheadZlib
import LetterheadFoundation

/// Compresses bytes in the gzip format with the system's zlib. A class, because the state of zlib must not move and
/// must be freed.
final class Deflater {
    private static let pieceSize = 64 << 10
    /// The largest input of one call, because zlib counts the bytes in 32 bits.
    private static let largestInput = 1 << 30

    private let stream: UnsafeMutablePointer<CZlibStream>
    private let output: UnsafeMutableBufferPointer<UInt8>

    init(level: Int) throws(HTTPBodyError) {
        guard (1...9).contains(level) else {
            throw HTTPBodyError.invalid("the compression level is not in 1...9")
        }
        output = .allocate(capacity: Self.pieceSize)
        stream = .allocate(capacity: 1)
        stream.initialize(to: CZlibStream())
        let status = czlib_deflate_begin(
            stream, Int32(level), Int32(CZLIB_DEFLATED), Int32(CZLIB_WINDOW_GZIP), Int32(CZLIB_DEFAULT_MEMORY),
            Int32(CZLIB_DEFAULT_STRATEGY), czlib_version(), Int32(MemoryLayout<CZlibStream>.size))
        guard Int(status) == CZLIB_OK else { throw Self.failed(status) }
    }

    deinit {
        czlib_deflate_end(stream)
        stream.deallocate()
        output.deallocate()
    }

    /// Compresses more bytes, and returns the output that is available.
    func add(_ data: Data) throws(HTTPBodyError) -> Data { try deflated(data, isLast: false) }

    /// Compresses the last bytes, and returns the rest of the output.
    func finish(_ data: Data) throws(HTTPBodyError) -> Data { try deflated(data, isLast: true) }

    private func deflated(_ data: Data, isLast: Bool) throws(HTTPBodyError) -> Data {
        var compressed = Data()
        let status = data.withUnsafeBytes { input in
            var rest = input
            while true {
                let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.largestInput))
                rest = UnsafeRawBufferPointer(rebasing: rest[piece.count...])
                let status = run(piece, flush: isLast && rest.isEmpty ? CZLIB_FINISH : CZLIB_NO_FLUSH, to: &compressed)
                if rest.isEmpty || (Int(status) != CZLIB_OK && Int(status) != CZLIB_BUF_ERROR) { return status }
            }
        }
        switch Int(status) {
        case CZLIB_STREAM_END where isLast: return compressed
        // zlib returns CZLIB_BUF_ERROR if it had nothing to do.
        case CZLIB_OK where !isLast, CZLIB_BUF_ERROR where !isLast: return compressed
        default: throw Self.failed(status)
        }
    }

    /// Passes one piece to zlib, and appends all available output.
    private func run(_ input: UnsafeRawBufferPointer, flush: Int, to compressed: inout Data) -> Int32 {
        stream.pointee.next_in = input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        stream.pointee.avail_in = UInt32(input.count)
        while true {
            stream.pointee.next_out = output.baseAddress
            stream.pointee.avail_out = UInt32(output.count)
            let status = czlib_deflate(stream, Int32(flush))
            compressed.append(contentsOf: output[..<(output.count - Int(stream.pointee.avail_out))])
            if Int(status) != CZLIB_OK || stream.pointee.avail_out > 0 { return status }
        }
    }

    private static func failed(_ status: Int32) -> HTTPBodyError {
        HTTPBodyError.invalid("zlib cannot compress the body: status \(status)")
    }
}

/// Compresses a body while it is read.
actor DeflateWalk {
    private let deflater: Deflater
    private var walk: BodyChunks.Iterator
    private var isFinished = false

    init(_ chunks: BodyChunks, level: Int) throws(HTTPBodyError) {
        deflater = try Deflater(level: level)
        walk = chunks.makeAsyncIterator()
    }

    /// Returns the next compressed bytes, which are empty if zlib needs more input; nil at the end.
    func next() async throws -> Data? {
        guard !isFinished else { return nil }
        var walk = walk
        let chunk = try await walk.next()
        self.walk = walk
        if let chunk { return try deflater.add(chunk) }
        isFinished = true
        return try deflater.finish(Data())
    }
}
