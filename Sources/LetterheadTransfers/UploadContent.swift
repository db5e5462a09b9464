// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// The content of an upload, which can be read from any position, and the facts that identify it.
struct UploadContent: Sendable {
    /// Nil for bytes in memory.
    private let file: FileBody?
    private let bytes: Data
    let length: Int
    /// Where the range begins in the file. Nil for a whole file and for bytes in memory.
    let start: Int?
    /// The modification time of the file, in nanoseconds. For bytes in memory, it is a value that no file has.
    let modified: Int64
    /// The SHA-256 digest in Base64. It is always present for bytes in memory, and on request for a file.
    private(set) var digest: String?
    /// The body headers, such as the media type.
    let headers: HTTPHeaders

    /// Describes the body of a request, and computes its digest if `isHashed` is true.
    ///
    /// - Throws: an error if the body can't be sent, or can be read only from its beginning.
    init(of request: HTTPRequest, isHashed: Bool) async throws {
        // Framing the body inspects a file, and throws if the file can't be sent.
        let chunks = try request.framedBody()
        (file, headers) = (request.body as? FileBody, request.body.additionalHeaders)
        (bytes, start) = (chunks.data ?? Data(), file?.range?.lowerBound)
        guard let length = file == nil ? chunks.data?.count : chunks.length else {
            throw HTTPBodyError.invalid("the content of an upload must be a FileBody or a body in memory")
        }
        self.length = length
        modified = try file.map { try Self.modification(of: $0.url) } ?? .min
        // On some systems, special files have a size of zero although they contain bytes. Reading such a file throws
        // here.
        if file != nil, length == 0 { for try await _ in chunks {} }
        if isHashed || file == nil { digest = try await digest(of: 0..<length) }
    }

    /// The file name, or an empty string.
    var name: String { file?.url.lastPathComponent ?? "" }

    /// Identifies the content if the caller has no key for it: the file path and range, or the digest.
    var identity: String {
        guard let file else { return digest ?? "" }
        return file.url.standardizedFileURL.filePath + (file.range.map { " \($0)" } ?? "")
    }

    /// Whether a file still has its size and its modification time.
    var isUnchanged: Bool {
        guard let file else { return true }
        return (try? file.chunks().length) == length && (try? Self.modification(of: file.url)) == modified
    }

    /// Whether an earlier upload has the same content. Digests are compared only if both uploads have one.
    func isSame(as earlier: UnfinishedUpload) -> Bool {
        (earlier.byteCount, earlier.modified, earlier.start) == (length, modified, start)
            && (digest == nil || earlier.digest == nil || digest == earlier.digest)
    }

    /// Returns a body with a range of the content. It has no media type, because the request sets it.
    func body(_ range: Range<Int>) -> any HTTPBody {
        guard let file else { return DataBody(bytes.dropFirst(range.lowerBound).prefix(range.count)) }
        let start = start ?? 0
        return FileBody(at: file.url, range: start + range.lowerBound..<start + range.upperBound)
    }

    func digest(of range: Range<Int>) async throws -> String {
        Data(try await body(range).sha256()).base64EncodedString()
    }

    private static func modification(of file: URL) throws -> Int64 {
        var facts = stat()
        // The system reads the path, and writes the facts, only until it returns.
        guard unsafe stat(file.filePath, &facts) == 0 else { throw POSIXError.last }
        return SystemTime.modification(of: facts)
    }
}
