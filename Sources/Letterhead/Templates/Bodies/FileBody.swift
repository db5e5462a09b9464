// SPDX-License-Identifier: MIT
public import LetterheadFoundation

/// A body that sends a file, or a range of it, without reading it into memory as a whole.
///
/// ```swift
/// FileBody(at: url)                       // the extension determines the media type
/// FileBody(at: url, range: 0..<1024)      // the first 1024 bytes
/// ```
///
/// Sending reads the file in pieces, and only ``encode()`` reads it as a whole. A transport over `URLSession` copies it
/// to a private file before it sends the request.
///
/// Sending fails with ``HTTPBodyError/invalid(_:file:)`` before anything is sent in these cases:
/// - The file is missing or unreadable.
/// - It is a directory, a pipe or a device.
/// - The range isn't inside the file.
///
/// If the file size changes during the upload, the upload is aborted. With a range, the file may grow.
public struct FileBody: HTTPBody, SteadyBody {
    /// The file that is sent.
    public let url: URL
    /// The range of bytes to send. Nil for the whole file.
    public let range: Range<Int>?
    /// The Content-Type of the body, and the additional headers that you passed.
    public var additionalHeaders: HTTPHeaders

    /// Creates a body from a file, or from a range in it. Nothing accesses the file until you send the request.
    ///
    /// By default, the filename extension determines the media type (`application/octet-stream` for an unknown
    /// extension). A Content-Type among the `additionalHeaders` takes precedence.
    public init(
        at url: URL, range: Range<Int>? = nil, contentType: MediaType? = nil, additionalHeaders: HTTPHeaders = [:]
    ) {
        (self.url, self.range) = (url, range)
        self.additionalHeaders = additionalHeaders.describing(
            contentType ?? MediaType(filename: url.lastPathComponent))
    }

    /// The length of the range, or the current file size if there is no range. Nil if the file cannot be sent.
    public var contentLength: Int? { try? RegularFile(url, range).size }

    /// Reads the file, or its range, into memory. To read it in pieces, use ``chunks()``.
    public func encode() throws -> Data {
        let file = try RegularFile(url, range)
        return try file.open().all()
    }

    /// Returns the file in pieces of at most 256 KiB. Each call starts at the first byte. Requesting the first piece
    /// opens the file.
    public func chunks() throws -> BodyChunks {
        let walk = FileWalk(try RegularFile(url, range))
        return BodyChunks(length: walk.file.size) { try await walk.next() }
    }
}

/// Reads a file in pieces. An actor, so that reading doesn't block the calling actor.
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

    /// Returns the next piece. Nil at the end.
    ///
    /// - Throws: ``HTTPBodyError/invalid(_:file:)`` if the file size has changed after the last byte. If the file ends
    ///   early, ``BodyChunks`` throws the error.
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
