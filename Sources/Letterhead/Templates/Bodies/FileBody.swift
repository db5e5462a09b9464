// SPDX-License-Identifier: MIT
public import LetterheadFoundation

/// A body that sends a file, which is read in pieces while the request is sent. Only ``encode()`` holds it in memory as
/// a whole. A transport over `URLSession` copies it to a private file before it sends the request.
///
/// ```swift
/// FileBody(at: url)                       // the extension determines the media type
/// FileBody(at: url, range: 0..<1024)      // the first 1024 bytes
/// ```
///
/// If the file is missing or unreadable, or is a directory, a pipe or a device, the error is
/// ``HTTPBodyError/invalid(_:file:)``, and nothing is sent; so is a range that is not in the file. If the size of the
/// file changes while it is sent, the upload is aborted; a file of which only a range is sent may grow.
public struct FileBody: HTTPBody, SteadyBody {
    public let url: URL
    /// The range of the bytes that are sent; nil for the whole file.
    public let range: Range<Int>?
    public var additionalHeaders: HTTPHeaders

    /// Creates a body from a file, or from a range of its bytes. The file is accessed only when the request is sent. By
    /// default, the extension of the file determines the media type, which is `application/octet-stream` if the extension
    /// is unknown. A Content-Type among the `additionalHeaders` takes precedence.
    public init(
        at url: URL, range: Range<Int>? = nil, contentType: MediaType? = nil, additionalHeaders: HTTPHeaders = [:]
    ) {
        (self.url, self.range) = (url, range)
        self.additionalHeaders = additionalHeaders.describing(
            contentType ?? MediaType(filename: url.lastPathComponent))
    }

    /// The length of the range, or else the current size of the file; nil if the file cannot be sent.
    public var contentLength: Int? { try? RegularFile(url, range).size }

    /// Reads the file, or its range, into memory. To read it in pieces, use ``chunks()``.
    public func encode() throws -> Data {
        let file = try RegularFile(url, range)
        return try file.open().all()
    }

    /// Returns the bytes of the file in pieces of at most 256 KiB. Each call starts at the first byte. The file is
    /// opened when the first piece is requested.
    public func chunks() throws -> BodyChunks {
        let walk = FileWalk(try RegularFile(url, range))
        return BodyChunks(length: walk.file.size) { try await walk.next() }
    }
}

/// Reads a file in pieces. An actor, so that reading does not block the actor of the caller.
actor FileWalk {
    /// The maximum number of bytes that one read returns.
    static let pieceSize = 256 << 10

    let file: RegularFile
    private var open: OpenFile?
    private var left: Int

    init(_ file: RegularFile) {
        self.file = file
        left = file.size
    }

    /// Returns the next piece; nil at the end of the file.
    ///
    /// - Throws: ``HTTPBodyError/invalid(_:file:)`` if the size of the file has changed when all bytes have been read.
    ///   If the file ends early, ``BodyChunks`` throws the error.
    func next() throws -> Data? {
        let open = try open ?? file.open()
        self.open = open
        guard left > 0 else {
            try open.checkEnd()
            return nil
        }
        let piece = try open.read(min(left, Self.pieceSize))
        left -= piece.count
        return piece.isEmpty ? nil : piece
    }
}
