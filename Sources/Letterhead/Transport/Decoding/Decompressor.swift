// SPDX-License-Identifier: MIT
import CLetterheadZlib
import LetterheadFoundation

/// Decompresses one content coding of one body. It's a class, because the libraries keep the address of their state.
protocol Decompressor: AnyObject {
    /// The number of compressed bytes that were consumed.
    var consumed: Int { get }
    /// The number of decompressed bytes that were produced.
    var produced: Int { get }

    /// Sets the next compressed bytes. The previous ones must have been consumed.
    func feed(_ bytes: Data)

    /// Returns the next piece, at most 64 KiB, or nil if more compressed bytes are needed.
    func next() throws(DecompressionFault) -> Data?

    /// Checks that the compressed bytes are complete. Zero compressed bytes are accepted as an empty body.
    func finish() throws(DecompressionFault)
}

enum DecompressionFault: Error {
    case corrupt
    case cutShort
    case surplus
    case bomb
    case window
    case memory

    var failure: TransportFailure {
        switch self {
        case .corrupt: TransportFailure(.cannotDecodeResponse, "the compressed body is corrupt")
        case .cutShort: TransportFailure(.cannotDecodeResponse, "the compressed body is truncated")
        case .surplus:
            TransportFailure(.cannotDecodeResponse, "there are bytes after the end of the compressed body")
        case .bomb:
            TransportFailure(
                .responseTooLarge,
                "the ratio of decompressed to compressed bytes exceeds its limit (to allow more, raise "
                    + "maximumDecodingRatio)")
        case .window:
            TransportFailure(
                .cannotDecodeResponse, "the compressed body requires a window of more than 8 MiB (RFC 9659)")
        case .memory: .noMemory
        }
    }
}

/// Decompresses all content codings of a body, the last one first, with at most one piece of each in memory.
///
/// It compares the output of each coding with the bytes received over the connection, so that nested codings cannot
/// multiply the allowed ratio.
///
/// It isn't `Sendable`: if it is shared, the owner must lock it.
final class DecompressorStack {
    private let decompressors: [any Decompressor]
    private let maximumRatio: Int

    /// The ratio is checked only above this size, because a small body of spaces isn't an attack.
    private static let harmlessSize = 16 << 20

    /// Creates the decompressors.
    ///
    /// - Parameters:
    ///   - codings: the codings, in the order in which the server applied them.
    ///   - maximumRatio: the largest allowed ratio of decompressed to compressed bytes.
    init(_ codings: [ContentCoding], maximumRatio: Int) {
        decompressors = codings.reversed().map { $0.makeDecompressor() }
        self.maximumRatio = maximumRatio
    }

    /// Sets the next bytes from the connection. The previous ones must have been consumed.
    func feed(_ bytes: Data) { decompressors[0].feed(bytes) }

    /// Returns the next piece of the body, at most 64 KiB, or nil if more compressed bytes are needed.
    func next() throws(TransportFailure) -> Data? {
        do { return try next(from: decompressors.count - 1) } catch { throw error.failure }
    }

    /// Checks that every coding is complete.
    func finish() throws(TransportFailure) {
        do { for decompressor in decompressors { try decompressor.finish() } } catch { throw error.failure }
    }

    private func next(from index: Int) throws(DecompressionFault) -> Data? {
        while true {
            if let piece = try decompressors[index].next() {
                try judge(decompressors[index])
                return piece
            }
            guard index > 0, let input = try next(from: index - 1) else { return nil }
            decompressors[index].feed(input)
        }
    }

    private func judge(_ decompressor: any Decompressor) throws(DecompressionFault) {
        guard decompressor.produced > Self.harmlessSize else { return }
        if decompressor.produced / max(decompressors[0].consumed, 1) > maximumRatio { throw .bomb }
    }
}

/// Decompresses one content coding of a body with zlib, which the system provides (RFC 1950, 1951, 1952).
///
/// The zlib state must not move in memory, and is freed with this object. zlib uses the input and the output only
/// within ``inflatePiece()``. The type isn't `Sendable`: if it is shared, the owner must lock it.
@safe final class Inflater: Decompressor {
    private let isGzip: Bool
    private let stream: UnsafeMutablePointer<CZlibStream>
    private var input = Data()
    private var isOpen = false
    /// Whether a member has ended. A further member may follow.
    private var isAtEnd = false
    /// Whether zlib has consumed bytes with output that did not fit into the last piece.
    private var hasMore = false
    private(set) var consumed = 0
    private(set) var produced = 0

    private static let pieceSize = 64 << 10

