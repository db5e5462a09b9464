import Foundation

/// Decompresses one content coding of one body. A class, because the libraries keep the address of their state.
protocol Decompressor: AnyObject {
    /// The number of compressed bytes that were consumed.
    var consumed: Int { get }
    /// The number of decompressed bytes that were produced.
    var produced: Int { get }

    /// Sets the next compressed bytes. The previous ones must have been consumed.
    func feed(_ bytes: Data)

    /// Returns the next piece, at most 64 KiB; nil if more compressed bytes are needed.
    func next() throws(DecompressionFault) -> Data?

    /// Checks that the compressed bytes are complete. Zero compressed bytes are accepted as an empty body.
    func finish() throws(DecompressionFault)
}

/// The reason that bytes cannot be decompressed.
enum DecompressionFault: Error {
    case corrupt
    case cutShort
    case surplus
    case bomb
    case limit
    case window
    case memory
}
