// SPDX-License-Identifier: MIT
import Foundation
import LetterheadSigning
import LetterheadTesting
import Synchronization
import TestKit
import Testing

@testable import Letterhead

@Suite struct CookieJarTests {
    private struct Login: RequestTemplate {
        var path: RequestPath { "login" }
    }

    /// A client, with a server that sets the given cookies at any path, and the requests that the server received.
    private func client(
        _ jar: CookieJar, url: String = "https://www.example.com/", setting fields: [String] = []
    ) throws -> (HTTPClient, MockLoader) {
        let server = MockLoader { request in
            var response = HTTPResponse(request: request, status: .ok)
            if request.path.string.hasSuffix("login") {
                for field in fields { response.headers.append(.setCookie, field) }
            }
            return response
        }
        let environment = ServerEnvironment(baseURL: try #require(URL(string: url)))
        return (HTTPClient(environment: environment, cookies: jar, transport: server), server)
    }

    private func header(after fields: [String], at path: RequestPath = "x") async throws -> String? {
        let (client, server) = try client(CookieJar(), setting: fields)
        try await client.send(Login())
        try await client.send(Get<HTTPResponse>(path))
        return server.requests.last?.headers[.cookie]
    }

    @Test func `cookies are sent with longer paths first, then in the order of their creation`() async throws {
        let sent = try await header(after: [
            "b=1; Path=/", "a=2; Path=/", "long=3; Path=/x", "other=4; Path=/y", "b=5; Path=/",
        ])
        #expect(sent == "long=3; b=5; a=2")
    }

    @Test func `a cookie that expires is not sent`() async throws {
        #expect(try await header(after: ["a=1; Path=/", "a=; Path=/; Max-Age=0"]) == nil)
    }

    @Test(arguments: [
        HTTPAuthentication.digest(user: "ada", password: "p"),
        .challenge { _, _ in .basic(username: "ada", password: "p") },
    ]) func `a cookie of a 401 that is answered is stored, and sent with the answer`(method: HTTPAuthentication)
        async throws
    {
        let server = MockLoader { request in
            guard !request.headers.contains(.authorization) else { return .ok(request) }
            return HTTPResponse(
                request: request, status: 401,
                headers: ["WWW-Authenticate": "Digest realm=r, nonce=n", "Set-Cookie": "session=1; Path=/"])
        }
        let jar = CookieJar()
        let client = HTTPClient(
            environment: .of("https://www.example.com"), authentication: method, cookies: jar, transport: server)
        #expect(try await client.send(Get<HTTPResponse>("a")).status == .ok)
        #expect(server.requests.map { $0.headers[.cookie] } == [nil, "session=1"])
        #expect(jar.cookies.map(\.name) == ["session"])
    }

    @Test func `a reset removes all cookies`() async throws {
        let jar = CookieJar()
        let (client, server) = try client(jar, setting: ["a=1"])
        try await client.send(Login())
        #expect(jar.cookies.map(\.name) == ["a"])
        await client.reset()
        try await client.send(Login())
        #expect(server.requests.allSatisfy { !$0.headers.contains(.cookie) })
    }

    @Test func `a cookie of the request takes precedence over the same name of the jar`() async throws {
        let (client, server) = try client(CookieJar(), setting: ["a=1; Path=/", "b=2; Path=/"])
        try await client.send(Login())
        try await client.send(Get<HTTPResponse>("x").cookie("a", "own").timeout(.seconds(90)).cookie("c", "3"))
        #expect(server.requests.last?.headers.values(for: .cookie) == ["b=2; a=own; c=3"])
    }

    @Test func `a cookie of the request needs no jar, and a malformed one is refused before anything is sent`()
        async throws
    {
        let server = MockLoader { .ok($0) }
        let url = try #require(URL(string: "https://example.com"))
        let client = HTTPClient(environment: ServerEnvironment(baseURL: url), transport: server)
        try await client.send(Get<HTTPResponse>("x").cookie("a", "\"quoted\""))
        #expect(server.requests.map { $0.headers[.cookie] } == ["a=\"quoted\""])
        #expect(server.requests.allSatisfy { !$0.description.contains("quoted") })
        for (name, value) in [
            ("a b", "s3cret"), ("", "s3cret"), ("a", "s3cret;b=2"), ("a", "s3cret\r\nX: y"), ("a", "s3crété"),
            ("a", "s3cret, 2"),
        ] {
            let error = await failure { try await client.send(Get<HTTPResponse>("x").cookie(name, value)) }
            #expect(error?.code == .invalidRequest && error?.mayHaveBeenSent == false)
            #expect(error?.description.contains("s3cret") == false)
        }
        #expect(server.requests.count == 1)
    }

    @Test func `each hop of a redirect has the cookies of its host, and sets its own`() async throws {
        let server = MockLoader { request in
            let target = request.host == "a.example" ? "https://b.example/" : "https://a.example/end"
            guard request.path.string != "/end" else { return .ok(request) }
            return HTTPResponse(
                request: request, status: .found,
                headers: ["Location": target, "Set-Cookie": "at=\(request.host ?? "")"])
        }
        let client = HTTPClient(cookies: CookieJar(), transport: server)
        try await client.send(try HTTPRequest("https://a.example/start"))
        #expect(server.requests.map { $0.headers[.cookie] } == [nil, nil, "at=a.example"])
        try await client.send(try HTTPRequest("https://b.example/end"))
        #expect(server.requests.last?.headers[.cookie] == "at=b.example")
    }

    @Test(arguments: [
        ("http://localhost:8080/", true), ("http://127.0.0.1/", true), ("http://[::1]:80/", true),
        ("https://a.example/", true), ("http://a.example/", false), ("http://localhost.example/", false),
    ]) func `a cookie with Secure is taken from https and from this machine, and is sent there`(
        url: String, isTaken: Bool
    ) async throws {
        let jar = CookieJar()
        let (client, server) = try client(
            jar, url: url, setting: ["id=1; Secure; Path=/", "__Host-a=2; Secure; Path=/"])
        try await client.send(Login())
        try await client.send(Get<HTTPResponse>("x"))
        #expect(server.requests.last?.headers[.cookie] == (isTaken ? "id=1; __Host-a=2" : nil))
    }

    @Test func `a cookie without Secure over http does not hide one with Secure`() async throws {
        let jar = CookieJar()
        let (safe, _) = try client(jar, setting: ["id=1; Secure; Path=/"])
        try await safe.send(Login())
        let (unsafe, server) = try client(jar, url: "http://www.example.com/", setting: ["id=2; Path=/login"])
        let response = try await unsafe.sendWithResponse(Login()).response
        #expect(
            response[option: CookieDecisions.self].map(\.description) == [
                "refused id: \(CookieRules.Refusal.overlaysSecure.rawValue)"
            ])
        #expect(jar.cookies.map(\.value) == ["1"] && server.requests.last?.headers[.cookie] == nil)
    }

