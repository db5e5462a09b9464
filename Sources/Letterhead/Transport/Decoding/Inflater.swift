import CLetterheadZlib
import Foundation

/// Undoes one content coding of one body over the system's zlib (RFC 1950, 1951, 1952).
///
/// A class, since zlib's state must stay where it is. It is not `Sendable`: whoever shares it locks it.
final class Inflater {
    /// Why the bytes are none of the coding.
    enum Fault: Error {
        case corrupt
        case cutShort
        case surplus
        case bomb
        case limit
        case memory
    }

    private let isGzip: Bool
    private let stream: UnsafeMutablePointer<CZlibStream>
    private var input = Data()
    private var isOpen = false
    /// Whether the end of a member was seen, behind which another may begin.
    private var isAtEnd = false
    /// How many coded bytes it has used up.
    private(set) var consumed = 0
    /// How many bytes it has made of them.
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

    /// Gives it coded bytes; those before must be used up.
    func feed(_ bytes: Data) { input = bytes }

    /// The next piece, at most 64 KiB; nil when it needs more coded bytes.
    func next() throws(Fault) -> Data? {
        while !input.isEmpty {
            if !isOpen { try open() }
            if isAtEnd { try beginMember() }
            let piece = try inflatePiece()
            if !piece.isEmpty { return piece }
        }
        return nil
    }

    /// Checks that the coded bytes ended where the coding says; no bytes at all are an empty body.
    func finish() throws(Fault) {
        if isOpen, !isAtEnd { throw .cutShort }
    }

    private func open() throws(Fault) {
        // Servers send deflate with and without the zlib head that RFC 9110, 8.4.1.2 asks for.
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

    /// A gzip body may have several members, one behind the other (RFC 1952, 2.2).
    private func beginMember() throws(Fault) {
        guard isGzip else { throw .surplus }
        czlib_inflate_end(stream)
        (isOpen, isAtEnd) = (false, false)
        stream.pointee = CZlibStream()
        try open()
    }

    private func inflatePiece() throws(Fault) -> Data {
        let source = input
        var code = CInt(CZLIB_OK)
        var left = 0
        let piece = try Data.filled(count: Self.pieceSize, orThrow: Fault.memory) { output throws(Fault) in
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
        let isFine = code == CInt(CZLIB_OK) || isAtEnd || code == CInt(CZLIB_BUF_ERROR)
        guard isFine else { throw .corrupt }
        return piece
    }
}
