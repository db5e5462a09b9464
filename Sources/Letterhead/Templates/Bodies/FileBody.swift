// SPDX-License-Identifier: MIT
public import Foundation

/// A body that sends a file, which is read in pieces while the request is sent. Only ``encode()`` holds it in memory as
/// a whole. A transport over `URLSession` copies it to a private file before it sends the request.
///
/// ```swift
/// FileBody(at: url)                       // the extension determines the media type
/// ```
///
/// If the file is missing or unreadable, or is a directory, a pipe or a device, the error is
/// ``HTTPBodyError/invalid(_:file:)``, and nothing is sent. If the size of the file changes while it is sent, the
/// upload is aborted.
public struct FileBody: HTTPBody {
    public let url: URL
    public var additionalHeaders: HTTPHeaders

    /// Creates a body from a file, which is accessed only when the request is sent. By default, the extension of the
    /// file determines the media type, which is `application/octet-stream` if the extension is unknown. A Content-Type
    /// among the `additionalHeaders` takes precedence.
    public init(at url: URL, contentType: MediaType? = nil, additionalHeaders: HTTPHeaders = [:]) {
        self.url = url
        self.additionalHeaders = additionalHeaders.describing(
            contentType ?? MediaType(filename: url.lastPathComponent))
    }

    /// The current size of the file; nil if the file cannot be sent.
    public var contentLength: Int? { try? RegularFile(url).size }

    /// Reads the whole file into memory. To read it in pieces, use ``chunks()``.
    public func encode() throws -> Data {
        let file = try RegularFile(url)
        return try file.open().all()
    }

    /// Returns the bytes of the file in pieces of at most 64 KiB. Each call starts at the first byte. The file is
    /// opened when the first piece is requested.
    public func chunks() throws -> BodyChunks {
        let walk = FileWalk(try RegularFile(url))
        return BodyChunks(length: walk.file.size) { try await walk.next() }
    }
}

/// Reads a file in pieces. An actor, so that reading does not block the actor of the caller.
actor FileWalk {
    /// The maximum number of bytes that one read returns.
    static let pieceSize = 64 << 10

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
