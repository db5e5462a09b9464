// SPDX-License-Identifier: MIT
package import LetterheadFoundation

/// The files that the library writes beside user files: drafts, parts, records, locks, cookies, tokens and cached
/// responses. Other users may create files in the same folder, such as `/tmp`.
///
/// The system reads paths, and writes a `stat`, only until its functions return.
package struct PrivateFile {
    package enum Failure: LocalizedError {
        /// The error number from the system.
        case unwritable(Int32), unreadable(Int32)
        case tooLarge
        /// The file belongs to a user who is neither the current user nor root.
        case foreign
        /// Other users can write the file.
        case shared
        /// The kind of file that the path leads to, which isn't a regular file with one name.
        case kind(String)

        package var rule: String {
            // The text for a known number is a constant.
            switch self {
            case .unwritable(let code): unsafe "cannot be written: \(String(cString: strerror(code)))"
            case .unreadable(let code): unsafe "cannot be read: \(String(cString: strerror(code)))"
            case .tooLarge: "is too large"
            case .foreign: "belongs to another user"
            case .shared: "can be written by other users (set its permissions to 0600)"
            case .kind(let kind): "is \(kind)"
            }
        }

        package var errorDescription: String? { "the file \(rule)" }
    }

    private let target: URL
    private let draft: URL

    package init(replacing url: URL) {
        target = url
        draft = url.hiddenNeighbor(RandomBytes.base64URL(RandomBytes.system(9)))
    }

    /// Writes the bytes to disk, and replaces the file atomically.
    package func write(_ data: Data) throws(Failure) {
        try Self.checkPlace(target)
        let descriptor = try Self.open(draft.filePath, O_WRONLY | O_CREAT | O_EXCL)
        let isWritten =
            fchmod(descriptor, 0o600) == 0 && data.write(to: descriptor) && fsync(descriptor) == 0
        guard close(descriptor) == 0, isWritten, unsafe rename(draft.filePath, target.filePath) == 0 else {
            let code = errno
            _ = unsafe unlink(draft.filePath)
            throw .unwritable(code)
        }
        syncDirectory()
    }

    /// Writes the new directory entry to disk. Errors are ignored, because some file systems don't support it.
    private func syncDirectory() {
        let directory = target.deletingLastPathComponent()
        let descriptor = unsafe LetterheadFoundation.open(directory.filePath, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        _ = fsync(descriptor)
        _ = close(descriptor)
    }
}

extension URL {
    /// Returns the URL of a hidden file in the same folder. The hidden name doesn't contain this filename, which can
    /// already be as long as a file system allows.
    func hiddenNeighbor(_ mark: String) -> URL {
        deletingLastPathComponent().appendingPathComponent(".letterhead-\(mark)")
    }

    package var filePath: String {
        unsafe withUnsafeFileSystemRepresentation { unsafe $0.map(String.init(cString:)) } ?? path
    }
}

extension PrivateFile {
    /// Opens a file that belongs to the library. It doesn't follow links or wait for pipes. An existing file must be a
    /// regular file that belongs to this user. To write it, it must have no other name, because a different user could
    /// have put it there.
    ///
    /// - Parameter flags: `O_CREAT` creates a missing file. With `O_EXCL`, the file must be missing. `O_TRUNC` would
    ///   empty a file before it is checked.
    /// - Throws: `.unreadable(ENOENT)` or `.unwritable(ENOENT)` if the file is missing.
    package static func open(_ path: String, _ flags: Int32, mode: mode_t = 0o600) throws(Failure) -> Int32 {
        let isWritten = flags & (O_WRONLY | O_RDWR) != 0
        let flags = flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
        // A file can be removed between the two attempts, or before it is checked.
        for _ in 0..<100 {
            if flags & O_CREAT != 0 {
                let descriptor = unsafe LetterheadFoundation.open(path, flags | O_EXCL, mode)
                if descriptor >= 0 { return descriptor }
                guard errno == EEXIST, flags & O_EXCL == 0 else { throw .unwritable(errno) }
            }
            // Opening a device may have side effects, and a socket cannot be opened.
            var facts = stat()
            if unsafe lstat(path, &facts) == 0 { try check(facts, isWritten: isWritten) }
            let descriptor = unsafe LetterheadFoundation.open(path, flags & ~O_CREAT)
            if descriptor < 0, errno == ENOENT, flags & O_CREAT != 0 { continue }
            guard descriptor >= 0 else { throw isWritten ? .unwritable(errno) : .unreadable(errno) }
            do throws(Failure) {
                // The name could refer to a different file by now.
                guard unsafe fstat(descriptor, &facts) == 0 else { throw .unreadable(errno) }
                try check(facts, isWritten: isWritten)
                if facts.st_nlink > 0 || !isWritten { return descriptor }
            } catch {
                _ = close(descriptor)
                throw error
            }
            _ = close(descriptor)
        }
        throw .unwritable(EAGAIN)
    }

    /// Locks a file, and creates it if it is missing. Returns its descriptor, which holds the lock until `unlock(_:)`
    /// or until the process ends. Returns nil if a different descriptor has the lock.
    package static func lock(_ url: URL) throws(Failure) -> Int32? {
        let descriptor = try open(url.filePath, O_RDWR | O_CREAT)
        var code: Int32
        repeat {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return descriptor }
            code = errno
        } while code == EINTR
        _ = close(descriptor)
        guard code == EWOULDBLOCK else { throw .unwritable(code) }
        return nil
    }

    /// Releases a lock and closes its descriptor. Closing alone isn't enough: a program that is being started at this
    /// moment has a copy of the descriptor until it runs, and the copy would keep the lock.
    package static func unlock(_ descriptor: Int32) {
        _ = flock(descriptor, LOCK_UN)
        _ = close(descriptor)
    }

    /// Removes a file if it exists. It fails if the path leads to something that must not be replaced.
    package static func remove(_ url: URL) throws(Failure) {
        try checkPlace(url)
        guard unsafe unlink(url.filePath) == 0 || errno == ENOENT else { throw .unwritable(errno) }
    }

    private static func check(_ facts: stat, isWritten: Bool) throws(Failure) {
        if let kind = kind(of: facts) { throw .kind(kind) }
        guard facts.st_uid == geteuid() || !isWritten && facts.st_uid == 0 else { throw .foreign }
        guard facts.st_nlink <= 1 || !isWritten else { throw .kind("a file with more than one hard link") }
    }

    /// What kind of file it is if it must be neither read nor replaced. Nil for a regular file.
    static func kind(of facts: stat) -> String? {
        switch facts.st_mode & S_IFMT {
        case S_IFREG: nil
        case S_IFDIR: "a directory"
        case S_IFIFO: "a pipe"
        case S_IFSOCK: "a socket"
        case S_IFLNK: "a symbolic link"
        default: "a device"
        }
    }

    /// Throws an error unless a file can be written to a URL. Only a regular file is replaced. A symbolic link to one,
    /// or to nothing, is itself replaced.
    package static func checkPlace(_ url: URL) throws(Failure) {
        guard url.isFileURL else { throw .kind("not the URL of a file") }
        var facts = stat()
        if unsafe stat(url.filePath, &facts) == 0, let kind = kind(of: facts) { throw .kind(kind) }
    }

    /// Throws an error unless files can be created in the folder that contains a file.
    static func checkFolder(of url: URL) throws(Failure) {
        let folder = url.deletingLastPathComponent().filePath
        guard unsafe access(folder, W_OK | X_OK) == 0 else { throw .unwritable(errno) }
    }

    /// Reads a file, or returns nil if it is missing. Throws an error if users other than the owner can write it.
    ///
    /// A user who can write the file can replace its secrets: the program would then act for a different user, or send
    /// tokens to a session that this user observes.
    ///
    /// - Parameter longest: the largest number of bytes.
    package static func read(_ url: URL, upTo longest: Int) throws(Failure) -> Data? {
        let descriptor: Int32
        do { descriptor = try open(url.filePath, O_RDONLY) } catch .unreadable(ENOENT) { return nil }
        defer { _ = close(descriptor) }
        var facts = stat()
        guard unsafe fstat(descriptor, &facts) == 0 else { throw .unreadable(errno) }
        guard facts.st_mode & (S_IWGRP | S_IWOTH) == 0 else { throw .shared }
        guard facts.st_size <= longest else { throw .tooLarge }
        var data = Data(count: Int(facts.st_size))
        let count = unsafe data.withUnsafeMutableBytes { unsafe Descriptor.read(descriptor, into: $0) }
        guard count >= 0 else { throw .unreadable(errno) }
        return data.prefix(count)
    }
}
