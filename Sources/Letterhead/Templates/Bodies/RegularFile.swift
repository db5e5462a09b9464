// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// A file that can be sent. The file is inspected before it is opened, because opening a pipe blocks, and opening a
/// device may have side effects.
struct RegularFile: Sendable {
    let url: URL
    /// The number of bytes to send.
    let size: Int
    let range: Range<Int>?

    init(_ url: URL, _ range: Range<Int>? = nil) throws(HTTPBodyError) {
        (self.url, self.range) = (url, range)
        guard url.isFileURL else { throw HTTPBodyError.invalid("the URL of the file is not a file URL", file: url) }
        var status = stat()
        let found = url.withUnsafeFileSystemRepresentation { path in path.map { stat($0, &status) } }
        guard found == 0 else { throw HTTPBodyError.invalid(Self.message(errno), file: url) }
        let whole = try Self.size(of: status, at: url)
        try Self.check(range, in: whole, at: url)
        size = range?.count ?? whole
        let readable = url.withUnsafeFileSystemRepresentation { path in path.map { access($0, R_OK) } }
        guard readable == 0 else { throw HTTPBodyError.invalid(Self.message(errno), file: url) }
    }

    /// Opens the file.
    ///
    /// - Throws: ``HTTPBodyError/invalid(_:file:)`` if the file cannot be opened, is no longer a regular file, or has
    ///   changed its size since it was inspected.
    func open() throws(HTTPBodyError) -> OpenFile {
        // O_NONBLOCK prevents blocking if a pipe has replaced the file in the meantime.
        let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
        let descriptor = url.withUnsafeFileSystemRepresentation { path in
            path.map { LetterheadFoundation.open($0, flags) } ?? -1
        }
        guard descriptor >= 0 else { throw HTTPBodyError.invalid(Self.message(errno), file: url) }
        let file = OpenFile(descriptor: descriptor, file: self)
        try file.checkSize()
        if let range, lseek(descriptor, off_t(range.lowerBound), SEEK_SET) < 0 {
            throw HTTPBodyError.invalid(Self.message(errno), file: url)
        }
        return file
    }

    static func check(_ range: Range<Int>?, in size: Int, at url: URL) throws(HTTPBodyError) {
        guard let range else { return }
        guard range.lowerBound >= 0 else { throw HTTPBodyError.invalid("the range begins before the file", file: url) }
        guard range.upperBound <= size else {
            throw HTTPBodyError.invalid(
                "the file has \(size) bytes, and the range ends at \(range.upperBound)", file: url)
        }
    }

    static func size(of status: stat, at url: URL) throws(HTTPBodyError) -> Int {
        if let kind = PrivateFile.kind(of: status) {
            let remedy = status.st_mode & S_IFMT == S_IFIFO ? "; send its bytes with StreamBody" : ""
            throw HTTPBodyError.invalid("the file is \(kind)\(remedy)", file: url)
        }
        guard let size = Int(exactly: status.st_size) else {
            throw HTTPBodyError.invalid("the size of the file exceeds the maximum of this platform", file: url)
        }
        return size
    }

    static func message(_ code: Int32) -> String {
        switch code {
        case ENOENT, ENOTDIR: "the file does not exist"
        case EACCES, EPERM: "permission to read the file was denied"
        default: "the file cannot be read: \(String(cString: strerror(code)))"
        }
    }
}

/// An open file, which is closed when the last reference is released.
final class OpenFile: Sendable {
    private let descriptor: Int32
    private let file: RegularFile

    init(descriptor: Int32, file: RegularFile) {
        (self.descriptor, self.file) = (descriptor, file)
    }

    deinit { close(descriptor) }

    func checkSize() throws(HTTPBodyError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw HTTPBodyError.invalid(RegularFile.message(errno), file: file.url)
        }
        let size = try RegularFile.size(of: status, at: file.url)
        guard file.range == nil else { return try RegularFile.check(file.range, in: size, at: file.url) }
        guard size == file.size else { throw changed }
    }

    /// Throws an error if the size of the file has changed, or if the file contains more bytes than its reported size,
    /// as files in `/proc` do.
    func checkEnd() throws(HTTPBodyError) {
        try checkSize()
        guard file.range == nil else { return }
        guard try read(1).isEmpty else {
            throw HTTPBodyError.invalid(
                "the file contains more bytes than its reported size; read it and send a DataBody", file: file.url)
        }
    }

    /// Returns at most `count` further bytes, or empty data at the end.
    func read(_ count: Int) throws(HTTPBodyError) -> Data {
        try Data.filled(count: count, orThrow: tooLarge) { buffer throws(HTTPBodyError) in try read(into: buffer) }
    }

    func all() throws(HTTPBodyError) -> Data {
        let data = try Data.filled(count: file.size, orThrow: tooLarge) { buffer throws(HTTPBodyError) in
            var written = 0
            while written < buffer.count {
                let count = try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[written...]))
                guard count > 0 else { throw changed }
                written += count
            }
            return written
        }
        try checkEnd()
        return data
    }

    private var tooLarge: HTTPBodyError { .invalid("the file does not fit into memory", file: file.url) }

    private var changed: HTTPBodyError {
        HTTPBodyError.invalid("the size of the file changed while it was being sent", file: file.url)
    }

    private func read(into buffer: UnsafeMutableRawBufferPointer) throws(HTTPBodyError) -> Int {
        let count = Descriptor.read(descriptor, into: buffer)
        guard count >= 0 else { throw HTTPBodyError.invalid(RegularFile.message(errno), file: file.url) }
        return count
    }
}
