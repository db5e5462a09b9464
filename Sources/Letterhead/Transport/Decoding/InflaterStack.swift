import Foundation

/// Undoes all content codings of one body, the last one first, with no more than one piece of each in memory.
///
/// Each coding's output is measured against the bytes that came over the connection, so that codings inside one another
/// cannot multiply what each of them may do.
///
/// A class, because its inflaters are. It is not `Sendable`: whoever shares it locks it.
final class InflaterStack {
    private let inflaters: [Inflater]
    private let maximumRatio: Int

    /// Ratios are judged only past this size: a small body of blanks is no bomb.
    private static let harmlessSize = 16 << 20

    /// - Parameters:
    ///   - areGzip: the codings in the order in which they were applied: gzip, or deflate.
    ///   - maximumRatio: how many times larger than the coded bytes a body may be.
    init(areGzip: [Bool], maximumRatio: Int) {
        inflaters = areGzip.reversed().map { Inflater(isGzip: $0) }
        self.maximumRatio = maximumRatio
    }

    /// Takes bytes from the connection; those before must be used up.
    func feed(_ bytes: Data) { inflaters[0].feed(bytes) }

    /// The next piece of the body, at most 64 KiB; nil when it needs more bytes.
    func next() throws(Inflater.Fault) -> Data? { try next(from: inflaters.count - 1) }

    /// Checks that every coding ended where it should.
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
