public import Foundation

/// A file, pulled while it is sent: it is never held in memory and never copied.
///
/// ```swift
/// FileBody(at: url)                       // the media type is that of the extension
/// ```
///
/// A file that is missing, unreadable, a directory, a pipe or a device is ``HTTPBodyError/invalid(_:file:)`` before anything is sent; one
/// that changes its size while it is sent breaks the sending off.
public struct FileBody: HTTPBody {
    /// Where the file is.
    public let url: URL
    /// The headers that come with it.
    public var additionalHeaders: HTTPHeaders

    /// Makes a body of a file, which is looked at only when the request is sent.
    ///
    /// - Parameters:
    ///   - url: where the file is.
    ///   - contentType: what it is. Default: by its extension, `application/octet-stream` for an unknown one.
    ///   - additionalHeaders: further headers; a Content-Type among them wins. Default: none.
    public init(at url: URL, contentType: MediaType? = nil, additionalHeaders: HTTPHeaders = [:]) {
        self.url = url
        self.additionalHeaders = additionalHeaders.describing(
            contentType ?? MediaType(filename: url.lastPathComponent))
    }

    /// The size of the file now; nil when it cannot be sent.
    public var contentLength: Int? { try? RegularFile(url).size }

    /// The whole file in memory; ``chunks()`` does not need that.
    ///
    /// - Throws: ``HTTPBodyError/invalid(_:file:)`` when it cannot be sent.
    public func encode() throws -> Data {
        let file = try RegularFile(url)
        return try file.open().all()
    }

    /// The file from its first byte, in pieces of 64 KiB; it is opened when the first one is asked for.
    ///
    /// - Throws: ``HTTPBodyError/invalid(_:file:)`` when it cannot be sent.
    public func chunks() throws -> BodyChunks {
        let walk = FileWalk(try RegularFile(url))
        return BodyChunks(length: walk.file.size) { try await walk.next() }
    }
}

/// One walk over a file. An actor, because it remembers how far it is, and so that reading never blocks a caller's actor.
actor FileWalk {
    /// How much is read at once.
    static let pieceSize = 64 << 10

    let file: RegularFile
    private var open: OpenFile?
    private var left: Int

    init(_ file: RegularFile) {
        self.file = file
        left = file.size
    }

    /// The next piece; nil at the end, when the file still has the size it had at the beginning.
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
