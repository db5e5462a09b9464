// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// A file to send. It is inspected before it is opened, because opening a pipe blocks, and opening a device may have
/// side effects.
///
/// The system reads a path, and writes a `stat`, only until its functions return.
struct RegularFile: Sendable {
    let url: URL
    let range: Range<Int>?
    /// The number of bytes to send.
    private(set) var size = 0

    init(_ url: URL, _ range: Range<Int>? = nil) throws(HTTPBodyError) {
        (self.url, self.range) = (url, range)
        guard url.isFileURL else { throw error("the URL of the file is not a file URL") }
        var status = stat()
        guard unsafe stat(url.filePath, &status) == 0 else { throw systemError() }
        size = try size(in: status)
        guard unsafe access(url.filePath, R_OK) == 0 else { throw systemError() }
    }

    /// Opens the file.
    ///
    /// - Throws: ``HTTPBodyError/invalid(_:file:)`` if the file cannot be opened, is no longer a regular file, or has a
    ///   different size than when it was inspected.
    func open() throws(HTTPBodyError) -> OpenFile {
        // O_NONBLOCK prevents blocking if a pipe has replaced the file in the meantime.
        let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
        let descriptor = unsafe LetterheadFoundation.open(url.filePath, flags)
        guard descriptor >= 0 else { throw systemError() }
        let file = OpenFile(descriptor: descriptor, file: self)
        try file.checkSize()
        if let range, lseek(descriptor, off_t(range.lowerBound), SEEK_SET) < 0 { throw systemError() }
        return file
    }

    /// Returns the number of bytes to send from a file with this status.
    fileprivate func size(in status: stat) throws(HTTPBodyError) -> Int {
        if let kind = PrivateFile.kind(of: status) {
            let remedy = status.st_mode & S_IFMT == S_IFIFO ? " (send its bytes with StreamBody)" : ""
            throw error("the file is \(kind)\(remedy)")
        }
        let whole = Int(clamping: status.st_size)
        guard let range else { return whole }
        guard range.lowerBound >= 0 else { throw error("the range begins before the file") }
        guard range.upperBound <= whole else {
            throw error("the file has \(whole) bytes, and the range ends at \(range.upperBound)")
        }
        return range.count
    }

    fileprivate func error(_ message: String) -> HTTPBodyError { HTTPBodyError.invalid(message, file: url) }

    fileprivate func systemError() -> HTTPBodyError {
        let code = errno
        // The text for a known number is a constant.
        return switch code {
        case ENOENT, ENOTDIR: error("the file \(Redaction.visible(url.lastPathComponent)) does not exist")
        case EACCES, EPERM: error("permission to read the file was denied")
        default: error(unsafe "the file cannot be read: \(String(cString: strerror(code)))")
        }
    }
}

/// An open file. Releasing the last reference closes it.
final class OpenFile: Sendable {
    private let descriptor: Int32
    private let file: RegularFile

    init(descriptor: Int32, file: RegularFile) {
        (self.descriptor, self.file) = (descriptor, file)
    }

    deinit { close(descriptor) }

    func checkSize() throws(HTTPBodyError) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw file.systemError() }
        guard try file.size(in: status) == file.size else { throw changed }
    }

    /// Throws an error if the file size has changed, or if the file contains more bytes than its reported size. Files
    /// in `/proc` do.
    func checkEnd() throws(HTTPBodyError) {
        try checkSize()
        guard file.range == nil else { return }
        guard try read(1).isEmpty else {
            throw file.error("the file contains more bytes than its reported size (read it and send a DataBody)")
        }
    }

    /// Returns the next `count` bytes, or fewer at the end.
    func read(_ count: Int) throws(HTTPBodyError) -> Data {
        let tooLarge = file.error("the file does not fit into memory")
        return try Data.filled(count: count, orThrow: tooLarge) { buffer throws(HTTPBodyError) in
            let count = unsafe Descriptor.read(descriptor, into: buffer)
            guard count >= 0 else { throw file.systemError() }
            return count
        }
    }

    func all() throws(HTTPBodyError) -> Data {
        let data = try read(file.size)
        guard data.count == file.size else { throw changed }
        try checkEnd()
        return data
    }

    private var changed: HTTPBodyError { file.error("the size of the file changed while it was being sent") }
}
