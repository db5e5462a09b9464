// SPDX-License-Identifier: MIT
#if os(Linux) && DEBUG
    import Foundation
    @testable import Letterhead
    import LetterheadCaching
    import LetterheadOAuth
    import LetterheadTransfers
    import Synchronization

    /// Uses files in folders that everyone can write, such as `/tmp`, after another user has put something in their
    /// places. As root, the process becomes another user after that. If the process is not root, all files are its own.
    struct SharedFolders {
        enum File: CaseIterable {
            case part, record, destination, cookies, cookieLock, tokens, cache
        }

        enum Obstacle: CaseIterable {
            case link, danglingLink, device, pipe, otherName, directory, foreign, unreadable
        }

        private struct Case {
            let (file, obstacle): (File, Obstacle)
            let folder: URL
            let cookieLock: String

            var destination: URL { folder.appending(path: "film.mp4") }
            var place: URL {
                switch file {
                case .part: folder.appending(path: ".film.mp4.letterhead-part")
                case .record: folder.appending(path: ".film.mp4.letterhead-part.json")
                case .destination: destination
                case .cookieLock: folder.appending(path: cookieLock)
                case .cookies, .tokens, .cache: folder.appending(path: "file")
                }
            }
        }

        private static let (user, stranger): (uid_t, uid_t) = (65534, 12345)
        private static let secret = Data("a secret of this user".utf8)

        private let root = FileManager.default.temporaryDirectory.appending(path: "letterhead-\(UUID().uuidString)")

        func run() async throws {
            let isRoot = geteuid() == 0
            let lock = try Self.nameOfLock()
            var cases: [Case] = []
            for file in File.allCases {
                for obstacle in Obstacle.allCases where isRoot || ![.foreign, .unreadable].contains(obstacle) {
                    // Other files are written without being read, or reading them is all that is tried.
                    if obstacle == .unreadable, file != .cookies { continue }
                    let folder = root.appending(path: "\(file)-\(obstacle)")
                    let one = Case(file: file, obstacle: obstacle, folder: folder, cookieLock: lock)
                    try prepare(one)
                    cases.append(one)
                }
            }
            if isRoot { expect(setgid(Self.user) == 0 && setuid(Self.user) == 0, "the process cannot change its user") }
            for one in cases { try await check(one) }
            print("ok: \(cases.count) files")
        }

        private func secret(of one: Case) -> URL { root.appending(path: "secrets/\(one.file)-\(one.obstacle)") }

        private func prepare(_ one: Case) throws {
            let files = FileManager.default
            let secret = secret(of: one)
            try files.createDirectory(at: secret.deletingLastPathComponent(), withIntermediateDirectories: true)
            try files.createDirectory(at: one.folder, withIntermediateDirectories: true)
            for folder in [root, one.folder] { chmod(folder.path, 0o1777) }
            try Self.secret.write(to: secret)
            chmod(secret.path, 0o600)
            let (place, isRoot) = (one.place.path, geteuid() == 0)
            switch one.obstacle {
            case .link: symlink(secret.path, place)
            case .danglingLink: symlink(one.folder.appending(path: "new").path, place)
            case .device: symlink("/dev/null", place)
            case .pipe: mkfifo(place, 0o666)
            case .otherName: link(secret.path, place)
            case .directory: mkdir(place, 0o777)
            case .foreign:
                try Data().write(to: one.place)
                // The stranger has the lock.
                expect(flock(open(place, O_RDWR), LOCK_EX) == 0, "no lock")
            case .unreadable:
                try Data().write(to: one.place)
                chmod(place, 0o200)
            }
            let isOwn = one.obstacle == .unreadable
            if isRoot, one.obstacle != .otherName { lchown(place, isOwn ? Self.user : Self.stranger, Self.stranger) }
            if isRoot { chown(secret.path, Self.user, Self.user) }
            if one.obstacle == .foreign { chmod(place, 0o666) }
        }

        /// The hidden file beside the file "file" of a jar.
        private static func nameOfLock() throws -> String {
            let folder = FileManager.default.temporaryDirectory.appending(path: "letterhead-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            CookieJar(file: folder.appending(path: "file")).set(cookie)
            return try FileManager.default.contentsOfDirectory(atPath: folder.path).first { $0 != "file" } ?? ""
        }

        private static let cookie = CookieJar.Cookie("a", "b", domain: "a.example", expires: Date() + 1000)

        private func check(_ one: Case) async throws {
            let name = "\(one.file) \(one.obstacle)"
            let before = Self.facts(one.place)
            let result = await use(one)
            expect(
                (try? Data(contentsOf: secret(of: one))) == Self.secret, "\(name): the secret has changed: \(result)")
            let new = one.folder.appending(path: "new").path
            expect(!FileManager.default.fileExists(atPath: new), "\(name): a link was followed")
            let words = Self.words(one)
            expect(words.contains { result.contains($0) }, "\(name): expected \(words), got \(result)")
            // What may not be replaced is still there.
            if !words.contains("done") {
                expect(before == Self.facts(one.place), "\(name): it was replaced: \(result)")
            }
        }

        /// What an error contains about an obstacle.
        private static func words(_ one: Case) -> [String] {
            switch (one.file, one.obstacle) {
            // Only the name is this user's link, and is replaced. A stranger's link stays, as the folder is sticky.
            case (.destination, .link), (.destination, .danglingLink), (.destination, .foreign):
                geteuid() == user ? ["not permitted"] : ["done"]
            case (.destination, .otherName), (.record, .otherName): ["done"]
            case (.destination, .device): ["is a device"]
            // Its bytes cannot be read as cookies or tokens.
            case (.cookies, .otherName): ["damaged", "done"]
            case (.tokens, .otherName): ["malformed", "done"]
            case (.cache, .link), (.cache, .danglingLink), (.cache, .device), (.cache, .pipe), (.cache, .otherName):
                ["Not a directory"]
            case (.cache, .directory): geteuid() == user ? ["another user"] : ["done"]
            case (.cache, .foreign): ["Not a directory"]
            case (_, .link), (_, .danglingLink), (_, .device): ["is a symbolic link"]
            case (_, .pipe): ["is a pipe"]
            case (_, .otherName): ["more than one hard link"]
            case (_, .directory): ["is a directory"]
            case (_, .foreign): ["another user"]
            case (_, .unreadable): ["cannot be read"]
            }
        }

        private static func facts(_ file: URL) -> [UInt64] {
            var facts = stat()
            return lstat(file.path, &facts) == 0 ? [UInt64(facts.st_ino), UInt64(facts.st_mode)] : []
        }

        /// Uses a file, and returns what went wrong, or "done".
        private func use(_ one: Case) async -> String {
            do {
                switch one.file {
                case .part, .record: return await download(to: one.destination, resuming: true)
                case .destination:
                    let plain = await download(to: one.destination, resuming: false)
                    let resumed = await download(to: one.destination, resuming: true)
                    expect((plain == "done") == (resumed == "done"), "\(one): \(plain), \(resumed)")
                    return resumed
                case .cookies, .cookieLock:
                    let errors = Mutex<[String]>([])
                    let jar = CookieJar(
                        file: one.folder.appending(path: "file"),
                        onError: { error in errors.withLock { $0.append("\(error)") } })
                    jar.set(Self.cookie)
                    return errors.withLock { $0.isEmpty ? "done" : $0.joined(separator: ", ") }
                case .tokens:
                    _ = try await OAuth2.FileTokenStore(one.place).load()
                    return "done"
                case .cache:
                    _ = try ResponseCache.Store.files(in: one.place, bytes: 1 << 20)
                    return "done"
                }
            } catch { return "\(error)" }
        }

        private func download(to file: URL, resuming: Bool) async -> String {
            let requests = Mutex(0)
            let transport = AnyLoader { request in
                requests.withLock { $0 += 1 }
                let response = HTTPResponse(
                    request: request, status: .ok, headers: ["ETag": "\"1\"", "Content-Length": "6"],
                    body: HTTPResponseBody(Data("abcdef".utf8)))
                return try await response.delivered(to: request)
            }
            let client = HTTPClient(transport: transport)
            do {
                let request = try HTTPRequest("https://a.example/film.mp4")
                if resuming {
                    try await client.download(request, to: file, resuming: .fromPart)
                } else {
                    try await client.download(request, to: file)
                }
                return "done"
            } catch {
                let code = (error as? HTTPError)?.code
                expect(code == .cannotSaveResponse, "\(file.path): \(error)")
                let isLate = "\(error)".contains("not permitted")
                expect(requests.withLock { $0 } == (isLate ? 1 : 0), "\(file.path): something was sent: \(error)")
                return "\(error)"
            }
        }
    }
#endif
