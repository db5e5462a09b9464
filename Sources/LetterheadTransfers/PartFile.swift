// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation
import Synchronization

/// What the bytes of a part file belong to. It is stored beside the part, and contains no URL and no key, because they may
/// contain secrets.
struct PartRecord: Codable, Sendable, Hashable {
    private let salt: String
    private let resource: String
    /// The URL without its query from which the bytes come; nil if the caller's key identifies them.
    private let place: String?
    let validator: String
    /// The number of bytes of the complete file.
    let length: Int

    init(_ whole: BodyPart, of resource: String, isByURL: Bool) {
        let salt = hexadecimal((0..<16).map { _ in UInt8.random(in: .min ... .max) })
        self.salt = salt
        self.resource = Self.hash(resource, salt)
        place = isByURL ? Self.hash(whole.place, salt) : nil
        (validator, length) = (whole.validator, whole.range.upperBound)
    }

    func isOf(_ resource: String) -> Bool { self.resource.isSame(as: Self.hash(resource, salt)) }

    func isAt(_ place: String) -> Bool { self.place?.isSame(as: Self.hash(place, salt)) ?? true }

    private static func hash(_ text: String, _ salt: String) -> String {
        hexadecimal(SHA256Hash.hash(Array("\(salt) \(text)".utf8)))
    }
}

/// The incomplete file of a download, beside its destination. It is locked until it has been closed, so that no other
/// task or process writes it.
final class PartFile: Sendable {
    /// Another task or process has locked the part.
    struct IsInUse: Error {}

    let url: URL
    private let recordURL: URL
    /// The open file, which has the lock; nil after it was closed.
    private let descriptor: Mutex<Int32?>

    deinit {
        // A load without a byte, such as one with a 404, leaves nothing. The lock is still held.
        if (try? count()) == 0 { discard() } else { close() }
    }

    /// Opens and locks the part of a destination, and creates it if there is none.
    ///
    /// - Throws: ``IsInUse`` or an error of the file system.
    init(beside place: URL) throws {
        let name = place.lastPathComponent
        // Names have at most 255 bytes on most file systems.
        let short = name.utf8.count <= 200 ? name : hexadecimal(SHA256Hash.hash(Array(name.utf8)))
        let folder = place.deletingLastPathComponent()
        url = folder.appendingPathComponent(".\(short).letterhead-part")
        recordURL = folder.appendingPathComponent(".\(short).letterhead-part.json")
        descriptor = Mutex(try Self.lockedFile(url.path))
    }

