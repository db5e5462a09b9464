// SPDX-License-Identifier: MIT
import Foundation
import LetterheadTesting
import Synchronization
import TestKit
import Testing

@testable import Letterhead

@Suite struct CookieFileTests {
    private let file = FileManager.default.temporaryDirectory.appending(path: "letterhead-\(UUID())/cookies.txt")
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    private func jar(_ errors: (@Sendable (any Error) -> Void)? = nil) -> CookieJar {
        CookieJar(file: file, now: { [now] in now }, onError: errors ?? { Issue.record($0) })
    }

    private func cookie(_ name: String, lifetime: TimeInterval? = 1000) -> CookieJar.Cookie {
        CookieJar.Cookie(name, "value of \(name)", domain: "a.example", expires: lifetime.map { now + $0 })
    }

    private func remove() { try? FileManager.default.removeItem(at: file.deletingLastPathComponent()) }

    @Test func `persistent cookies survive, and session cookies and expired ones do not`() throws {
        defer { remove() }
        let first = jar()
        for cookie in [cookie("a"), cookie("session", lifetime: nil), cookie("old", lifetime: -1)] { first.set(cookie) }
        #expect(first.cookies.map(\.name) == ["a", "session"])
        #expect(jar().cookies.map(\.value) == ["value of a"])
        let later = CookieJar(file: file, now: { [now] in now + 2000 })
        #expect(later.cookies.isEmpty)
    }

    @Test func `the name of the file can be as long as the file system allows`() throws {
        defer { remove() }
        let long = file.deletingLastPathComponent().appending(path: String(repeating: "\u{E9}", count: 127) + "x")
        for names in [[], ["a"]] {
            let jar = CookieJar(file: long, now: { [now] in now }, onError: { Issue.record($0) })
            #expect(jar.cookies.map(\.name) == names)
            jar.set(cookie("a"))
        }
    }

    @Test func `only the owner can read the file`() throws {
        defer { remove() }
        jar().set(cookie("a"))
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    }

    @Test(arguments: ["a.example\tFALSE\t/\n", "\u{0}\u{1}", "a\tb\tc\td\te\tf\tg\n"])
    func `a damaged file is an empty jar and one error without its content`(content: String) throws {
        defer { remove() }
        jar().set(cookie("a"))
        try Data(content.utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        let errors = Mutex<[String]>([])
        let damaged = jar { error in errors.withLock { $0.append("\(error)") } }
        #expect(damaged.cookies.isEmpty && errors.withLock { $0.count } == 1)
        #expect(errors.withLock { $0[0].contains("damaged") })
        damaged.set(cookie("b"))
        #expect(jar().cookies.map(\.name) == ["b"])
    }

    @Test func `two jars of one file keep each other's cookies`() throws {
        defer { remove() }
        let (first, second) = (jar(), jar())
        first.set(cookie("a"))
        second.set(cookie("b"))
        first.set(cookie("c"))
        first.remove(cookie("a"))
        #expect(jar().cookies.map(\.name) == ["b", "c"])
    }

    /// Takes the lock of the cookie file, as another process does.
    private func takeLock() throws -> Int32 {
        let folder = file.deletingLastPathComponent()
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".lock") }
        let lock = folder.appending(path: try #require(names.first))
        return try #require(try PrivateFile.lock(lock))
    }

