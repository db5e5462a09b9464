import Foundation

/// A file that only its owner can read. It is written next to the existing file and then replaces it atomically.
struct PrivateFile {
    private let target: URL
    private let draft: URL

    init(replacing url: URL) {
        target = url
        let mark = RandomBytes.base64URL(RandomBytes.system(9))
        draft = url.deletingLastPathComponent().appendingPathComponent(".\(url.lastPathComponent).\(mark)")
    }

    /// Writes the bytes to disk, and replaces the file atomically.
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
        // O_EXCL does not follow a link that another process created. The mode applies before the first byte is
        // written.
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

    private static let failed = OAuth2.Failure(.store, "the token file cannot be written")
}

extension PrivateFile {
    /// The maximum size of a token file, in bytes.
    private static let longest = 1 << 20

    /// Returns the bytes of a file that only its owner can write; nil if there is no file.
    ///
    /// A user who can write the file can replace the tokens: the program would then act for another user, or send
    /// refresh tokens to a session that this user observes.
    static func read(_ url: URL) throws(OAuth2.Failure) -> Data? {
        // O_NONBLOCK: opening a pipe must not wait for a writer.
        let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK
        let descriptor = url.withUnsafeFileSystemRepresentation { path in path.map { open($0, flags) } ?? -1 }
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw unreadable
        }
        defer { _ = close(descriptor) }
        // The open file is checked and not its name, because the name could refer to another file later.
        try check(descriptor)
        return try bytes(of: descriptor)
    }

    private static func check(_ descriptor: Int32) throws(OAuth2.Failure) {
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { throw unreadable }
        guard facts.st_uid == geteuid() || facts.st_uid == 0 else {
            throw OAuth2.Failure(.store, "the token file belongs to another user; reset the client to delete it")
        }
        guard facts.st_mode & (S_IWGRP | S_IWOTH) == 0 else {
            throw OAuth2.Failure(
                .store,
                "other users can write the token file; set its permissions to 0600, or reset the client to delete it"
            )
        }
    }

    private static func bytes(of descriptor: Int32) throws(OAuth2.Failure) -> Data {
        var data = Data()
        var chunk = [UInt8](repeating: 0, count: 1 << 14)
        while data.count <= longest {
            let count = chunk.withUnsafeMutableBytes { Foundation.read(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw unreadable }
            if count == 0 { return data }
            data.append(contentsOf: chunk[..<count])
        }
        throw OAuth2.Failure(.store, "the token file is malformed; reset the client to delete it")
    }

    private static let unreadable = OAuth2.Failure(.store, "the token file cannot be read")
}
