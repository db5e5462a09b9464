// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation

/// A store's folders and files, accessed with system calls. All files are inside one folder, and only its owner can
/// read it.
struct FileCacheFolder: Sendable {
    /// A store's error. It contains no URL and no content.
    struct Failure: Error, CustomStringConvertible {
        let description: String

        init(_ what: String, code: Int32 = errno) {
            description = "the response cache \(what): \(String(cString: strerror(code)))"
        }

        init(_ failure: PrivateFile.Failure) { description = "a file of the response cache \(failure.rule)" }
    }

    /// A stored response's head, as found when a folder is listed.
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
        guard lstat(path, &facts) == 0 else { throw Failure("cannot create its folder") }
        guard facts.st_mode & S_IFMT == S_IFDIR else { throw Failure("cannot use its folder", code: ENOTDIR) }
        guard facts.st_uid == geteuid() else { throw Failure("cannot use the folder of another user", code: EPERM) }
        guard facts.st_mode & 0o077 == 0 || chmod(path, 0o700) == 0 else { throw Failure("cannot protect its folder") }
    }

    func path(ofShard shard: Int) -> String {
        path + "/" + String(UnicodeScalar(Self.digits[shard >> 4])) + String(UnicodeScalar(Self.digits[shard & 15]))
    }

    private static let digits = Array("0123456789abcdef".utf8)

    /// A folder's last change in nanoseconds, or nil if the folder does not exist.
    func changeTime(ofShard shard: Int) -> Int64? {
        var facts = stat()
        return stat(path(ofShard: shard), &facts) == 0 ? SystemTime.modification(of: facts) : nil
    }

    /// Creates a new file, and its folder if necessary. Only the owner can read it.
    func create(_ name: String, inShard shard: Int) throws -> Int32 {
        let folder = path(ofShard: shard)
        let flags = O_WRONLY | O_CREAT | O_EXCL
        do throws(PrivateFile.Failure) {
            do { return try PrivateFile.open("\(folder)/\(name)", flags) } catch .unwritable(ENOENT) {}
            guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw .unwritable(errno) }
            return try PrivateFile.open("\(folder)/\(name)", flags)
        } catch { throw Failure(error) }
    }

    func rename(_ name: String, to new: String, inShard shard: Int) throws {
        let folder = path(ofShard: shard)
        guard LetterheadFoundation.rename("\(folder)/\(name)", "\(folder)/\(new)") == 0 else {
            throw Failure("cannot rename a file")
        }
    }

    /// Removes a file. It may be missing.
    func remove(_ name: String, inShard shard: Int) { _ = unlink("\(path(ofShard: shard))/\(name)") }

    func exists(_ name: String, inShard shard: Int) -> Bool { access("\(path(ofShard: shard))/\(name)", F_OK) == 0 }

    /// Opens a file for reading. Returns nil if it does not exist.
    func opened(_ name: String, inShard shard: Int) throws -> Int32? {
        do throws(PrivateFile.Failure) {
            return try PrivateFile.open("\(path(ofShard: shard))/\(name)", O_RDONLY)
        } catch .unreadable(ENOENT) { return nil } catch { throw Failure(error) }
    }

    func touch(_ name: String, inShard shard: Int) { _ = utimes("\(path(ofShard: shard))/\(name)", nil) }

    /// Returns a folder's heads, and removes files that an interrupted program left an hour ago or earlier.
    func list(shard: Int, now: Int64) -> [Listed] {
        guard let folder = opendir(path(ofShard: shard)) else { return [] }
        defer { closedir(folder) }
        let descriptor = dirfd(folder)
        var heads: [Listed] = []
        var others: [String] = []
        while let entry = readdir(folder) {
            withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                tuple.withMemoryRebound(to: UInt8.self, capacity: 1) { start in
                    let bytes = UnsafeBufferPointer(
                        start: start, count: strlen(UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self)))
                    guard bytes.first != UInt8(ascii: ".") else { return }
                    guard let name = FileCacheName(bytes) else {
                        others.append(String(decoding: bytes, as: UTF8.self))
                        return
                    }
                    var facts = stat()
                    guard
                        fstatat(
                            descriptor, UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self), &facts,
                            AT_SYMLINK_NOFOLLOW) == 0
                    else { return }
                    let modified = SystemTime.modification(of: facts)
                    heads.append(Listed(name: name, headCount: Int(facts.st_size), modified: modified))
                }
            }
        }
        removeRemains(others, heads: heads, folder: descriptor, now: now)
        return heads
    }

    private func removeRemains(_ files: [String], heads: [Listed], folder: Int32, now: Int64) {
        let bodies = Set(heads.map(\.name.body))
        for file in files {
            if file.ends(with: ".body"), let body = UInt64(file.dropLast(5), radix: 16), bodies.contains(body) {
                continue
            }
            var facts = stat()
            guard fstatat(folder, file, &facts, AT_SYMLINK_NOFOLLOW) == 0 else { continue }
            if now - SystemTime.modification(of: facts) > 3_600_000_000_000 { unlinkat(folder, file, 0) }
        }
    }

    func removeAll() {
        for shard in 0..<256 {
            guard let folder = opendir(path(ofShard: shard)) else { continue }
            defer { closedir(folder) }
            var names: [String] = []
            while let entry = readdir(folder) {
                let name = withUnsafePointer(to: &entry.pointee.d_name) { tuple in
                    tuple.withMemoryRebound(to: CChar.self, capacity: 1) { String(cString: $0) }
                }
                if name.ends(with: ".head") || name.ends(with: ".body") || name.ends(with: ".part") {
                    names.append(name)
                }
            }
            // The names' descending order does not separate heads from bodies. A body may therefore be removed
            // before its head, which is then visible without its body for a short time.
            for name in names.sorted(by: >) { unlinkat(dirfd(folder), name, 0) }
        }
    }
}
