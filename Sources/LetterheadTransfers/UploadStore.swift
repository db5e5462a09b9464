// SPDX-License-Identifier: MIT
import Letterhead
public import LetterheadFoundation

/// A folder that remembers unfinished uploads, so that they continue after the program has restarted.
///
/// ```swift
/// let store = UploadStore(in: folder, user: "ada")
/// try await client.upload(AddVideo(), from: FileBody(at: file), resuming: store)
/// for upload in try store.uploads() { print(upload.fileName, upload.created) }
/// ```
///
/// Each upload has a small store file in the folder, which only the current user can read. Several processes can use
/// the folder at the same time.
///
/// - The store file contains the upload URL. For a file, it also contains the name, the size and the modification time.
///   For bytes in memory, it contains the size and a SHA-256 digest.
/// - The store file contains no content and no credentials. But if the server doesn't check credentials, the URL is
///   enough to change or end the upload. Protect the folder as you protect the content.
/// - An entry is removed when its upload is complete or cancelled. An upload that has expired isn't continued, and
///   ``uploads()`` removes its entry.
public struct UploadStore: Sendable {
    private let folder: URL
    private let owner: String
    let maximumAge: Duration
    let now: @Sendable () -> Date

    /// Creates a store. It reads and writes nothing until it is used.
    ///
    /// - Parameters:
    ///   - folder: a folder that only upload stores use. It is created when the first upload begins.
    ///   - user: the user who is signed in. Uploads of other users aren't listed and aren't continued. Default: empty.
    ///   - maximumAge: the age after which an upload isn't continued. Default: seven days.
    ///   - now: returns the current date.
    public init(
        in folder: URL, user: String = "", maximumAge: Duration = .seconds(604_800),
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        (self.folder, self.maximumAge, self.now) = (folder, maximumAge, now)
        owner = Self.hash(user)
    }

    /// Returns all unfinished uploads of the user, the oldest first. Files that aren't entries are left out.
    ///
    /// - Throws: an error from the file system.
    public func uploads() throws -> [UnfinishedUpload] {
        guard FileManager.default.fileExists(atPath: folder.filePath) else { return [] }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.filePath)
        return names.filter(isOwn).compactMap { try? live($0) }.sorted { $0.created < $1.created }
    }

    /// Removes an upload from the store. The server keeps it until it expires there.
    ///
    /// The next call for the same content starts a new upload. To delete the upload at the server as well, use
    /// `HTTPClient.cancel(_:in:)`.
    ///
    /// - Throws: `HTTPError` with `.uploadInUse` if a task or process sends the upload, or `.uploadStoreFailed`.
    public func remove(_ upload: UnfinishedUpload) throws {
        try HTTPRequest(method: .delete, url: upload.url).storing(isSent: false) {
            let entry = try entry(upload.id)
            // In the meantime, a newer upload of the file may have replaced this one.
            if try entry.upload()?.url == upload.url { entry.forget() }
        }
    }

    private func live(_ id: String) throws -> UnfinishedUpload? {
        let file = folder.appendingPathComponent(id)
        guard var upload: UnfinishedUpload = try PartFile.record(in: file) else { return nil }
        upload.id = id
        guard upload.expires <= now() else { return upload }
        // In the meantime, a different process may have begun the upload again.
        if let entry = try? UploadEntry(file), try entry.upload().map({ $0.expires <= now() }) == true {
            entry.forget()
        }
        return nil
    }

    /// Opens and locks a store entry.
    ///
    /// - Throws: ``PartFile/IsInUse`` or an error from the file system. `EINVAL` if the name isn't one that the store
    ///   gives to the entries of the user: a program may have decoded an upload with any name.
    func entry(_ id: String) throws -> UploadEntry {
        guard isOwn(id) else { throw POSIXError(.EINVAL) }
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        return try UploadEntry(folder.appendingPathComponent(id))
    }

    private func isOwn(_ id: String) -> Bool {
        id.begins(with: "\(owner)-") && id.ends(with: ".json")
            && ASCII.allBytes(of: id) { $0 > 0x20 && $0 != UInt8(ascii: "/") }
    }

    func id(of identity: String) -> String { "\(owner)-\(Self.hash(identity)).json" }

    private static func hash(_ text: String) -> String {
        String(hexadecimal(SHA256Hash.hash(Array(text.utf8))).prefix(32))
    }
}

/// An unfinished upload that a store remembers. It doesn't contain the offset, because only the server knows it.
public struct UnfinishedUpload: Codable, Sendable, Hashable, Identifiable {
    /// The name of the store entry, which identifies the upload in its store.
    public internal(set) var id: String
    /// The key from ``UploadSettings/key``, or nil if the upload was begun without one.
    public let key: String?
    /// The upload URL at the server. It may be secret.
    public let url: URL
    /// The file name, or an empty string for bytes in memory.
    public let fileName: String
    /// The content size in bytes.
    public let byteCount: Int
    /// When the upload was created.
    public let created: Date
    /// When the upload can no longer be continued: the date that the server has set or the maximum age in the store,
    /// whichever is earlier.
    public internal(set) var expires: Date
    let kind: String
    /// The origin where the upload was created. A server chooses the URL, so other origins receive no credentials.
    let origin: String?
    var modified: Int64
    let digest: String?
    let start: Int?
}

/// The store entry for an upload. Until it is released, it holds a lock, so that no other task or process sends the
/// upload.
final class UploadEntry: Sendable {
    let file: URL
    private var lock: URL { file.appendingPathExtension("lock") }
    private var draft: URL { file.appendingPathExtension("new") }
    private let descriptor: Int32

    init(_ file: URL) throws {
        self.file = file
        descriptor = try PartFile.lockedFile(file.appendingPathExtension("lock").filePath, O_CREAT)
    }

    /// Releases the lock. If there is no upload in the entry, the lock file is removed.
    deinit {
        if (try? upload()) == nil { _ = unsafe unlink(lock.filePath) }
        PrivateFile.unlock(descriptor)
    }

    func upload() throws -> UnfinishedUpload? { try PartFile.record(in: file) }

    /// Replaces the file atomically. If the process ends during the call, the file has either the old or the new
    /// content.
    func write(_ upload: UnfinishedUpload) throws {
        _ = unsafe unlink(draft.filePath)
        defer { _ = unsafe unlink(draft.filePath) }
        try PartFile.write(upload, to: draft)
        guard unsafe rename(draft.filePath, file.filePath) == 0 else { throw POSIXError.last }
    }

    func forget() { for url in [file, draft] { _ = unsafe unlink(url.filePath) } }
}
