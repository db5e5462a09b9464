// SPDX-License-Identifier: MIT
import LetterheadFoundation

/// The file of a cookie jar. Several processes may use it: each change is applied to the current content under a lock.
struct CookieFile: Sendable {
    /// The error that a jar reports if it can't use its file. It contains no cookie.
    struct Failure: Error, CustomStringConvertible {
        let description: String
        /// Whether the content isn't known, so that the file must not be replaced.
        var isUnreadable = false
    }

    private static let longest = 16 << 20

    private let url: URL

    init(_ url: URL) { self.url = url }

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

    /// Applies changes to the file, and removes cookies that have expired or have no expiry. Call it while you hold the
    /// lock.
    func save(_ changed: ArraySlice<CookieJar.Cookie>, at now: Date) throws {
        var table = CookieTable()
        do { for cookie in try load(at: now) { table.set(cookie, at: now) } } catch let failure as Failure {
            // Only a damaged file is replaced.
            if failure.isUnreadable { throw failure }
        }
        for cookie in changed {
            // If the new cookie cannot be written, the one in the file is removed. The file always fits the format.
            let isSaved = cookie.expires != nil && CookieText.canExpress(cookie)
            if isSaved { table.set(cookie, at: now) } else { table.remove(cookie) }
        }
        table.trim(at: now)
        let data = Data(CookieText.text(of: table.cookies(at: now)).utf8)
        try Self.naming { () throws(PrivateFile.Failure) in try PrivateFile(replacing: url).write(data) }
    }

    func delete() throws { try Self.naming { () throws(PrivateFile.Failure) in try PrivateFile.remove(url) } }

    /// Takes the lock as soon as no other process holds it. It blocks no thread while it waits.
    ///
    /// - Throws: ``held`` after the limit, and `CancellationError` if the task is cancelled.
    func lock(within limit: Duration) async throws -> Int32 {
        let start = ContinuousClock.now
        while true {
            if let lock = try takeLock() { return lock }
            guard ContinuousClock.now - start < limit else { throw Self.held }
            try await Task.sleep(for: Self.interval)
        }
    }

    /// Takes the lock like ``lock(within:)``, for a caller that can't suspend.
    func lock() throws -> Int32 {
        for _ in 0..<Int(Self.patience / Self.interval) {
            if let lock = try takeLock() { return lock }
            usleep(UInt32(Self.interval / .microseconds(1)))
        }
        throw Self.held
    }

    /// Takes the lock. Returns nil if a different process or jar holds it. The lock is a separate file, because the
    /// cookie file itself is replaced.
    private func takeLock() throws -> Int32? {
        let directory = url.deletingLastPathComponent()
        try? FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let name = SHA256Hash.hash(Array(url.lastPathComponent.utf8)).prefix(9)
        let lock = url.hiddenNeighbor(RandomBytes.base64URL(Array(name)) + ".lock")
        return try Self.naming(of: "lock of the cookie file") { () throws(PrivateFile.Failure) in
            try PrivateFile.lock(lock)
        }
    }

    /// How long a process waits for the lock. A process that works normally holds it only for one write.
    static let patience = Duration.seconds(5)
    private static let interval = Duration.milliseconds(5)

    static let held = Failure(
        description: "the cookie file was not changed, because its lock was not released in time")

    private static let damaged = Failure(
        description: "the cookie file is damaged and is treated as empty (saving a cookie replaces it)")

    private static func naming<Value>(
        of file: String = "cookie file", _ use: () throws(PrivateFile.Failure) -> Value
    ) throws(Failure) -> Value {
        do throws(PrivateFile.Failure) { return try use() } catch .tooLarge { throw damaged } catch {
            let isUnreadable = if case .unreadable = error { true } else { false }
            throw Failure(description: "the \(file) \(error.rule)", isUnreadable: isUnreadable)
        }
    }
}

extension CookieJar {
    /// The cookies, with their values, in the format of `cookies.txt`, which curl and browser extensions read and
    /// write.
    ///
    /// Session cookies have an expiry of 0. The format cannot express `SameSite`. Cookies with a control character,
    /// such as a tab or a line break, are left out.
    public var text: String { CookieText.text(of: cookies.filter(CookieText.canExpress)) }

