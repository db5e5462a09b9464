// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// The folders and files in a store, accessed with system calls. All files are inside one folder, and only its owner
/// can read it.
///
/// The system reads paths, and writes a `stat`, only until its functions return.
struct FileCacheFolder: Sendable {
    /// A store error. It contains no URL and no content.
    struct Failure: Error, CustomStringConvertible {
        let description: String

        // The text for a known error number is a constant.
        init(_ what: String, code: Int32 = errno) {
            description = unsafe "the response cache \(what): \(String(cString: strerror(code)))"
        }

        init(_ failure: PrivateFile.Failure) { description = "a file of the response cache \(failure.rule)" }
    }

    /// A head file in a folder listing.
    struct Listed {
        let name: FileCacheName
        let headCount: Int
        let modified: Int64
    }

    private let path: String

    init(_ url: URL) throws {
        path = url.filePath
        try? FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        var facts = stat()
        guard unsafe lstat(path, &facts) == 0 else { throw Failure("cannot create its folder") }
        guard facts.st_mode & S_IFMT == S_IFDIR else { throw Failure("cannot use its folder", code: ENOTDIR) }
        guard facts.st_uid == geteuid() else { throw Failure("cannot use the folder of another user", code: EPERM) }
        guard unsafe facts.st_mode & 0o077 == 0 || chmod(path, 0o700) == 0 else {
            throw Failure("cannot protect its folder")
        }
    }

    func path(ofShard shard: Int) -> String {
        path + "/" + String(UnicodeScalar(Self.digits[shard >> 4])) + String(UnicodeScalar(Self.digits[shard & 15]))
    }

    private static let digits = Array("0123456789abcdef".utf8)

    /// Returns when a folder was last changed, in nanoseconds, or nil if it does not exist.
    func changeTime(ofShard shard: Int) -> Int64? {
        var facts = stat()
        return unsafe stat(path(ofShard: shard), &facts) == 0 ? SystemTime.modification(of: facts) : nil
    }

    /// Creates a new file, and its folder if necessary. Only the owner can read it.
    func create(_ name: String, inShard shard: Int) throws -> Int32 {
        let folder = path(ofShard: shard)
        let flags = O_WRONLY | O_CREAT | O_EXCL
        do throws(PrivateFile.Failure) {
            do { return try PrivateFile.open("\(folder)/\(name)", flags) } catch .unwritable(ENOENT) {}
            guard unsafe mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw .unwritable(errno) }
            return try PrivateFile.open("\(folder)/\(name)", flags)
        } catch { throw Failure(error) }
    }

    func rename(_ name: String, to new: String, inShard shard: Int) throws {
        let folder = path(ofShard: shard)
        guard unsafe LetterheadFoundation.rename("\(folder)/\(name)", "\(folder)/\(new)") == 0 else {
            throw Failure("cannot rename a file")
        }
    }

    /// Removes a file. A missing file isn't an error.
    func remove(_ name: String, inShard shard: Int) { _ = unsafe unlink("\(path(ofShard: shard))/\(name)") }

    func exists(_ name: String, inShard shard: Int) -> Bool {
        unsafe access("\(path(ofShard: shard))/\(name)", F_OK) == 0
    }

    /// Opens a file for reading. Returns nil if it does not exist.
    func opened(_ name: String, inShard shard: Int) throws -> Int32? {
        do throws(PrivateFile.Failure) {
            return try PrivateFile.open("\(path(ofShard: shard))/\(name)", O_RDONLY)
        } catch .unreadable(ENOENT) { return nil } catch { throw Failure(error) }
    }

    func touch(_ name: String, inShard shard: Int) { _ = unsafe utimes("\(path(ofShard: shard))/\(name)", nil) }

    /// Returns the head files in a folder, and removes files that an interrupted program left behind more than an hour
    /// ago.
    func list(shard: Int, now: Int64) -> [Listed] {
        var heads: [Listed] = []
        withFiles(inShard: shard) { files, folder in
            var others: [String] = []
            for file in files where !file.begins(with: ".") {
                guard let name = file.withBytes({ unsafe FileCacheName($0) }) else {
                    others.append(file)
                    continue
                }
                var facts = stat()
                guard unsafe fstatat(folder, file, &facts, AT_SYMLINK_NOFOLLOW) == 0 else { continue }
                let modified = SystemTime.modification(of: facts)
                heads.append(Listed(name: name, headCount: Int(facts.st_size), modified: modified))
            }
            removeRemains(others, heads: heads, folder: folder, now: now)
        }
        return heads
    }

    /// Calls a closure with all file names in a folder, and with the folder descriptor.
    private func withFiles(inShard shard: Int, _ body: (_ files: [String], _ folder: Int32) -> Void) {
        guard let folder = unsafe opendir(path(ofShard: shard)) else { return }
        defer { unsafe closedir(folder) }
        var files: [String] = []
        // An entry is valid until the next entry is read, and its name ends with a zero byte.
        while let entry = unsafe readdir(folder) {
            unsafe withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                unsafe tuple.withMemoryRebound(to: CChar.self, capacity: 1) { unsafe files.append(String(cString: $0)) }
            }
        }
        body(files, unsafe dirfd(folder))
    }

    private func removeRemains(_ files: [String], heads: [Listed], folder: Int32, now: Int64) {
        let bodies = Set(heads.map(\.name.body))
        for file in files {
            if file.ends(with: ".body"), let body = UInt64(file.dropLast(5), radix: 16), bodies.contains(body) {
                continue
            }
            var facts = stat()
            guard unsafe fstatat(folder, file, &facts, AT_SYMLINK_NOFOLLOW) == 0 else { continue }
            if now - SystemTime.modification(of: facts) > 3_600_000_000_000 { unsafe unlinkat(folder, file, 0) }
        }
    }

    func removeAll() {
        for shard in 0..<256 {
            withFiles(inShard: shard) { files, folder in
                let stored = files.filter { file in [".head", ".body", ".part"].contains { file.ends(with: $0) } }
                // The order of the names does not separate heads from bodies. A body may therefore be removed before
                // its head, which then exists without its body for a short time.
                for file in stored.sorted(by: >) { unsafe unlinkat(folder, file, 0) }
            }
        }
    }
}
