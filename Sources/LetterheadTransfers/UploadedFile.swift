// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// A file, and what identifies its content.
struct UploadedFile: Sendable {
    let url: URL
    let length: Int
    /// The time of its last modification, in nanoseconds.
    let modified: Int64
    /// The SHA-256 digest in Base64, if asked for.
    var digest: String?

    /// - Throws: ``HTTPBodyError`` if the file cannot be sent.
    init(_ url: URL) throws {
        // It inspects the file.
        let length = try FileBody(at: url).chunks().length
        var facts = stat()
        // The system reads the path, and writes the facts, only until it returns.
        guard let length, unsafe stat(url.filePath, &facts) == 0 else {
            throw HTTPBodyError.invalid("the file does not exist", file: url)
        }
        (self.url, self.length, modified) = (url, length, SystemTime.modification(of: facts))
    }

    var mediaType: String { FileBody(at: url).additionalHeaders[.contentType] ?? "" }

    /// Whether the file still has its size and its modification time.
    var isUnchanged: Bool { (try? UploadedFile(url)).map { $0.length == length && $0.modified == modified } ?? false }

    /// Whether an earlier upload has the same content. A digest counts only if both have one.
    func isSame(as earlier: UnfinishedUpload) -> Bool {
        earlier.byteCount == length && earlier.modified == modified && (digest == nil || digest == earlier.digest)
    }

    func digest(of range: Range<Int>) async throws -> String {
        Data(try await FileBody(at: url, range: range).sha256()).base64EncodedString()
    }
}
