// SPDX-License-Identifier: MIT
import LetterheadFoundation

extension HTTPBody {
    /// Returns this body compressed with gzip (RFC 1952), and adds the header `Content-Encoding`.
    ///
    /// Use it for a large body, and only for a server that accepts compressed requests:
    /// `JSONBody(report).compressed()`.
    ///
    /// - Parameter level: the compression level, from 1 (fastest) to 9 (smallest). Sending with any other level fails
    ///   with ``HTTPBodyError/invalid(_:file:)``. Default: 6.
    public func compressed(level: Int = 6) -> some HTTPBody { CompressedBody(body: self, level: level) }
}

/// Compresses a body with gzip (RFC 1952) while sending it.
///
/// ```swift
/// JSONBody(report).compressed()
/// ```
///
/// The compressed length is known only if the uncompressed body is in memory. The same bytes always have the same
/// compressed form, so a retry sends the same bytes.
struct CompressedBody: SteadyBody {
    let body: any HTTPBody
    let level: Int

    var isEmpty: Bool { body.isEmpty }

    /// The headers of the uncompressed body, with `gzip` as the last Content-Encoding (RFC 9110, 8.4).
    var additionalHeaders: HTTPHeaders {
        var headers = body.additionalHeaders
        headers[.contentEncoding] = headers[.contentEncoding].map { "\($0), gzip" } ?? "gzip"
        return headers
    }

    var isReplayable: Bool { body.isReplayable }

    func mapBodies(_ change: (any HTTPBody) -> any HTTPBody) -> CompressedBody? {
        CompressedBody(body: change(body), level: level)
    }

    func encode() throws -> Data { try Deflater(level: level).deflated(try body.encode(), isLast: true) }

    func chunks() throws -> BodyChunks {
        let chunks = try body.chunks().held(to: body.contentLength)
        if let data = chunks.data { return BodyChunks(try Deflater(level: level).deflated(data, isLast: true)) }
        let walk = try DeflateWalk(chunks, level: level)
        return BodyChunks { try await walk.next() }
    }
}
