import Foundation

/// Looks for lines that begin as a delimiter does, in content that comes in pieces.
struct BoundaryScanner: Sendable {
    private let delimiter: [UInt8]
    /// The end of what was seen, long enough for a delimiter that is cut, and for the byte before it.
    private var tail: [UInt8] = [0x0A]

    init(boundary: String) { delimiter = Array("--\(boundary)".utf8) }

    /// Whether a delimiter ends in this piece; pieces must come in order, beginning with the first of a part.
    mutating func finds(in piece: Data) -> Bool {
        let seam = tail + piece.prefix(delimiter.count)
        tail = piece.count < delimiter.count ? seam.suffix(delimiter.count) : Array(piece.suffix(delimiter.count))
        return seam.withUnsafeBytes { isHit(in: $0) } || piece.withUnsafeBytes { isHit(in: $0) }
    }

    /// Whether a delimiter stands behind a line break; many parsers take a lone CR or LF for one.
    private func isHit(in bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count > delimiter.count, let base = bytes.baseAddress else { return false }
        var index = 1
        while index <= bytes.count - delimiter.count,
            let dash = memchr(base + index, Int32(UInt8(ascii: "-")), bytes.count - delimiter.count + 1 - index)
        {
            index = UnsafeRawPointer(dash) - base
            let before = bytes[index - 1]
            if before == 0x0A || before == 0x0D, memcmp(dash, delimiter, delimiter.count) == 0 { return true }
            index += 1
        }
        return false
    }
}