    @Test func `many cookies over http do not remove the one that http may not replace`() async throws {
        let jar = CookieJar()
        let (secure, _) = try client(jar, setting: ["session=good; Secure; Path=/"])
        try await secure.send(Login())
        let fields = (0..<200).map { "n\($0)=1; Path=/" } + ["session=evil; Path=/"]
        let (plain, _) = try client(jar, url: "http://www.example.com/", setting: fields)
        for _ in 0..<2 { try await plain.send(Login()) }
        #expect(jar.cookies.filter { $0.name == "session" }.map(\.value) == ["good"])
    }

    @Test func `180 cookies of a domain and 3,000 in all are kept, and the least recently used go first`() throws {
        let time = Mutex(Date(timeIntervalSince1970: 1_800_000_000))
        let jar = CookieJar(now: { time.withLock { $0 } })
        for number in 0..<200 {
            time.withLock { $0 += 1 }
            jar.set(CookieJar.Cookie("n\(number)", "", domain: "a.example"))
        }
        let kept = jar.cookies.count
        #expect((175...180).contains(kept))
        #expect(Set(jar.cookies.map(\.name)) == Set((200 - kept..<200).map { "n\($0)" }))
        for domain in 0..<30 {
            for number in 0..<100 {
                time.withLock { $0 += 1 }
                jar.set(CookieJar.Cookie("n\(number)", "", domain: "d\(domain).example"))
            }
        }
        #expect((2_907...3_000).contains(jar.cookies.count) && !jar.cookies.contains { $0.domain == "a.example" })
    }

