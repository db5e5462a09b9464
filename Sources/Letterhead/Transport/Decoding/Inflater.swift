import CLetterheadZlib
import Foundation

/// Decompresses one content coding of one body with the system's zlib (RFC 1950, 1951, 1952).
///
/// It is a class, because zlib's state must not move in memory. It is not `Sendable`: if it is shared, the owner must
/// lock it.
final class Inflater: Decompressor {
    private let isGzip: Bool
    private let stream: UnsafeMutablePointer<CZlibStream>
    private var input = Data()
    private var isOpen = false
    /// Whether the end of a member has been reached. Another member may follow.
    private var isAtEnd = false
    /// Whether zlib has consumed bytes whose output did not fit into the last piece.
    private var hasMore = false
    /// The number of compressed bytes that were consumed.
    private(set) var consumed = 0
    /// The number of decompressed bytes that were produced.
    private(set) var produced = 0

    private static let pieceSize = 64 << 10

    init(isGzip: Bool) {
        self.isGzip = isGzip
        stream = .allocate(capacity: 1)
        stream.initialize(to: CZlibStream())
    }

    deinit {
        if isOpen { czlib_inflate_end(stream) }
        stream.deallocate()
    }

    /// Sets the next compressed bytes. The previous ones must have been consumed.
    func feed(_ bytes: Data) { input = bytes }

    /// Returns the next piece, at most 64 KiB; nil if more compressed bytes are needed.
    func next() throws(DecompressionFault) -> Data? {
        while !input.isEmpty || hasMore {
            if !isOpen { try open() }
            if isAtEnd { try beginMember() }
            let piece = try inflatePiece()
            if !piece.isEmpty { return piece }
        }
        return nil
    }

    /// Checks that the compressed bytes are complete. Zero compressed bytes are accepted as an empty body.
    func finish() throws(DecompressionFault) {
        if isOpen, !isAtEnd { throw .cutShort }
    }

    private func open() throws(DecompressionFault) {
        // Servers send deflate with and without the zlib header that RFC 9110, 8.4.1.2 requires.
        let window = isGzip ? CZLIB_WINDOW_GZIP : hasZlibHead ? CZLIB_WINDOW_ANY : CZLIB_WINDOW_RAW
        let size = CInt(MemoryLayout<CZlibStream>.size)
        guard czlib_inflate_begin(stream, CInt(window), czlib_version(), size) == CInt(CZLIB_OK) else { throw .memory }
        isOpen = true
    }

    private var hasZlibHead: Bool {
        guard let first = input.first else { return false }
        let second = input.dropFirst().first ?? 0x9C
        return first & 0x0F == 8 && (Int(first) << 8 | Int(second)) % 31 == 0
    }

    /// Begins the next member. A gzip body may consist of several members in sequence (RFC 1952, 2.2).
    private func beginMember() throws(DecompressionFault) {
        guard isGzip else { throw .surplus }
        czlib_inflate_end(stream)
        (isOpen, isAtEnd) = (false, false)
        stream.pointee = CZlibStream()
        try open()
    }

    private func inflatePiece() throws(DecompressionFault) -> Data {
        let source = input
        var code = CInt(CZLIB_OK)
        var left = 0
        let piece = try Data.filled(count: Self.pieceSize, orThrow: DecompressionFault.memory) {
            output throws(DecompressionFault) in
            source.withUnsafeBytes { bytes in
                stream.pointee.next_in = bytes.bindMemory(to: UInt8.self).baseAddress
                stream.pointee.avail_in = UInt32(clamping: bytes.count)
                stream.pointee.next_out = output.bindMemory(to: UInt8.self).baseAddress
                stream.pointee.avail_out = UInt32(output.count)
                code = czlib_inflate(stream, CInt(CZLIB_NO_FLUSH))
                left = bytes.count - Int(UInt32(clamping: bytes.count)) + Int(stream.pointee.avail_in)
                return output.count - Int(stream.pointee.avail_out)
            }
        }
        consumed += input.count - left
        produced += piece.count
        input = left == 0 ? Data() : input.suffix(left)
        isAtEnd = code == CInt(CZLIB_STREAM_END)
        hasMore = !isAtEnd && piece.count == Self.pieceSize
        let isFine = code == CInt(CZLIB_OK) || isAtEnd || code == CInt(CZLIB_BUF_ERROR)
        guard isFine else { throw .corrupt }
        return piece
    }
}
