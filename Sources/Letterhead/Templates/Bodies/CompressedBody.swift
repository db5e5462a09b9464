// SPDX-License-Identifier: MIT
import LetterheadFoundation

extension HTTPBody {
    /// Returns this body compressed with gzip (RFC 1952), with a `Content-Encoding` header. The server must support
    /// compressed requests.
    ///
    /// - Parameter level: the compression level, from 1 (fastest) to 9 (smallest). Any other level is
    ///   ``HTTPBodyError/invalid(_:file:)`` when the request is sent. Default: 6.
    public func compressed(level: Int = 6) -> some HTTPBody { CompressedBody(self, level: level) }
}

/// A body that is compressed with gzip (RFC 1952) while it is sent.
///
/// ```swift
/// JSONBody(report).compressed()
/// ```
///
/// The compressed length is known only if the uncompressed body is in memory. The same bytes always have the same
/// compressed form, so a retry sends the same bytes.
struct CompressedBody: SteadyBody {
    private let body: any HTTPBody
    private let level: Int

    init(_ body: any HTTPBody, level: Int) {
        (self.body, self.level) = (body, level)
    }

    var isEmpty: Bool { body.isEmpty }

    /// The headers of the body, with `gzip` as the last of its Content-Encodings (RFC 9110, 8.4).
    var additionalHeaders: HTTPHeaders {
        var headers = body.additionalHeaders.httpHeaders
        headers[.contentEncoding] = headers[.contentEncoding].map { "\($0), gzip" } ?? "gzip"
        return headers
    }

    var isReplayable: Bool { body.isReplayable }

    func mapBodies(_ change: (any HTTPBody) -> any HTTPBody) -> CompressedBody? {
        CompressedBody(change(body), level: level)
    }

    func encode() throws -> Data { try Deflater(level: level).deflated(try body.encode(), isLast: true) }

    func chunks() throws -> BodyChunks {
        let chunks = try body.chunks().held(to: body.contentLength)
        if let data = chunks.data { return BodyChunks(try Deflater(level: level).deflated(data, isLast: true)) }
        let walk = try DeflateWalk(chunks, level: level)
        return BodyChunks { try await walk.next() }
    }
}