    @Test func `a full jar is not sorted for each cookie: a thirty-second of its cookies goes at once`() {
        let time = Mutex(Date(timeIntervalSince1970: 1_800_000_000))
        let jar = CookieJar(now: { time.withLock { $0 } })
        jar.set((0..<3000).map { CookieJar.Cookie("n", "", domain: "d\($0).example") })
        // The jar is full again after 93 cookies, and the one after them is the next that removes others.
        let counts = [1, 93, 1].map { count in
            for number in 0..<count {
                time.withLock { $0 += 1 }
                jar.set(
                    CookieJar.Cookie("n\(number)", "", domain: "\(time.withLock { $0.timeIntervalSince1970 }).example"))
            }
            return jar.cookies.count
        }
        #expect(counts == [2_907, 3_000, 2_907])
    }

    @Test func `a cookie that was sent is not the next to go`() async throws {
        let time = Mutex(Date(timeIntervalSince1970: 1_800_000_000))
        let jar = CookieJar(now: { time.withLock { $0 } })
        for number in 0..<180 {
            time.withLock { $0 += 1 }
            jar.set(CookieJar.Cookie("n\(number)", "", domain: "a.example", path: number == 0 ? "/" : "/elsewhere"))
        }
        time.withLock { $0 += 1 }
        _ = try await (jar --> MockLoader { .ok($0) }).load(HTTPRequest("https://a.example/"))
        jar.set(CookieJar.Cookie("new", "", domain: "a.example"))
        #expect(Set(jar.cookies.map(\.name)) == Set(["n0", "new"] + (7..<180).map { "n\($0)" }))
    }

    @Test(arguments: ["https", "http"])
    func `a thousand cookies of a response cost no more in a full jar than in an empty one`(scheme: String) async throws
    {
        let fields = HTTPHeaders((0..<1000).map { HTTPHeaders.Field("Set-Cookie", "n\($0)=v") })
        let server = MockLoader { HTTPResponse(request: $0, status: .ok, headers: fields) }
        let request = try HTTPRequest("\(scheme)://a.example/")
        let full = (0..<3000).map { CookieJar.Cookie("n", "v", domain: "d\($0).example") }
        func time(_ cookies: [CookieJar.Cookie], below limit: Duration, of tries: Int) async throws -> Duration {
            try await shortestTime(below: limit, of: tries) {
                let jar = CookieJar()
                jar.set(cookies)
                let time = try await elapsed { _ = try await HTTPClient(cookies: jar, transport: server).send(request) }
                #expect(jar.cookies.count == (cookies.isEmpty ? 175 : 2_907))
                return time
            }
        }
        let limit = try await time([], below: .zero, of: 2) * 8
        #expect(try await time(full, below: limit, of: 4) < limit)
    }

    @Test func `values appear in no description`() async throws {
        let jar = CookieJar()
        let (client, _) = try client(jar, setting: ["id=s3cret; HttpOnly"])
        let response = try await client.sendWithResponse(Login()).response
        let cookie = try #require(response.cookies.first)
        #expect(cookie.value == "s3cret" && cookie.isHTTPOnly)
        var texts = [
            "\(jar)", "\(cookie)", String(reflecting: cookie), "\(response)",
            "\(response[option: CookieDecisions.self])",
        ]
        for value in [jar, cookie, [cookie]] as [Any] {
            var text = ""
            dump(value, to: &text)
            texts.append(text)
        }
        #expect(texts.allSatisfy { !$0.contains("s3cret") })
    }
}
