import Foundation

/// Decompresses all content codings of one body, the last one first, with at most one piece of each in memory.
///
/// The output of each coding is compared with the bytes that were received over the connection, so that nested codings
/// cannot multiply the allowed ratio.
///
/// It is a class, because its decompressors are classes. It is not `Sendable`: if it is shared, the owner must lock it.
final class DecompressorStack {
    private let decompressors: [any Decompressor]
    private let maximumRatio: Int

    /// The ratio is checked only above this size, because a small body of spaces is not an attack.
    private static let harmlessSize = 16 << 20

    /// - Parameters:
    ///   - codings: the codings in the order in which they were applied.
    ///   - maximumRatio: the largest allowed ratio of decompressed to compressed bytes.
    init(_ codings: [ContentCoding], maximumRatio: Int) {
        decompressors = codings.reversed().map { $0.makeDecompressor() }
        self.maximumRatio = maximumRatio
    }

    /// Sets the next bytes from the connection. The previous ones must have been consumed.
    func feed(_ bytes: Data) { decompressors[0].feed(bytes) }

    /// Returns the next piece of the body, at most 64 KiB; nil if more bytes are needed.
    func next() throws(DecompressionFault) -> Data? { try next(from: decompressors.count - 1) }

    /// Checks that every coding is complete.
    func finish() throws(DecompressionFault) {
        for decompressor in decompressors { try decompressor.finish() }
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
