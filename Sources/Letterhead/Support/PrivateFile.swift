// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// A file that only its owner can read. It is written next to the existing file and then replaces it atomically.
struct PrivateFile {
    /// The reason why a file cannot be used.
    enum Failure: Error {
        case unwritable, unreadable, tooLarge
        /// The file belongs to a user who is neither the current user nor root.
        case foreign
        /// Other users can write the file.
        case shared
    }

    private let target: URL
    private let draft: URL

    init(replacing url: URL) {
        target = url
        draft = url.hiddenNeighbor(RandomBytes.base64URL(RandomBytes.system(9)))
    }

    /// Writes the bytes to disk, and replaces the file atomically.
    func write(_ data: Data) throws(Failure) {
        do throws(Failure) {
            try fill(data)
            guard rename(from: draft, to: target) else { throw Failure.unwritable }
        } catch {
            _ = draft.withUnsafeFileSystemRepresentation { path in path.map { unlink($0) } }
            throw error
        }
        syncDirectory()
    }

    private func fill(_ data: Data) throws(Failure) {
        // O_EXCL does not follow a link that another process created. The mode applies before the first byte is
        // written.
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        let descriptor = draft.withUnsafeFileSystemRepresentation { path in path.map { open($0, flags, 0o600) } ?? -1 }
        guard descriptor >= 0 else { throw Failure.unwritable }
        let isWritten =
            fchmod(descriptor, 0o600) == 0 && data.withUnsafeBytes { Descriptor.write($0, to: descriptor) }
            && fsync(descriptor) == 0
        guard close(descriptor) == 0, isWritten else { throw Failure.unwritable }
    }

    private func rename(from: URL, to: URL) -> Bool {
        from.withUnsafeFileSystemRepresentation { from in
            to.withUnsafeFileSystemRepresentation { to in
                guard let from, let to else { return false }
                return LetterheadFoundation.rename(from, to) == 0
            }
        }
    }

    /// Writes the new directory entry to disk. Errors are ignored, because some file systems do not support it.
    private func syncDirectory() {
        let directory = target.deletingLastPathComponent()
        let descriptor = directory.withUnsafeFileSystemRepresentation { path in
            path.map { open($0, O_RDONLY | O_CLOEXEC) } ?? -1
        }
        guard descriptor >= 0 else { return }
        _ = fsync(descriptor)
        _ = close(descriptor)
    }
}

extension URL {
    /// Returns the URL of a hidden file in the same folder. Its name does not contain the name of this file, which can
    /// already be as long as a file system allows.
    func hiddenNeighbor(_ mark: String) -> URL {
        deletingLastPathComponent().appendingPathComponent(".letterhead-\(mark)")
    }
}

extension PrivateFile {
    /// Returns the bytes of a file that only its owner can write; nil if there is no file.
    ///
    /// A user who can write the file can replace its secrets: the program would then act for another user, or send
    /// tokens to a session that this user observes.
    ///
    /// - Parameter longest: the largest number of bytes.
    static func read(_ url: URL, upTo longest: Int) throws(Failure) -> Data? {
        // O_NONBLOCK: opening a pipe must not wait for a writer.
        let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK
        let descriptor = url.withUnsafeFileSystemRepresentation { path in path.map { open($0, flags) } ?? -1 }
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw Failure.unreadable
        }
        defer { _ = close(descriptor) }
        // The open file is checked and not its name, because the name could refer to another file later.
        try check(descriptor)
        return try bytes(of: descriptor, upTo: longest)
    }

    /// Locks a file, which is created if there is none and then stays. Returns its descriptor, which holds the lock until
    /// it is closed; nil if another descriptor does. The end of a process closes its descriptors.
    static func lock(_ url: URL) throws(Failure) -> Int32? {
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
        let descriptor = url.withUnsafeFileSystemRepresentation { path in path.map { open($0, flags, 0o600) } ?? -1 }
        guard descriptor >= 0 else { throw Failure.unwritable }
        do throws(Failure) {
            try check(descriptor)
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return descriptor }
            guard [EWOULDBLOCK, EINTR].contains(errno) else { throw Failure.unwritable }
        } catch {
            _ = close(descriptor)
            throw error
        }
        _ = close(descriptor)
        return nil
    }

    private static func check(_ descriptor: Int32) throws(Failure) {
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { throw Failure.unreadable }
        guard facts.st_uid == geteuid() || facts.st_uid == 0 else {
            throw Failure.foreign
        }
        guard facts.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
            throw Failure.shared
        }
    }

    private static func bytes(of descriptor: Int32, upTo longest: Int) throws(Failure) -> Data {
        var data = Data()
        var chunk = [UInt8](repeating: 0, count: 1 << 14)
        while data.count <= longest {
            let count = chunk.withUnsafeMutableBytes { Descriptor.read(descriptor, into: $0) }
            guard count >= 0 else { throw Failure.unreadable }
            if count == 0 { return data }
            data.append(contentsOf: chunk[..<count])
        }
        throw Failure.tooLarge
    }
}
