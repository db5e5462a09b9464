import Foundation

/// The file of a jar. Several processes may use it: each change is applied to the content of the file under a lock.
struct CookieFile: Sendable {
    /// The error of a jar whose file cannot be used. It contains no cookie.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private static let longest = 16 << 20

    private let url: URL

    init(_ url: URL) { self.url = url }

    /// Returns the persistent cookies of the file that have not expired.
    func load(at now: Date) throws -> [CookieJar.Cookie] {
        guard
            let data = try Self.naming({ () throws(PrivateFile.Failure) in
                try PrivateFile.read(url, upTo: Self.longest)
            })
        else { return [] }
        guard let text = String(validating: data, as: UTF8.self) else { throw Self.damaged }
        let cookies: [CookieJar.Cookie]
        do { cookies = try CookieText.cookies(of: text, at: now) } catch { throw Self.damaged }
        return cookies.filter { $0.expires != nil && !$0.hasExpired(at: now) }
    }

    /// Applies changes to the file. A cookie that has expired or has no expiry is removed from it.
    ///
    /// - Parameter isCurrent: called under the lock of the file; false keeps the file unchanged.
    func save(_ changed: [CookieJar.Cookie], at now: Date, if isCurrent: () -> Bool = { true }) throws {
        try locked {
            guard isCurrent() else { return }
            var table = CookieTable()
            // A damaged file is replaced.
            for cookie in (try? load(at: now)) ?? [] { table.set(cookie, at: now) }
            for cookie in changed {
                if cookie.expires == nil { table.remove(cookie) } else { table.set(cookie, at: now) }
            }
            let data = Data(CookieText.text(of: table.cookies(at: now)).utf8)
            try Self.naming { () throws(PrivateFile.Failure) in try PrivateFile(replacing: url).write(data) }
        }
    }

    /// Deletes the file.
    func delete() throws {
        try locked {
            let result = url.withUnsafeFileSystemRepresentation { path in path.map { unlink($0) } ?? -1 }
            guard result == 0 || errno == ENOENT else {
                throw Failure(description: "the cookie file cannot be deleted")
            }
        }
    }

    /// Runs a closure while no other process changes the file. The lock is a separate file, because the file itself is
    /// replaced.
    private func locked(_ change: () throws -> Void) throws {
        let directory = url.deletingLastPathComponent()
        try? FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let name = SHA256Hash.hash(Array(url.lastPathComponent.utf8)).prefix(9)
        let lock = url.hiddenNeighbor(RandomBytes.base64URL(Array(name)) + ".lock")
        let descriptor = lock.withUnsafeFileSystemRepresentation { path in
            path.map { open($0, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600) } ?? -1
        }
        guard descriptor >= 0 else { throw Failure(description: "the cookie file cannot be written") }
        defer { _ = close(descriptor) }
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else { throw Failure(description: "the cookie file cannot be locked") }
        }
        try change()
    }

    private static let damaged = Failure(
        description: "the cookie file is damaged and is treated as empty; it is replaced when a cookie is saved")

    private static func naming<Value>(_ use: () throws(PrivateFile.Failure) -> Value) throws(Failure) -> Value {
        do throws(PrivateFile.Failure) {
            return try use()
        } catch {
            switch error {
            case .unwritable: throw Failure(description: "the cookie file cannot be written")
            case .unreadable: throw Failure(description: "the cookie file cannot be read")
            case .tooLarge: throw damaged
            case .foreign: throw Failure(description: "the cookie file belongs to another user; delete it")
            case .shared:
                throw Failure(description: "other users can write the cookie file; set its permissions to 0600")
            }
        }
    }
}