    private static func lockedFile(_ path: String) throws -> Int32 {
        for _ in 0..<100 {
            // O_NONBLOCK: opening a pipe must not wait. O_APPEND: writing continues at the end, also of a shortened
            // file.
            let flags = O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
            var descriptor = open(path, flags | O_CREAT | O_EXCL, 0o666)
            let isOld = descriptor < 0 && errno == EEXIST
            if isOld { descriptor = open(path, flags) }
            // The previous owner has moved or removed the file in the meantime.
            if isOld, descriptor < 0, errno == ENOENT { continue }
            guard descriptor >= 0 else { throw POSIXError.last }
            do {
                guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                    throw errno == EWOULDBLOCK ? IsInUse() : POSIXError.last
                }
                // The previous owner may have moved the file to its destination before it released the lock.
                if try isPlace(path, of: descriptor, isOld: isOld) { return descriptor }
            } catch {
                _ = LetterheadFoundation.close(descriptor)
                throw error
            }
            _ = LetterheadFoundation.close(descriptor)
        }
        throw POSIXError(.EAGAIN)
    }

    /// Whether a path still names an open file. A file that was there must be a regular file of this user without another
    /// name: another user could have put other bytes into it, or have linked a file that must not be changed.
    private static func isPlace(_ path: String, of descriptor: Int32, isOld: Bool) throws -> Bool {
        var (file, named) = (stat(), stat())
        guard fstat(descriptor, &file) == 0 else { throw POSIXError.last }
        // The file was unlinked while it was opened.
        if file.st_nlink == 0 { return false }
        let isOwn = file.st_mode & S_IFMT == S_IFREG && file.st_uid == geteuid() && file.st_nlink == 1
        guard isOwn || !isOld else { throw POSIXError(.EACCES) }
        return lstat(path, &named) == 0 && named.st_ino == file.st_ino && named.st_dev == file.st_dev
    }

    private func withDescriptor<Value>(_ body: (Int32) throws -> Value) throws -> Value {
        try descriptor.withLock { descriptor in
            guard let descriptor else { throw POSIXError(.EBADF) }
            return try body(descriptor)
        }
    }

    /// The number of bytes.
    func count() throws -> Int {
        try withDescriptor { descriptor in
            var facts = stat()
            guard fstat(descriptor, &facts) == 0 else { throw POSIXError.last }
            return Int(facts.st_size)
        }
    }

    /// Returns the record if the part belongs to a resource and is a beginning of it.
    func record(for resource: String) throws -> PartRecord? {
        var facts = stat()
        guard lstat(recordURL.path, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, facts.st_uid == geteuid(),
            facts.st_size < 1 << 16, let data = try? Data(contentsOf: recordURL),
            let record = try? JSONDecoder().decode(PartRecord.self, from: data), record.isOf(resource)
        else { return nil }
        let count = try count()
        return count >= 1 && count <= record.length ? record : nil
    }

    /// Empties the part, for the bytes that a record describes. Without a record, another load cannot continue it.
    func restart(_ record: PartRecord?) throws {
        removeRecord()
        try shorten(to: 0)
        // A record that was written only in part is not decoded, so that the next load starts again.
        if let record { try JSONEncoder().encode(record).write(to: recordURL) }
    }

    func shorten(to count: Int) throws {
        try withDescriptor { guard ftruncate($0, off_t(count)) == 0 else { throw POSIXError.last } }
    }

    func append(_ piece: Data) throws {
        try withDescriptor { descriptor in
            try piece.withUnsafeBytes { bytes in
                var rest = bytes[...]
                while !rest.isEmpty {
                    let part = UnsafeRawBufferPointer(rebasing: rest)
                    let count = write(descriptor, part.baseAddress, part.count)
                    if count < 0, errno == EINTR { continue }
                    guard count > 0 else { throw POSIXError.last }
                    rest = rest.dropFirst(count)
                }
            }
        }
    }

    /// Writes the complete part to the disk, before it takes the place of another file. It has no record from now on: its
    /// name, under which the next part begins, is free as soon as it has moved.
    func finish() throws {
        removeRecord()
        try withDescriptor { guard fsync($0) == 0 else { throw POSIXError.last } }
    }

    /// Returns the SHA-256 hash of the whole file.
    func hash() async throws -> [UInt8] {
        var hasher = SHA256Hasher()
        var chunk = [UInt8](repeating: 0, count: 1 << 20)
        var position = 0
        while true {
            let count = try withDescriptor { descriptor in
                chunk.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, off_t(position)) }
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw POSIXError.last }
            if count == 0 { return hasher.finalize() }
            chunk.withUnsafeBytes { hasher.update(UnsafeRawBufferPointer(rebasing: $0.prefix(count))) }
            position += count
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    /// Removes the part and its record.
    func discard() {
        // While the file has its name and the lock, nobody else can have written a record.
        removeRecord()
        _ = unlink(url.path)
        close()
    }

    private func removeRecord() { _ = unlink(recordURL.path) }

    func close() {
        descriptor.withLock { if let open = $0.take() { _ = LetterheadFoundation.close(open) } }
    }
}

/// Returns two digits for each byte.
func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { String(UInt16($0) | 0x100, radix: 16).dropFirst() }.joined()
}

extension POSIXError {
    /// The reason for which the last call of the system failed.
    fileprivate static var last: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}