    @Test(.timeLimit(.minutes(1)))
    func `a lock of another process delays a request until its deadline, and the file keeps its cookies`() async throws
    {
        defer { remove() }
        jar().set(cookie("old"))
        let lock = try takeLock()
        let errors = SharedValue([String]())
        let jar = jar { error in errors.withLock { $0.append("\(error)") } }
        let chain =
            Deadline() --> jar
            --> MockLoader {
                HTTPResponse(request: $0, status: .ok, headers: ["Set-Cookie": "new=1; Max-Age=1000"])
            }
        var request = try HTTPRequest("https://a.example/")
        // On a busy machine, the deadline may pass before the response is there.
        var status: HTTPStatus?
        for limit in [50, 500, 5_000] where status == nil {
            request.deadline = .milliseconds(limit)
            status = try? await chain.load(request).status
        }
        #expect(status == .ok)
        #expect(jar.cookies.map(\.name) == ["new", "old"] && self.jar().cookies.map(\.name) == ["old"])
        #expect(errors.withLock { $0.count == 1 && $0[0].contains("its lock was not released in time") })
        PrivateFile.unlock(lock)
        jar.set(cookie("later"))
        #expect(self.jar().cookies.map(\.name) == ["later", "new", "old"] && errors.withLock { $0.count } == 1)
    }

    @Test(.timeLimit(.minutes(1)))
    func `responses that wait for the lock are saved together, also the one of a cancelled task`() async throws {
        defer { remove() }
        jar().set(cookie("old"))
        let lock = try takeLock()
        let jar = jar()
        let chain =
            jar
            --> MockLoader {
                let field = "\($0.path.string.dropFirst())=1; Max-Age=1000; Path=/"
                return HTTPResponse(request: $0, status: .ok, headers: ["Set-Cookie": field])
            }
        let requests = try (0..<100).map { try HTTPRequest("https://a.example/n\($0)") }
        let tasks = requests.map { request in Task { try await chain.load(request) } }
        await until { jar.cookies.count == 101 }
        tasks[0].cancel()
        #expect(try await tasks[0].value.status == .ok)
        PrivateFile.unlock(lock)
        for task in tasks { _ = try await task.value }
        #expect(self.jar().cookies.count == 101)
    }

    @Test(.timeLimit(.minutes(1)))
    func `a reset deletes the file even if another process holds the lock`() async throws {
        defer { remove() }
        jar().set(cookie("old"))
        let lock = try takeLock()
        defer { PrivateFile.unlock(lock) }
        let errors = SharedValue([String]())
        let jar = jar { error in errors.withLock { $0.append("\(error)") } }
        let reset = Task { await jar.reset(next: MockLoader()) }
        reset.cancel()
        await reset.value
        #expect(jar.cookies.isEmpty && !FileManager.default.fileExists(atPath: file.path))
        #expect(errors.withLock { $0.count == 1 && $0[0].contains("its lock was not released in time") })
    }

