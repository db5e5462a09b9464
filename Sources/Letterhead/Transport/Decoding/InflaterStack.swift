import Foundation

/// Decompresses all content codings of one body, the last one first, with at most one piece of each in memory.
///
/// The output of each coding is compared with the bytes that were received over the connection, so that nested codings
/// cannot multiply the allowed ratio.
///
/// It is a class, because its inflaters are classes. It is not `Sendable`: if it is shared, the owner must lock it.
final class InflaterStack {
    private let inflaters: [Inflater]
    private let maximumRatio: Int

    /// The ratio is checked only above this size, because a small body of spaces is not an attack.
    private static let harmlessSize = 16 << 20

    /// - Parameters:
    ///   - areGzip: the codings in the order in which they were applied: true for gzip, false for deflate.
    ///   - maximumRatio: the largest allowed ratio of decompressed to compressed bytes.
    init(areGzip: [Bool], maximumRatio: Int) {
        inflaters = areGzip.reversed().map { Inflater(isGzip: $0) }
        self.maximumRatio = maximumRatio
    }

    /// Sets the next bytes from the connection. The previous ones must have been consumed.
    func feed(_ bytes: Data) { inflaters[0].feed(bytes) }

    /// Returns the next piece of the body, at most 64 KiB; nil if more bytes are needed.
    func next() throws(Inflater.Fault) -> Data? { try next(from: inflaters.count - 1) }

    /// Checks that every coding is complete.
    func finish() throws(Inflater.Fault) {
        for inflater in inflaters { try inflater.finish() }
    }

    private func next(from index: Int) throws(Inflater.Fault) -> Data? {
        while true {
            if let piece = try inflaters[index].next() {
                try judge(inflaters[index])
                return piece
            }
            guard index > 0, let input = try next(from: index - 1) else { return nil }
            inflaters[index].feed(input)
        }
    }

    private func judge(_ inflater: Inflater) throws(Inflater.Fault) {
        guard inflater.produced > Self.harmlessSize else { return }
        if inflater.produced / max(inflaters[0].consumed, 1) > maximumRatio { throw .bomb }
    }
}
