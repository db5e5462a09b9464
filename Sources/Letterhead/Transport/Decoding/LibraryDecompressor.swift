import CLetterheadZlib
import Foundation

/// Decompresses brotli or Zstandard with the library of the system.
///
/// It is not `Sendable`: if it is shared, the owner must lock it.
final class LibraryDecompressor: Decompressor {
    private let coding: CInt
    private var state: OpaquePointer?
    private var input = Data()
    /// Whether the end of the body, or of a Zstandard frame, has been reached. Another frame may follow.
    private var isAtEnd = false
    /// Whether the last piece was full, so that the library may have more output.
    private var hasMore = false
    private(set) var consumed = 0
    private(set) var produced = 0

    private static let pieceSize = 64 << 10

    init(_ coding: CInt) { self.coding = coding }

    deinit {
        if let state { lh_decompressor_destroy(state) }
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
        if state != nil, !isAtEnd { throw .cutShort }
    }

    private func decompressPiece() throws(DecompressionFault) -> Data {
        state = state ?? lh_decompressor_create(coding)
        guard let state else { throw .memory }
        let source = input
        var result = LHDecompression()
        let piece = try Data.filled(count: Self.pieceSize, orThrow: DecompressionFault.memory) {
            output throws(DecompressionFault) in
            result = Self.decompress(source, into: output, state)
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
        guard let target = output.bindMemory(to: UInt8.self).baseAddress else { return LHDecompression() }
        return source.withUnsafeBytes { bytes in
            let input = bytes.bindMemory(to: UInt8.self).baseAddress
            return lh_decompress(state, input, bytes.count, target, output.count)
        }
    }

    private func check(_ result: LHDecompression) throws(DecompressionFault) {
        switch Int(result.outcome) {
        case LH_DECOMPRESS_MEMORY: throw .memory
        case LH_DECOMPRESS_WINDOW: throw .window
        case LH_DECOMPRESS_CORRUPT: throw .corrupt
        // Without this check, a call that makes no progress would be repeated forever.
        case LH_DECOMPRESS_MORE where result.consumed == 0 && result.produced == 0 && !input.isEmpty: throw .corrupt
        default: break
        }
    }
}