    @Test func `concurrent jars lose no cookie`() async throws {
        defer { remove() }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask {
                    let jar = jar()
                    for step in 0..<8 { jar.set(cookie("n\(number)-\(step)")) }
                }
            }
        }
        #expect(jar().cookies.count == 64)
    }

    @Test func `a tab in a path of a server adds no other cookie to the file, and destroys none`() throws {
        defer { remove() }
        let url = try #require(URL(string: "http://a.example/"))
        let jar = jar()
        for field in [
            "kept=1; Max-Age=33999999", "a=b; Max-Age=33999999; Path=/\tTRUE\t1900000000\t__Host-sid\tevil",
            "c=d; Max-Age=33999999; Path=/x\ty",
        ] {
            var response = HTTPResponse(request: HTTPRequest(url: url), status: .ok)
            response.headers["Set-Cookie"] = field
            for cookie in response.cookies { jar.set(cookie) }
        }
        #expect(self.jar().cookies.map(\.name) == ["kept"])
    }

    @Test(arguments: ["-9223372036854775808", "9223372036854775807"])
    func `an expiry that is out of range is a malformed line`(expiry: String) {
        let line = "a.example\tFALSE\t/\tFALSE\t\(expiry)\tname\tvalue"
        #expect(throws: CookieJar.TextError.self) { try CookieJar().add(text: line) }
    }

    @Test func `a reset deletes the file`() async throws {
        defer { remove() }
        let jar = jar()
        jar.set(cookie("a"))
        await HTTPClient(cookies: jar, transport: MockLoader()).reset()
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @Test func `a change that could not be saved is saved with the next one`() throws {
        defer { remove() }
        let first = jar { _ in }
        for name in ["a", "b"] { first.set(cookie(name)) }
        let saved = try Data(contentsOf: file)
        // A directory in the place of the file.
        try FileManager.default.removeItem(at: file)
        try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
        first.remove(cookie("a"))
        first.set(cookie("c"))
        try FileManager.default.removeItem(at: file)
        try saved.write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        first.set(cookie("d"))
        #expect(jar().cookies.map(\.name) == ["b", "c", "d"])
    }

    @Test func `a text with many cookies is one change of the file`() throws {
        let errors = Mutex(0)
        let jar = CookieJar(
            file: URL(filePath: "/proc/letterhead/cookies.txt"), now: { [now] in now },
            onError: { _ in errors.withLock { $0 += 1 } })
        let before = errors.withLock { $0 }
        let lines = (0..<100).map { "a.example\tFALSE\t/\tFALSE\t1900000000\tname\($0)\tvalue" }
        try jar.add(text: lines.joined(separator: "\n"))
        #expect(jar.cookies.count == 100)
        #expect(errors.withLock { $0 } == before + 1)
    }

    @Test func `a cookie whose expiry slides or whose flags change is saved`() async throws {
        defer { remove() }
        let time = Mutex(now)
        let field = Mutex("sid=1; Max-Age=3600; Path=/")
        let file = file
        func jar() -> CookieJar { CookieJar(file: file, now: { time.withLock { $0 } }, onError: { Issue.record($0) }) }
        let server = MockLoader { request in
            HTTPResponse(request: request, status: .ok, headers: ["Set-Cookie": field.withLock { $0 }])
        }
        let client = HTTPClient(cookies: jar(), transport: server)
        let request = try HTTPRequest("https://a.example/")
        // The moves are small, and their sum is longer than the lifetime.
        for _ in 0..<300 {
            _ = try await client.send(request)
            time.withLock { $0 += 20 }
        }
        #expect(jar().cookies.map(\.name) == ["sid"])
        #expect(jar().cookies[0].expires.map { $0 > time.withLock { $0 } + 3500 } == true)
        #expect(!jar().cookies[0].isSecure)
        field.withLock { $0 += "; Secure" }
        _ = try await client.send(request)
        #expect(jar().cookies[0].isSecure && !jar().cookies[0].isHTTPOnly)
        field.withLock { $0 += "; HttpOnly" }
        _ = try await client.send(request)
        #expect(jar().cookies[0].isHTTPOnly)
    }

    @Test func `the text of curl is read, and written again`() throws {
        let text = """
            # Netscape HTTP Cookie File
            # https://curl.se/docs/http-cookies.html

            .example.com\tTRUE\t/\tTRUE\t1800000500\tid\ta=b
            #HttpOnly_www.example.com\tFALSE\t/x\tFALSE\t0\tempty\t
            old.example\tFALSE\t/\tFALSE\t1\told\t1
            """
        let jar = CookieJar(now: { [now] in now })
        try jar.add(text: text)
        #expect(jar.cookies.map(\.name) == ["id", "empty"])
        #expect(jar.cookies[0].domain == "example.com" && !jar.cookies[0].isHostOnly && jar.cookies[0].isSecure)
        #expect(jar.cookies[1].isHTTPOnly && jar.cookies[1].isHostOnly && jar.cookies[1].value.isEmpty)
        let copy = CookieJar(now: { [now] in now })
        try copy.add(text: jar.text)
        #expect(copy.text == jar.text && jar.text.contains("#HttpOnly_www.example.com\tFALSE\t/x\tFALSE\t0\tempty\t\n"))
        let error = #expect(throws: CookieJar.TextError.self) { try copy.add(text: text + "\nbroken s3cret") }
        #expect(error?.line == 7 && error?.description.contains("s3cret") == false)
    }
}
