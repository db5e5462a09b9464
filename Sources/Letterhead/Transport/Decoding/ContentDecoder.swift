// SPDX-License-Identifier: MIT
import CLetterheadZlib
package import LetterheadFoundation
import Synchronization

/// Decompresses a response body (RFC 9110, 8.4), at once or while it is read.
///
/// A body with an unknown content coding is left unchanged, together with its headers. So is a partial response (206):
/// a range refers to the bytes of the compressed representation (RFC 9110, 14.1.2), so the parts must be joined before
/// they can be decompressed.
struct ContentDecoder: Sendable {
    /// The value of `Accept-Encoding`: the codings that this process can decompress.
    static let offered = ContentCoding.allCases.filter(\.isAvailable).map(\.rawValue).joined(separator: ", ")

    private let codings: [ContentCoding]
    private let maximumRatio: Int
    private static let maximumCodings = 5

    /// Creates a decoder. Returns nil if the body isn't compressed, if a coding isn't known, or if the response is
    /// partial (206).
    init?(_ headers: HTTPHeaders, maximumRatio: Int) throws(TransportFailure) {
        guard headers.contains(.contentEncoding), !Self.arePartial(headers) else { return nil }
        let names = ASCII.members(of: headers.values(for: .contentEncoding)).map(ASCII.keyword)
            .filter { $0 != "identity" }
        guard names.count <= Self.maximumCodings else {
            throw TransportFailure(.invalidResponse, "the body has more than \(Self.maximumCodings) content codings")
        }
        codings = names.compactMap { ContentCoding(name: $0) }
        self.maximumRatio = maximumRatio
        if codings.isEmpty || codings.count < names.count { return nil }
    }

    /// Returns whether the headers belong to a partial response (206): a `Content-Range` with a range, or a body with
    /// several ranges.
    ///
    /// The `Content-Range` of a 416 has no range (RFC 9110, 14.4), and its body is complete.
    private static func arePartial(_ headers: HTTPHeaders) -> Bool {
        if headers.values(for: .contentRange).contains(where: { !$0.holds("*/") }) { return true }
        return headers.mediaType?.essence == "multipart/byteranges"
    }

    static func clean(_ headers: inout HTTPHeaders) {
        headers[.contentEncoding] = nil
        headers[.contentLength] = nil
    }

    /// Returns the decompressed body, with at most `limit` bytes.
    func decode(_ data: Data, upTo limit: Int) throws(TransportFailure) -> Data {
        let stack = DecompressorStack(codings, maximumRatio: maximumRatio)
        var decoded = GrowingBytes()
        stack.feed(data)
        while let piece = try stack.next() {
            guard decoded.count + piece.count <= limit else {
                throw TransportFailure(
                    .responseTooLarge, "the decompressed body exceeds its limit (to allow more, raise responseLimit)")
            }
            guard decoded.append(piece) else { throw .noMemory }
        }
        try stack.finish()
        return decoded.take()
    }

    /// Returns a source of decompressed bytes for a source of compressed bytes. Nothing is decompressed before it is
    /// requested.
    func pull(_ source: @escaping @Sendable () async throws -> Data?) -> @Sendable () async throws -> Data? {
        // The reader of a body may move between tasks.
        let stack = Mutex(DecompressorStack(codings, maximumRatio: maximumRatio))
        return {
            while true {
                if let piece = try stack.withLock({ try $0.next() }) { return piece }
                guard let input = try await source() else {
                    try stack.withLock { try $0.finish() }
                    return nil
                }
                stack.withLock { $0.feed(input) }
            }
        }
    }
}

extension HTTPHeaders {
    /// Returns a body without the content codings that these headers declare. Returns nil if they declare no coding or
    /// an unknown one, if the response is partial (206), or if the body is malformed or decompresses to more than
    /// `limit` bytes.
    package func decompressed(_ body: Data, upTo limit: Int) -> Data? {
        guard let decoder = try? ContentDecoder(self, maximumRatio: .max) else { return nil }
        return try? decoder.decode(body, upTo: limit)
    }
}

/// A content coding that can be decompressed (RFC 9110, 8.4.1), with its registered name.
enum ContentCoding: String, CaseIterable, Sendable {
    case gzip
    case deflate
    case brotli = "br"
    case zstd

    /// Creates a coding from its name. Returns nil for an unknown coding, and for a coding that this process cannot
    /// decompress.
    init?(name: String) {
        let coding = name == "x-gzip" ? .gzip : ContentCoding(rawValue: name)
        guard let coding, coding.isAvailable else { return nil }
        self = coding
    }

    /// Whether this process can decompress the coding. zlib is always present. The libraries for the other codings are
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

extension HTTPRequest {
    /// The value of `Accept-Encoding` that a transport adds, or nil if it adds none. A range refers to the compressed
    /// bytes, and a part of them cannot be decompressed.
    func offeredCodings(decodesContent: Bool) -> String? {
        let isAsked = headers.contains(.acceptEncoding) || headers.contains(.range)
        return !decodesContent || isAsked || omittedHeaders.contains(.acceptEncoding) ? nil : ContentDecoder.offered
    }
}
