import Foundation

extension HTTPBody {
    /// The same body compressed with gzip (RFC 1952), and labelled so; the server must be known to take it.
    ///
    /// - Parameter level: from 1, the fastest, to 9, the smallest. Default: 6. Another one is ``HTTPBodyError/invalid(_:file:)`` at the load.
    public func compressed(level: Int = 6) -> some HTTPBody { CompressedBody(self, level: level) }
}

/// Another body, compressed with gzip (RFC 1952) while it is sent.
///
/// ```swift
/// JSONBody(report).compressed()
/// ```
///
/// Its length is known only when it is in memory. The same bytes are compressed to the same bytes, so a retry sends them
/// again.
struct CompressedBody: HTTPBody {
    private let body: any HTTPBody
    private let level: Int

    init(_ body: any HTTPBody, level: Int) {
        (self.body, self.level) = (body, level)
    }

    /// Whether there is nothing to compress.
    var isEmpty: Bool { body.isEmpty }

    /// The headers of the body, and `gzip` as the last of its Content-Encodings (RFC 9110, 8.4).
    var additionalHeaders: HTTPHeaders {
        var headers = body.additionalHeaders
        headers[.contentEncoding] = headers[.contentEncoding].map { "\($0), gzip" } ?? "gzip"
        return headers
    }

    /// Whether the body can be had again.
    var isReplayable: Bool { body.isReplayable }

    /// Which member of the body has a type that the library does not read.
    var _misfit: String? { body._misfit }

    /// The compressed bytes, in memory.
    ///
    /// - Throws: what the body throws, and ``HTTPBodyError/invalid(_:file:)`` for a level that there is not.
    func encode() throws -> Data { try Deflater(level: level).finish(try body.encode()) }

    /// The compressed bytes, made piece by piece of those of the body.
    ///
    /// - Throws: what the body throws, and ``HTTPBodyError/invalid(_:file:)`` for a level that there is not.
    func chunks() throws -> BodyChunks {
        let chunks = try body.chunks().held(to: body.contentLength)
        if let data = chunks.data { return BodyChunks(try Deflater(level: level).finish(data)) }
        let walk = try DeflateWalk(chunks, level: level)
        return BodyChunks { try await walk.next() }
    }
}
