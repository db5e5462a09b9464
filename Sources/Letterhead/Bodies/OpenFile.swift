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
    func checkSize() throws(InvalidBody) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw InvalidBody(RegularFile.message(errno), file: file.url) }
        guard try RegularFile.size(of: status, at: file.url) == file.size else { throw changed }
    }

    /// Throws when the file has another size than it had, or holds more than it says: those of `/proc` say nothing.
    func checkEnd() throws(InvalidBody) {
        try checkSize()
        guard try read(1).isEmpty else {
            throw InvalidBody(
                "the file holds more bytes than its size says; send what it holds as data", file: file.url)
        }
    }

    /// The next bytes, at most as many as asked for; none at the end.
    func read(_ count: Int) throws(InvalidBody) -> Data {
        try Data.filled(count: count, orThrow: tooLarge) { buffer throws(InvalidBody) in try read(into: buffer) }
    }

    /// The whole file.
    func all() throws(InvalidBody) -> Data {
        let data = try Data.filled(count: file.size, orThrow: tooLarge) { buffer throws(InvalidBody) in
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

    private var tooLarge: InvalidBody { InvalidBody("the file does not fit into memory", file: file.url) }

    private var changed: InvalidBody { InvalidBody("the file changed its size while it was sent", file: file.url) }

    private func read(into buffer: UnsafeMutableRawBufferPointer) throws(InvalidBody) -> Int {
        while true {
            let count = Foundation.read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            if errno != EINTR { throw InvalidBody(RegularFile.message(errno), file: file.url) }
        }
    }
}
