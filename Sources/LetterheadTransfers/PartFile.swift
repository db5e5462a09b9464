// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadFoundation
import Synchronization

/// Records what the bytes in a part file belong to. It is stored in a file beside the part. The URL and the key may
/// contain secrets, so it contains only hashes of them.
struct PartRecord: Codable, Sendable, Hashable {
    private let salt: String
    private let resource: String
    /// The URL that the bytes come from, without its query. Nil if the caller's key identifies them.
    private let place: String?
    let validator: String
    /// The file length when it is complete.
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

/// An incomplete download, in a file beside its destination. Until it is closed, it holds a lock, so that no other task
/// or process writes to the file.
///
/// The system reads paths, and writes a `stat`, only until its functions return.
final class PartFile: Sendable {
    /// A different task or process has locked the part.
    struct IsInUse: Error {}

    /// The record and the bytes that an earlier load has left behind.
    struct Remains: Equatable {
        let record: PartRecord
        let count: Int
    }

    let url: URL
    private let recordURL: URL
    /// The open file, which has the lock. Nil after it was closed.
    private let descriptor: Mutex<Int32?>

    deinit {
        // A part without bytes is removed. This is safe, because the lock is still held.
        if (try? count()) == 0 { discard() } else { close() }
    }

    /// Opens and locks the part file for a destination.
    ///
    /// - Parameter flags: `O_CREAT` to create a missing part, or 0. Default: `O_CREAT`.
    /// - Throws: ``IsInUse`` or an error from the file system.
    init(beside place: URL, _ flags: Int32 = O_CREAT) throws {
        (url, recordURL) = Self.files(beside: place)
        descriptor = Mutex(try Self.lockedFile(url.filePath, flags))
    }

    private static func files(beside place: URL) -> (part: URL, record: URL) {
        let name = place.lastPathComponent
        // Most file systems limit names to 255 bytes.
        let short = name.utf8.count <= 200 ? name : hexadecimal(SHA256Hash.hash(Array(name.utf8)))
        let part = place.deletingLastPathComponent().appendingPathComponent(".\(short).letterhead-part")
        return (part, part.appendingPathExtension("json"))
    }

    /// Opens and locks a file.
    ///
    /// - Throws: ``IsInUse`` or an error from the file system.
    static func lockedFile(_ path: String, _ flags: Int32) throws -> Int32 {
        for _ in 0..<100 {
            // With O_APPEND, writing continues at the end, even if the file was shortened. The finished file stays with
            // the caller, so it has the permissions of any new file.
            let descriptor = try PrivateFile.open(path, O_RDWR | O_APPEND | flags, mode: 0o666)
            do {
                guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                    throw errno == EWOULDBLOCK ? IsInUse() : POSIXError.last
                }
                // The previous owner may have moved or removed the file before it released the lock.
                var (file, named) = (stat(), stat())
                guard unsafe fstat(descriptor, &file) == 0 else { throw POSIXError.last }
                if unsafe lstat(path, &named) == 0, named.st_ino == file.st_ino, named.st_dev == file.st_dev {
                    return descriptor
                }
            } catch {
                _ = LetterheadFoundation.close(descriptor)
                throw error
            }
            _ = LetterheadFoundation.close(descriptor)
        }
        throw POSIXError(.EAGAIN)
    }

    /// Returns what an earlier load has left behind for a resource, or nil if nothing can be continued. The part is
    /// open and locked only during this call.
    ///
    /// - Throws: ``IsInUse`` or an error from the file system, if the part or its record couldn't be written later.
    static func remains(beside place: URL, of resource: String?) throws -> Remains? {
        do {
            let part = try PartFile(beside: place, 0)
            defer { part.close() }
            return try part.remains(of: resource)
        } catch PrivateFile.Failure.unwritable(ENOENT) {
            _ = try record(in: files(beside: place).record) as PartRecord?
            return nil
        }
    }

    func remains(of resource: String?) throws -> Remains? {
        guard let record: PartRecord = try Self.record(in: recordURL), let resource, record.isOf(resource) else {
            return nil
        }
        let count = try count()
        return count >= 1 && count <= record.length ? Remains(record: record, count: count) : nil
    }