    /// Adds cookies from a string in the format of `cookies.txt`. They replace cookies with the same name, domain and
    /// path.
    ///
    /// Expired cookies are left out. If the jar has a file, it is written once for all cookies.
    ///
    /// - Throws: an error with the number of the first malformed line. No cookie is added then.
    public func add(text: String) throws {
        let time = now()
        set(try CookieText.cookies(of: text, at: time).filter { !$0.hasExpired(at: time) })
    }

    /// The error for malformed cookies. It contains no part of the string.
    struct TextError: Error, CustomStringConvertible {
        /// The number of the line, from 1.
        let line: Int
        var description: String {
            "line \(line) of the cookies is malformed: expected seven fields, separated by tabs"
        }
    }
}

/// The format `cookies.txt`: one line for each cookie, with seven fields separated by tabs.
enum CookieText {
    private static let header = "# Netscape HTTP Cookie File\n"
    private static let httpOnly = "#HttpOnly_"
    /// The latest expiry, in seconds since 1970.
    private static let latest = Double(1 << 47)

    static func text(of cookies: [CookieJar.Cookie]) -> String {
        cookies.reduce(into: header) { text, cookie in
            let seconds = cookie.expires.map { Int64(min(max($0.timeIntervalSince1970, 1), latest)) } ?? 0
            let fields = [
                (cookie.isHTTPOnly ? httpOnly : "") + (cookie.isHostOnly ? "" : ".") + cookie.domain,
                cookie.isHostOnly ? "FALSE" : "TRUE", cookie.path, cookie.isSecure ? "TRUE" : "FALSE", "\(seconds)",
                cookie.name, cookie.value,
            ]
            text += fields.joined(separator: "\t") + "\n"
        }
    }

    /// Whether the format can express a cookie. A tab or a line break in a field would change what its line means.
    static func canExpress(_ cookie: CookieJar.Cookie) -> Bool {
        guard let copy = (try? cookies(of: text(of: [cookie]), at: cookie.created))?.first else { return false }
        return copy.hasSameKey(as: cookie) && copy.value.isSame(as: cookie.value) && copy.isSecure == cookie.isSecure
    }

    static func cookies(of text: String, at now: Date) throws(CookieJar.TextError) -> [CookieJar.Cookie] {
        var cookies: [CookieJar.Cookie] = []
        let lines = text.split(at: "\n", omittingEmpty: false)
        for (index, line) in lines.enumerated() {
            var bytes = line.utf8
            if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
            let isHTTPOnly = line.begins(with: httpOnly)
            if isHTTPOnly { bytes.removeFirst(httpOnly.utf8.count) }
            let line = Substring(bytes)
            if line.isEmpty || !isHTTPOnly && line.begins(with: "#") { continue }
            guard let cookie = cookie(line, isHTTPOnly: isHTTPOnly, now: now) else {
                throw CookieJar.TextError(line: index + 1)
            }
            cookies.append(cookie)
        }
        return cookies
    }

    private static func cookie(_ line: Substring, isHTTPOnly: Bool, now: Date) -> CookieJar.Cookie? {
        let fields = line.utf8.split(separator: 0x09, maxSplits: 6, omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        // curl omits the last tab of a cookie without a value.
        let domain = CookieRules.canonical(domain: fields[0])
        guard fields.count >= 6, let isWide = flag(fields[1]), let isSecure = flag(fields[3]),
            let seconds = Int64(fields[4]), !domain.isEmpty, domain.isQuicklyCompared,
            fields[2].begins(with: "/"),
            seconds.magnitude < 1 << 48,
            line.utf8.allSatisfy({ $0 == 0x09 || $0 >= 0x20 && $0 != 0x7F })
        else { return nil }
        let cookie = CookieJar.Cookie(
            name: fields[5], value: fields.count > 6 ? fields[6] : "", domain: domain, isHostOnly: !isWide,
            path: fields[2],
            expires: seconds == 0 ? nil : Date(timeIntervalSince1970: Double(seconds)), isSecure: isSecure,
            isHTTPOnly: isHTTPOnly, sameSite: nil, now: now)
        return cookie.size <= SetCookie.longest.pair ? cookie : nil
    }

    private static func flag(_ text: String) -> Bool? {
        text.isSame(as: "TRUE") ? true : text.isSame(as: "FALSE") ? false : nil
    }
}
