import CLetterheadZlib

/// A content coding that can be decompressed (RFC 9110, 8.4.1), with its registered name.
enum ContentCoding: String, CaseIterable, Sendable {
    case gzip
    case deflate
    /// Brotli (RFC 7932).
    case brotli = "br"
    /// Zstandard (RFC 8878).
    case zstd

    /// Returns nil for an unknown coding, and for one that this process cannot decompress.
    init?(name: String) {
        let coding = name == "x-gzip" ? .gzip : ContentCoding(rawValue: name)
        guard let coding, coding.isAvailable else { return nil }
        self = coding
    }

    /// Whether this process can decompress the coding. zlib is always present; the libraries of the other codings are
    /// opened at run time.
    var isAvailable: Bool {
        switch self {
        case .gzip, .deflate: true
        case .brotli: lh_coding_is_available(CInt(LH_CODING_BROTLI)) != 0
        case .zstd: lh_coding_is_available(CInt(LH_CODING_ZSTD)) != 0
        }
    }

    func makeDecompressor() -> any Decompressor {
        switch self {
        case .gzip: Inflater(isGzip: true)
        case .deflate: Inflater(isGzip: false)
        case .brotli: LibraryDecompressor(CInt(LH_CODING_BROTLI))
        case .zstd: LibraryDecompressor(CInt(LH_CODING_ZSTD))
        }
    }
}
