import Foundation

/// A file while it is read. A class, because it owns the descriptor and closes it when it is dropped.
final class OpenFile: Sendable {
    private let descriptor: Int32
    private let file: RegularFile

    init(descriptor: Int32, file: RegularFile) {
        (self.descriptor, self.file) = (descriptor, file)
    }

    deinit { close(descriptor) }

    /// Throws when the file has another size than it had when it was looked at.
    func checkSize() throws(HTTPBodyError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw HTTPBodyError.invalid(RegularFile.message(errno), file: file.url)
        }
        guard try RegularFile.size(of: status, at: file.url) == file.size else { throw changed }
    }

    /// Throws when the file has another size than it had, or holds more than it says: those of `/proc` say nothing.
    func checkEnd() throws(HTTPBodyError) {
        try checkSize()
        guard try read(1).isEmpty else {
            throw HTTPBodyError.invalid(
                "the file holds more bytes than its size says; send what it holds as data", file: file.url)
        }
    }

    /// The next bytes, at most as many as asked for; none at the end.
    func read(_ count: Int) throws(HTTPBodyError) -> Data {
        try Data.filled(count: count) { buffer throws(HTTPBodyError) in try read(into: buffer) }
    }

    /// The whole file.
    func all() throws(HTTPBodyError) -> Data {
        let data = try Data.filled(count: file.size) { buffer throws(HTTPBodyError) in
            var written = 0
            while written < buffer.count {
                let count = try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[written...]))
                guard count > 0 else { throw changed }
                written += count
            }
            return written
        }
        guard data.count == file.size else {
            throw HTTPBodyError.invalid("the file does not fit into memory", file: file.url)
        }
        try checkEnd()
        return data
    }

    private var changed: HTTPBodyError {
        HTTPBodyError.invalid("the file changed its size while it was sent", file: file.url)
    }

    private func read(into buffer: UnsafeMutableRawBufferPointer) throws(HTTPBodyError) -> Int {
        while true {
            let count = Foundation.read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            if errno != EINTR { throw HTTPBodyError.invalid(RegularFile.message(errno), file: file.url) }
        }
    }
}