    /// Reads a record. A damaged record counts as absent.
    static func record<Record: Decodable>(in file: URL) throws -> Record? {
        do throws(PrivateFile.Failure) {
            return try PrivateFile.read(file, upTo: 1 << 16).flatMap { data in
                try? JSONDecoder().decode(Record.self, from: data)
            }
        } catch {
            switch error {
            case .foreign, .kind: throw error
            case .unwritable, .unreadable, .shared, .tooLarge: return nil
            }
        }
    }

    private func withDescriptor<Value>(_ body: (Int32) throws -> Value) throws -> Value {
        try descriptor.withLock { descriptor in
            guard let descriptor else { throw POSIXError(.EBADF) }
            return try body(descriptor)
        }
    }

    /// Returns the file size in bytes.
    func count() throws -> Int {
        try withDescriptor { descriptor in
            var facts = stat()
            guard unsafe fstat(descriptor, &facts) == 0 else { throw POSIXError.last }
            return Int(facts.st_size)
        }
    }

    /// Empties the part, and writes the record that describes its future bytes. Without a record, no later load can
    /// continue the part.
    func restart(_ record: PartRecord?) throws {
        removeRecord()
        try shorten(to: 0)
        // A partly written record cannot be decoded, so the next load starts again.
        if let record { try Self.write(record, to: recordURL) }
    }

    static func write(_ record: some Encodable, to url: URL) throws {
        let data = try JSONEncoder().encode(record)
        let file = try PrivateFile.open(url.filePath, O_WRONLY | O_CREAT | O_EXCL)
        defer { _ = LetterheadFoundation.close(file) }
        guard data.write(to: file) else { throw POSIXError.last }
    }

    func shorten(to count: Int) throws {
        try withDescriptor { guard ftruncate($0, off_t(count)) == 0 else { throw POSIXError.last } }
    }

    func append(_ piece: Data) throws {
        try withDescriptor { descriptor in
            guard piece.write(to: descriptor) else { throw POSIXError.last }
        }
    }

    /// Writes the complete part to the disk, and removes its record, before the part replaces the destination: as soon as
    /// it has moved, the next part can have the same name. If writing fails, bytes may be lost, so the record must not
    /// remain either.
    func finish() throws {
        defer { removeRecord() }
        try withDescriptor { guard fsync($0) == 0 else { throw POSIXError.last } }
    }

    /// Removes the part and its record.
    func discard() {
        // While this part holds the lock, no other load can have written a record. So the record that is removed
        // belongs to this part.
        removeRecord()
        _ = unsafe unlink(url.filePath)
        close()
    }

    private func removeRecord() { _ = unsafe unlink(recordURL.filePath) }

    func close() {
        descriptor.withLock { if let open = $0.take() { PrivateFile.unlock(open) } }
    }
}

extension HTTPRequest {
    /// Runs work on a file, and turns its errors into errors of this request.
    ///
    /// - Parameters:
    ///   - name: how the error message calls the file.
    ///   - inUse: the error code if a different task or process has locked the file.
    ///   - failed: the error code for all other failures.
    ///   - isSent: whether the request may have been sent. Default: true.
    func filing<Value>(
        _ name: String, _ inUse: HTTPError.Code, _ failed: HTTPError.Code, _ response: HTTPResponse? = nil,
        isSent: Bool = true, _ work: () throws -> Value
    ) throws(HTTPError) -> Value {
        do { return try work() } catch {
            let isInUse = error is PartFile.IsInUse
            throw HTTPError(
                isInUse ? inUse : failed, request: self, response: response?.withoutBody,
                underlying: isInUse ? nil : error,
                message: isInUse
                    ? "another task or process uses \(name) (wait until it has ended)"
                    : "\(name) could not be read or written",
                mayHaveBeenSent: isSent)
        }
    }
}

extension HTTPBody {
    func sha256() async throws -> [UInt8] {
        var hasher = SHA256Hash()
        for try await piece in try chunks() {
            hasher.update(piece)
            try Task.checkCancellation()
        }
        return hasher.finalize()
    }
}

/// Returns hexadecimal digits, two for each byte.
func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { String(UInt16($0) | 0x100, radix: 16).dropFirst() }.joined()
}

extension POSIXError {
    /// The reason why the last system call failed.
    static var last: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}
