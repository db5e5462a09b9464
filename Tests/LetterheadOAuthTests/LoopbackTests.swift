// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadOAuth
import LetterheadTesting
import Synchronization
import TestKit
import Testing

/// A browser that visits the redirect URI of a page, as a closure tells.
private struct Browser: Sendable {
    let redirectURI: URL
    let state: String

    init(_ page: URL) throws {
        let query = HTTPRequest(url: page).query
        redirectURI = try #require(query["redirect_uri"].flatMap { URL(string: $0) })
        state = try #require(query["state"])
    }

    /// Visits the redirect URI with other parts of its URL.
    @discardableResult
    func visit(
        _ query: String, path: String? = nil, method: HTTPMethod = .get, host: String = "127.0.0.1"
    ) async throws -> HTTPResponse {
        let text = query.replacing("STATE", with: state)
        let base = "http://\(host):\(redirectURI.port ?? 0)\(path ?? redirectURI.path)"
        let request = HTTPRequest(method: method, url: try #require(URL(string: "\(base)?\(text)")))
        return try await HTTPClient.defaultTransport.load(request)
    }

    /// Whether the port is open.
    var isOpen: Bool { get async { (try? await visit("")) != nil } }
}

/// The browser that a sign-in has opened.
private final class Opened: Sendable {
    private let browser = Mutex<Browser?>(nil)
    func set(_ new: Browser) { browser.withLock { $0 = new } }
    var value: Browser? { browser.withLock { $0 } }
}

@Suite(.timeLimit(.minutes(1))) struct LoopbackTests {
    private let scene = Scene()
    private let opened = Opened()

    /// Signs in with a browser that visits the redirect URI.
    private func signIn(
        redirectURI: String? = nil, clock: TestClock = TestClock(),
        _ visit: @escaping @Sendable (Browser) async throws -> Void
    ) async throws {
        let signIn = OAuth2.SignIn.loopback(redirectURI: redirectURI.flatMap { URL(string: $0) }) { [opened] page in
            let browser = try Browser(page)
            opened.set(browser)
            // The redirect cancels this closure, as the browser does not: it reads the response to its end.
            try await Task { try await visit(browser) }.value
        }
        try await OAuth2.Session.testing(over: scene, signIn: signIn, clock: clock).signIn()
    }

    @Test func `the redirect of a browser is received on a free port, which is closed afterwards`() async throws {
        let page = Mutex<HTTPResponse?>(nil)
        try await signIn { browser async throws in
            let response = try await browser.visit("code=c0de&state=STATE")
            page.withLock { $0 = response }
        }
        let browser = try #require(opened.value)
        #expect(browser.redirectURI.host == "127.0.0.1" && browser.redirectURI.path == "/callback")
        let form = try #require(scene.forms("/token").first)
        #expect(form["code"] == "c0de" && form["redirect_uri"] == browser.redirectURI.absoluteString)
        let response = try #require(page.withLock { $0 })
        #expect(response.status == .ok && response.headers[.contentType] == "text/html; charset=utf-8")
        #expect(response.headers["Referrer-Policy"] == "no-referrer" && response.headers[.cacheControl] == "no-store")
        let text = String(decoding: try await response.body.data(), as: UTF8.self)
        #expect(text.contains("close this window") && !text.contains("c0de"))
        #expect(await !browser.isOpen)
    }

    @Test func `requests other than the redirect get 404, and the sign-in continues`() async throws {
        try await signIn { browser async throws in
            #expect(try await browser.visit("code=evil&state=evil").status == .notFound)
            #expect(try await browser.visit("code=evil").status == .notFound)
            #expect(try await browser.visit("code=evil&state=STATE&state=STATE").status == .notFound)
            #expect(try await browser.visit("code=evil&state=STATE", path: "/favicon.ico").status == .notFound)
            #expect(try await browser.visit("code=evil&state=STATE", path: "/callback/").status == .notFound)
            #expect(try await browser.visit("code=evil&state=STATE", method: .put).status == .notFound)
            #expect(try await browser.visit("code=c0de&state=STATE").status == .ok)
        }
        #expect(scene.forms("/token").map { $0["code"] } == ["c0de"])
    }

    @Test func `a person who denies the sign-in sees a page, and the failure has the code`() async throws {
        let failure = await authenticationFailure {
            try await signIn { browser async throws in
                let page = try await browser.visit("error=access_denied&state=STATE")
                #expect(page.status == .ok)
            }
        }
        #expect(failure?.reason == .refused && failure?.code == "access_denied")
        #expect(scene.forms("/token").isEmpty)
    }

    @Test func `a sign-in that takes too long fails, and the port is closed`() async throws {
        let clock = TestClock()
        async let late = authenticationFailure { try await signIn(clock: clock) { _ in } }
        while opened.value == nil || clock.sleepers < 1 { await Task.yield() }
        #expect(await opened.value?.isOpen == true)
        clock.advance(by: .seconds(299))
        #expect(clock.sleepers == 1)
        clock.advance(by: .seconds(1))
        let failure = await late
        #expect(failure?.reason == .refused && failure?.message.contains("did not sign in") == true)
        #expect(await opened.value?.isOpen == false)
    }

    @Test func `a reset cancels the sign-in and closes the port`() async throws {
        let signIn = OAuth2.SignIn.loopback { [opened] in opened.set(try Browser($0)) }
        let session = try OAuth2.Session.testing(over: scene, signIn: signIn, clock: TestClock())
        async let failed = authenticationFailure { try await session.signIn() }
        while opened.value == nil { await Task.yield() }
        try await session.revoke()
        _ = await failed
        while await opened.value?.isOpen == true { await Task.yield() }
        #expect(scene.forms("/token").isEmpty)
    }

    @Test func `a browser that cannot be opened fails the sign-in, and the port is closed`() async throws {
        struct NoBrowser: Error {}
        let failure = await authenticationFailure { try await signIn { _ in throw NoBrowser() } }
        #expect(failure?.reason == .refused)
        #expect(await opened.value?.isOpen == false)
    }

    @Test func `connections that stay idle or send too much do not delay the redirect`() async throws {
        try await signIn { browser async throws in
            let port = browser.redirectURI.port ?? 0
            var idle: [RawConnection] = []
            for _ in 0..<40 { idle.append(try RawConnection(port: port)) }
            let endless = try RawConnection(port: port)
            endless.write("GET /" + String(repeating: "x", count: 20 << 10))
            #expect(try await browser.visit("code=c0de&state=STATE").status == .ok)
        }
        #expect(scene.forms("/token").count == 1)
    }

    @Test(arguments: [
        "GET /callback", "\r\n\r\n", "GET http://127.0.0.1/callback HTTP/1.1\r\n\r\n", "GET \0 HTTP/1.1\r\n\r\n",
        "GET /\u{FFFD} HTTP/1.1\r\n\r\n", "GET /callback?state=%FF%00 HTTP/1.1\r\n\r\n",
        "\u{16}\u{3}\u{1}\u{2}\r\n\r\n",
    ])
    func `bytes that are no request do not end the sign-in`(bytes: String) async throws {
        try await signIn { browser async throws in
            let connection = try RawConnection(port: browser.redirectURI.port ?? 0)
            connection.write(bytes)
            try await browser.visit("code=c0de&state=STATE")
        }
        #expect(scene.forms("/token").count == 1)
    }

    @Test func `a redirect URI without a path receives the request for / that a browser sends`() async throws {
        try await signIn(redirectURI: "http://localhost") { try await $0.visit("code=c0de&state=STATE", path: "/") }
        #expect(scene.forms("/token").first?["redirect_uri"]?.hasPrefix("http://localhost:") == true)
    }

    @Test(arguments: ["127.0.0.1", "[::1]"])
    func `a redirect to localhost is received over both families`(host: String) async throws {
        guard host == "127.0.0.1" || hasIPv6 else { return }
        try await signIn(redirectURI: "http://localhost/callback") { browser async throws in
            #expect(try await browser.visit("code=c0de&state=other", host: host).status == .notFound)
            #expect(try await browser.visit("code=c0de&state=STATE", host: host).status == .ok)
        }
        #expect(scene.forms("/token").count == 1)
    }

    @Test func `a program at the port of the other family is reported`() async throws {
        guard hasIPv6 else { return }
        let port = try await freePort()
        let other = try #require(listening6(on: port))
        defer { close(other) }
        let failure = await authenticationFailure {
            try await signIn(redirectURI: "http://localhost:\(port)/") { _ in }
        }
        #expect(failure?.message.contains("cannot be opened") == true)
    }

    @Test func `a redirect takes linear time in combining marks`() async throws {
        try await signIn { browser async throws in
            let marks = String(repeating: "%CC%81%CC%96", count: 1_000)
            #expect(try await browser.visit("code=c0de&state=\(marks)").status == .notFound)
            #expect(try await browser.visit("code=c0de&state=STATE", path: "/\(marks)").status == .notFound)
            #expect(try await browser.visit("code=c0de&state=STATE&state=STATE").status == .notFound)
            try await browser.visit("code=c0de&state=STATE")
        }
        #expect(scene.forms("/token").count == 1)
    }

    #if os(Linux) || os(macOS)
        @Test func `a process without descriptors receives the redirect later`() async throws {
            await #expect(processExitsWith: .success) { try await LoopbackTests().signInWithoutDescriptors() }
        }
    #endif

    /// Ends the process with another status than 0 if the sign-in fails. It holds all descriptors of the process.
    private func signInWithoutDescriptors() async throws {
        alarm(60)
        try await signIn { browser async throws in
            let connection = RawConnection()
            var held: [Int32] = []
            while case let next = dup(0), next >= 0 { held.append(next) }
            try connection.connect(to: browser.redirectURI.port ?? 0)
            connection.write("GET /callback?code=c0de&state=\(browser.state) HTTP/1.1\r\n\r\n")
            // Without a descriptor, there can be no response.
            try #require(!connection.hasResponse(within: 300))
            for descriptor in held { close(descriptor) }
            try #require(connection.hasResponse(within: 30_000))
        }
    }

    private var hasIPv6: Bool {
        guard let descriptor = listening6(on: 0) else { return false }
        close(descriptor)
        return true
    }

    /// Listens on ::1.
    private func listening6(on port: Int) -> Int32? {
        #if canImport(Glibc)
            let descriptor = socket(AF_INET6, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let descriptor = socket(AF_INET6, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = in_port_t(port).bigEndian
        address.sin6_addr = in6addr_loopback
        let isOpen = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size)) == 0 && listen(descriptor, 1) == 0
            }
        }
        if isOpen { return descriptor }
        close(descriptor)
        return nil
    }

    @Test func `a redirect URI may name a port, a path and a query`() async throws {
        let port = try await freePort()
        let uri = "http://localhost:\(port)/a/b?own=1"
        try await signIn(redirectURI: uri) { try await $0.visit("own=1&code=c0de&state=STATE") }
        #expect(scene.forms("/token").first?["redirect_uri"] == uri)
    }

    @Test(arguments: ["https://127.0.0.1/callback", "http://0.0.0.0/callback", "http://example.com/callback", "app:/x"])
    func `a redirect URI that is not on the loopback interface is refused`(uri: String) async {
        #expect(await authenticationFailure { try await signIn(redirectURI: uri) { _ in } }?.reason == .misconfigured)
    }

    @Test func `a port that is in use is reported`() async throws {
        let server = try await MockServer.start { _ in MockServer.Response() }
        let failure = await authenticationFailure {
            try await signIn(redirectURI: "http://127.0.0.1:\(server.port)/") { _ in }
        }
        #expect(failure?.reason == .misconfigured && failure?.message.contains("cannot be opened") == true)
        await server.stop()
    }

    private func freePort() async throws -> Int {
        let server = try await MockServer.start { _ in MockServer.Response() }
        let port = server.port
        await server.stop()
        return port
    }
}

/// A connection to send any bytes in a test.
private final class RawConnection: Sendable {
    private let descriptor: Int32

    init() {
        #if canImport(Glibc)
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
    }

    convenience init(port: Int) throws {
        self.init()
        try connect(to: port)
    }

    func connect(to port: Int) throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let isConnected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        try #require(isConnected)
    }

    /// Waits for bytes of the other side.
    func hasResponse(within milliseconds: Int32) -> Bool {
        var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&wait, 1, milliseconds) == 1
    }

    deinit { close(descriptor) }

    func write(_ text: String) {
        let bytes = Array(text.utf8)
        #if canImport(Glibc)
            _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
        #else
            _ = send(descriptor, bytes, bytes.count, 0)
        #endif
    }
}
