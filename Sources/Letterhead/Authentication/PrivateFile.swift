import Foundation

/// A file for its owner's eyes, written beside the one that it replaces, so that nobody ever sees a half of it.
struct PrivateFile {
    private let target: URL
    private let draft: URL

    init(replacing url: URL) {
        target = url
        let mark = RandomBytes.base64URL(RandomBytes.system(9))
        draft = url.deletingLastPathComponent().appendingPathComponent(".\(url.lastPathComponent).\(mark)")
    }

    /// Writes the bytes to disk, and has them take the place of the file at once.
    func write(_ data: Data) throws(OAuth2.Failure) {
        do throws(OAuth2.Failure) {
            try fill(data)
            guard rename(from: draft, to: target) else { throw Self.failed }
        } catch {
            _ = draft.withUnsafeFileSystemRepresentation { path in path.map { unlink($0) } }
            throw error
        }
        syncDirectory()
    }

    private func fill(_ data: Data) throws(OAuth2.Failure) {
        // O_EXCL: a link that somebody put there is not followed; the mode is there before the first byte is.
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        let descriptor = draft.withUnsafeFileSystemRepresentation { path in path.map { open($0, flags, 0o600) } ?? -1 }
        guard descriptor >= 0 else { throw Self.failed }
        let isWritten = fchmod(descriptor, 0o600) == 0 && Self.write(data, to: descriptor) && fsync(descriptor) == 0
        guard close(descriptor) == 0, isWritten else { throw Self.failed }
    }

    private static func write(_ data: Data, to descriptor: Int32) -> Bool {
        data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Foundation.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }

    private func rename(from: URL, to: URL) -> Bool {
        from.withUnsafeFileSystemRepresentation { from in
            to.withUnsafeFileSystemRepresentation { to in
                guard let from, let to else { return false }
                return Foundation.rename(from, to) == 0
            }
        }
    }

    /// The new name is on disk, too; a file system that cannot say so has done its best.
    private func syncDirectory() {
        let directory = target.deletingLastPathComponent()
        let descriptor = directory.withUnsafeFileSystemRepresentation { path in
            path.map { open($0, O_RDONLY | O_CLOEXEC) } ?? -1
        }
        guard descriptor >= 0 else { return }
        _ = fsync(descriptor)
        _ = close(descriptor)
    }

    private static let failed = OAuth2.Failure(.store, "the file of tokens cannot be written")
}
