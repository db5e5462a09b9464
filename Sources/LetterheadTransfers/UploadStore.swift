// SPDX-License-Identifier: MIT
import Letterhead
public import LetterheadFoundation

/// A folder that remembers unfinished uploads, so that they continue after a restart of the program. Several processes
/// can use it at the same time.
///
/// ```swift
/// let store = UploadStore(in: folder, user: "ada")
/// try await client.upload(AddVideo(), from: FileBody(at: file), resuming: store)
/// for upload in try store.uploads() { print(upload.fileName, upload.created) }
/// ```
///
/// Each upload has a small file that contains the upload's URL, and the name, size and modification time of the file
/// that is sent, or the size and the SHA-256 digest of bytes in memory. It contains no content and no credentials, and
/// only the current user can read it. The URL may be enough to change or end the upload if the server doesn't check
/// credentials, so protect the folder as you protect the content.
///
/// An entry is removed when its upload is complete or cancelled. An upload that has expired isn't continued, and
/// ``uploads()`` removes its entry.
public struct UploadStore: Sendable {
    private let folder: URL
    private let owner: String
    let maximumAge: Duration
    let now: @Sendable () -> Date

    /// - Parameters:
    ///   - folder: a folder that only stores use. It's created when the first upload begins.
    ///   - user: the user who is signed in. Uploads of other users aren't listed and aren't continued. Default: empty.
    ///   - maximumAge: the age after which an upload isn't continued. Default: seven days.
    ///   - now: the current date. Default: the system's date.
    public init(
        in folder: URL, user: String = "", maximumAge: Duration = .seconds(604_800),
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        (self.folder, self.maximumAge, self.now) = (folder, maximumAge, now)
        owner = Self.hash(user)
    }

    /// The user's unfinished uploads, the oldest first. Files that aren't entries are left out.
    ///
    /// - Throws: an error from the file system.
    public func uploads() throws -> [UnfinishedUpload] {
        guard FileManager.default.fileExists(atPath: folder.filePath) else { return [] }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.filePath)
        return names.filter(isOwn).compactMap { try? live($0) }
            .sorted { $0.created < $1.created }
    }

    /// Removes an upload from the store, and leaves it at the server until it expires there. The next call for the same
    /// content starts a new upload. To delete the upload at the server, use `HTTPClient.cancel(_:in:)`.
    ///
    /// - Throws: `HTTPError` with `.uploadInUse` if a task or process sends the upload, or `.uploadStoreFailed`.
    public func remove(_ upload: UnfinishedUpload) throws {
        try HTTPRequest(method: .delete, url: upload.url).storing(isSent: false) {
            let entry = try entry(upload.id)
            // Another upload of the file may have replaced it.
            if try entry.upload()?.url == upload.url { entry.forget() }
        }
    }

    private func live(_ id: String) throws -> UnfinishedUpload? {
        let file = folder.appendingPathComponent(id)
        guard var upload: UnfinishedUpload = try PartFile.record(in: file) else { return nil }
        upload.id = id
        guard upload.expires <= now() else { return upload }
        // Another process may have begun it again.
        if let entry = try? UploadEntry(file), try entry.upload().map({ $0.expires <= now() }) == true {
            entry.forget()
        }
        return nil
    }

    /// Opens and locks an upload's entry.
    ///
    /// - Throws: ``PartFile/IsInUse`` or an error from the file system. `EINVAL` if the name isn't one that the store
    ///   gives to the user's entries: an upload that a program has decoded can contain any name.
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

/// An upload that a store remembers. Its offset isn't part of it, because only the server knows it.
public struct UnfinishedUpload: Codable, Sendable, Hashable, Identifiable {
    /// The name of the entry's file.
    public internal(set) var id: String
    /// The key in the upload's settings.
    public let key: String?
    /// The upload's URL at the server. It may be secret.
    public let url: URL
    /// The file's name. Empty for bytes in memory.
    public let fileName: String
    /// The content's size in bytes.
    public let byteCount: Int
    public let created: Date
    /// When the upload can no longer be continued: the server's date or the store's maximum age, whichever is earlier.
    public internal(set) var expires: Date
    let kind: String
    /// The origin where the upload was created. No other one receives credentials, because a server chooses the URL.
    let origin: String?
    var modified: Int64
    let digest: String?
    let start: Int?
}

/// An upload's file in a store. Until it is released, it holds a lock, so that no other task or process sends the
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

    /// Releases the lock. Without an upload, nothing is left.
    deinit {
        if (try? upload()) == nil { _ = unsafe unlink(lock.filePath) }
        PrivateFile.unlock(descriptor)
    }

    func upload() throws -> UnfinishedUpload? { try PartFile.record(in: file) }

    /// Replaces the file atomically: a process that ends now leaves the old content or the new one.
    func write(_ upload: UnfinishedUpload) throws {
        _ = unsafe unlink(draft.filePath)
        try PartFile.write(upload, to: draft)
        guard unsafe rename(draft.filePath, file.filePath) == 0 else { throw POSIXError.last }
    }

    func forget() { for url in [file, draft] { _ = unsafe unlink(url.filePath) } }
}