    init(isGzip: Bool) {
        self.isGzip = isGzip
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: CZlibStream())
    }

    deinit {
        if isOpen { unsafe czlib_inflate_end(stream) }
        unsafe stream.deallocate()
    }

    func feed(_ bytes: Data) { input = bytes }

    func next() throws(DecompressionFault) -> Data? {
        while !input.isEmpty || hasMore {
            if !isOpen { try open() }
            if isAtEnd { try beginMember() }
            let piece = try inflatePiece()
            if !piece.isEmpty { return piece }
        }
        return nil
    }

    func finish() throws(DecompressionFault) {
        if isOpen, !isAtEnd { throw .cutShort }
    }

    private func open() throws(DecompressionFault) {
        // Servers send deflate with and without the zlib header that RFC 9110, 8.4.1.2 requires.
        let window = isGzip ? CZLIB_WINDOW_GZIP : hasZlibHead ? CZLIB_WINDOW_ANY : CZLIB_WINDOW_RAW
        let size = unsafe CInt(MemoryLayout<CZlibStream>.size)
        let code = unsafe czlib_inflate_begin(stream, CInt(window), czlib_version(), size)
        guard code == CInt(CZLIB_OK) else { throw .memory }
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
        unsafe czlib_inflate_end(stream)
        (isOpen, isAtEnd) = (false, false)
        unsafe stream.pointee = CZlibStream()
        try open()
    }

    private func inflatePiece() throws(DecompressionFault) -> Data {
        let source = input
        var code = CInt(CZLIB_OK)
        var left = 0
        let piece = try Data.filled(count: Self.pieceSize, orThrow: DecompressionFault.memory) {
            output throws(DecompressionFault) in
            unsafe source.withUnsafeBytes { bytes in
                unsafe stream.pointee.next_in = bytes.bindMemory(to: UInt8.self).baseAddress
                unsafe stream.pointee.avail_in = UInt32(clamping: bytes.count)
                unsafe stream.pointee.next_out = output.bindMemory(to: UInt8.self).baseAddress
                unsafe stream.pointee.avail_out = UInt32(output.count)
                code = unsafe czlib_inflate(stream, CInt(CZLIB_NO_FLUSH))
                left = unsafe bytes.count - Int(UInt32(clamping: bytes.count)) + Int(stream.pointee.avail_in)
                return unsafe output.count - Int(stream.pointee.avail_out)
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

/// Decompresses brotli or Zstandard with the library that the system provides.
///
/// It owns the state of the library. It isn't `Sendable`: if it is shared, the owner must lock it.
@safe final class LibraryDecompressor: Decompressor {
    private let coding: CInt
    private var state: OpaquePointer?
    private var input = Data()
    /// Whether the body or a Zstandard frame has ended. A further frame may follow.
    private var isAtEnd = false
    /// Whether the last piece was full, so that the library may have more output.
    private var hasMore = false
    private(set) var consumed = 0
    private(set) var produced = 0

    private static let pieceSize = 64 << 10

    init(_ coding: CInt) { self.coding = coding }

    deinit {
        if let state = unsafe state { unsafe lh_decompressor_destroy(state) }
    }

    func feed(_ bytes: Data) { input = bytes }

    func next() throws(DecompressionFault) -> Data? {
        while !input.isEmpty || hasMore {
            // A Zstandard body may consist of several frames in sequence (RFC 8878, 3.1). A brotli body is one stream.
            if isAtEnd, coding == CInt(LH_CODING_BROTLI) { throw .surplus }
            let piece = try decompressPiece()
            if !piece.isEmpty { return piece }
        }
        return nil
    }

    func finish() throws(DecompressionFault) {
        if unsafe state != nil, !isAtEnd { throw .cutShort }
    }

    private func decompressPiece() throws(DecompressionFault) -> Data {
        unsafe state = state ?? lh_decompressor_create(coding)
        guard let state = unsafe state else { throw .memory }
        let source = input
        var result = LHDecompression()
        let piece = try Data.filled(count: Self.pieceSize, orThrow: DecompressionFault.memory) {
            output throws(DecompressionFault) in
            result = unsafe Self.decompress(source, into: output, state)
            return result.produced
        }
        try check(result)
        consumed += result.consumed
        produced += piece.count
        input = result.consumed == input.count ? Data() : input.dropFirst(result.consumed)
        isAtEnd = Int(result.outcome) == LH_DECOMPRESS_END
        hasMore = !isAtEnd && piece.count == Self.pieceSize
        return piece
    }

    private static func decompress(
        _ source: Data, into output: UnsafeMutableRawBufferPointer, _ state: OpaquePointer
    ) -> LHDecompression {
        guard let target = unsafe output.bindMemory(to: UInt8.self).baseAddress else { return LHDecompression() }
        return unsafe source.withUnsafeBytes { bytes in
            let input = unsafe bytes.bindMemory(to: UInt8.self).baseAddress
            return unsafe lh_decompress(state, input, bytes.count, target, output.count)
        }
    }

    private func check(_ result: LHDecompression) throws(DecompressionFault) {
        switch Int(result.outcome) {
        case LH_DECOMPRESS_MEMORY: throw .memory
        case LH_DECOMPRESS_WINDOW: throw .window
        case LH_DECOMPRESS_CORRUPT: throw .corrupt
        // Without this check, a call that makes no progress would loop forever.
        case LH_DECOMPRESS_MORE where result.consumed == 0 && result.produced == 0 && !input.isEmpty: throw .corrupt
        default: break
        }
    }
}
