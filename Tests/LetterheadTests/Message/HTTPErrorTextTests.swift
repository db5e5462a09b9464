// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadResilience
import LetterheadTesting
import TestKit
import Testing

private enum Trouble: Error {
    case offline
    case refused(password: String)
    case bare(String)
}

private struct Described: LocalizedError {
    var errorDescription: String?
}

private struct Plain: Error, CustomStringConvertible {
    var description: String { "SECRET" }
}

/// What the text of an error contains of the error underneath.
@Suite struct HTTPErrorUnderlyingTextTests {
    private func text(_ underlying: any Error, message: String = "it failed") -> String {
        "\(HTTPError(.unknown, request: HTTPRequest(), underlying: underlying, message: message))"
    }

    @Test(
        arguments: [
            (Trouble.offline, "Trouble.offline"), (Trouble.refused(password: "SECRET"), "Trouble.refused"),
            (Trouble.bare("SECRET"), "Trouble.bare"), (Plain(), "Plain"),
            (Described(errorDescription: "the disk is full"), "the disk is full"),
            (Described(errorDescription: nil), "Described"),
            (HTTPBodyError.invalid("the file is gone"), "the file is gone"),
            (HTTPError(.timedOut, request: HTTPRequest(), message: "no answer"), "timedOut: no answer"),
            (HTTPError(.timedOut, request: HTTPRequest()), "timedOut"),
            (POSIXError(.ENOSPC), "the system reports No space left on device"),
            (CocoaError(.fileNoSuchFile), "the file does not exist (CocoaError 4)"),
            (CocoaError(.fileWriteOutOfSpace), "there is no space left on the volume (CocoaError 640)"),
            (CocoaError(CocoaError.Code(rawValue: 77)), "Foundation reports an error (CocoaError 77)"),
            (
                CocoaError(CocoaError.Code(rawValue: 77), userInfo: [NSUnderlyingErrorKey: POSIXError(.EROFS)]),
                "the system reports Read-only file system (CocoaError 77)"
            ),
        ] as [(any Error, String)])
    func `the underlying error is described after the message`(underlying: any Error, description: String) {
        #expect(text(underlying) == "unknown: GET (no URL): it failed: \(description)")
        #expect(text(underlying, message: "") == "unknown: GET (no URL): \(description)")
    }

    #if Foundation || canImport(Darwin)
        @Test(
            arguments: [
                (.timedOut, "the request timed out (URLError -1001)"),
                (.userAuthenticationRequired, "the server requires credentials (URLError -1013)"),
                (.backgroundSessionInUseByAnotherProcess, "the network failed (URLError -996)"),
            ] as [(URLError.Code, String)])
        func `a URLError is described after the message`(code: URLError.Code, description: String) {
            #expect(text(URLError(code)) == "unknown: GET (no URL): it failed: \(description)")
            #expect(text(URLError(code), message: "") == "unknown: GET (no URL): \(description)")
        }
    #endif

    @Test func `an HTTPError below is described with its request, its status and its cause`() throws {
        let inner = HTTPRequest(method: .post, url: try #require(URL(string: "https://auth.test/token?key=SECRET")))
        let response = HTTPResponse(
            request: inner, status: .badRequest, headers: ["Content-Type": "text/plain"],
            body: HTTPResponseBody(Data("no such client".utf8)))
        let cause = HTTPError(
            .unacceptableStatus, request: inner, response: response, underlying: Trouble.offline, message: "refused")
        let described =
            "unacceptableStatus: POST https://auth.test/token?key=… answered 400 Bad Request: refused: "
            + "Trouble.offline; the server wrote \"no such client\""
        #expect(text(cause) == "unknown: GET (no URL): it failed: \(described)")
        #expect(text(cause, message: "because of \(cause)") == "unknown: GET (no URL): because of \(described)")
        let outer = HTTPError(
            .timedOut, request: inner, response: response, underlying: cause, message: "the deadline passed")
        #expect(
            "\(outer)" == "timedOut: POST https://auth.test/token?key=… answered 400 Bad Request: the deadline passed: "
                + "unacceptableStatus: refused: Trouble.offline; the server wrote \"no such client\"")
    }

    @Test func `text that the message contains already is not added again`() {
        #expect(text(Trouble.offline, message: "a Trouble.offline") == "unknown: GET (no URL): a Trouble.offline")
    }

    @Test func `a description of another component is redacted, bounded and on one line`() {
        let url = Described(errorDescription: "cannot read https://ada:SECRET@h/x?token=SECRET&q=1")
        #expect(!text(url).contains("SECRET") && text(url).contains("q=1"))
        let json = Described(errorDescription: #"got {"password": "SECRET"}"#)
        #expect(!text(json).contains("SECRET"))
        let lines = Described(errorDescription: "a\nforged\u{1B}[31m")
        #expect(text(lines).hasSuffix(#"a\u{a}forged\u{1b}[31m"#))
        #expect(text(Described(errorDescription: String(repeating: "x", count: 100_000))).utf8.count < 600)
    }
}

/// A text names the whole URL, also where the environment of the client is still to be applied.
@Suite(.timeLimit(.minutes(3))) struct HTTPErrorURLTextTests {
    private let environment = ServerEnvironment.of("https://ada:SECRET@h.test/api?key=SECRET", query: ["v": 2])
    private let clock = TestClock()
    private let shown = "https://<redacted>@h.test/api/users/7?key=…&v=…"

    private func failure(_ client: HTTPClient, _ path: RequestPath = "users/7") async throws -> HTTPError {
        try await #require(throws: HTTPError.self) { try await client.send(TestEndpoint(path)) }
    }

    @Test func `an error of a link above the environment names the URL`() async throws {
        for links in [
            Deadline(.zero, clock: clock) as any LoaderLink, LimitRate(0), ModifyRequest { _ in throw Plain() },
        ] {
            let client = HTTPClient(environment: environment, links: links, transport: MockLoader { .ok($0) })
            #expect("\(try await failure(client))".contains("GET \(shown): "))
            let request = HTTPRequest().with { $0.path = "users/7" }
            let error = try await #require(throws: HTTPError.self) { try await client.send(request) }
            #expect("\(error)".contains("GET \(shown): "))
        }
    }

    /// Throws every error with the request that it was called with.
    private struct Relabel: LoaderLink {
        func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
            do throws(HTTPError) { return try await next.load(request) } catch { throw error.with(request: request) }
        }
    }

    @Test func `with an environment closure, an error above it reports whether the URL is known`() async throws {
        let known = environment
        let early = HTTPClient(
            environment: .provided { _ in known }, links: LimitRate(0), transport: MockLoader { .ok($0) })
        #expect("\(try await failure(early))".contains("GET users/7 (environment not resolved): "))
        // The attempt has asked for the environment, and the retry above fails with the request that it was called
        // with.
        let late = HTTPClient(
            environment: .provided { _ in known }, validators: [ClosureValidator { _, _ in .failChain(Plain()) }],
            links: Relabel(), transport: MockLoader { .ok($0) })
        #expect("\(try await failure(late))".contains("GET \(shown)"))
        let own = TestEndpoint("users/7").environment(.of("https://own.test"))
        let error = try await #require(throws: HTTPError.self) { try await early.send(own) }
        #expect("\(error)".contains("GET https://own.test/users/7: "))
    }

    @Test func `an error of the builder names the URL`() async throws {
        let client = HTTPClient(environment: environment, transport: MockLoader { .ok($0) })
        let template = TestEndpoint("users/7").timeout(.zero)
        let error = try await #require(throws: HTTPError.self) { try await client.send(template) }
        #expect("\(error)".contains(shown) && error.code == .invalidRequest)
        let multipart = TestEndpoint("users/7").with { $0.body = InvalidMember() }
        let other = try await #require(throws: HTTPError.self) { try await client.send(multipart) }
        #expect("\(other)".contains("h.test/api/users/7"))
    }

    private struct InvalidMember: HTTPBody {
        let additionalHeaders: HTTPHeaders = [:]
        func encode() throws -> Data { throw HTTPBodyError.invalid("no") }
    }

    @Test func `an empty path is the URL of the environment`() async throws {
        let client = HTTPClient(environment: environment, links: LimitRate(0), transport: MockLoader { .ok($0) })
        #expect("\(try await failure(client, ""))".contains("GET https://<redacted>@h.test/api?key=…&v=…: "))
    }

    @Test func `a page's deadline names the URL`() async throws {
        let client = HTTPClient(environment: environment, transport: MockLoader { .ok($0) })
        let settings = PageSettings(deadline: .zero)
        let pages = client.pages(of: TestEndpoint("users/7").paginated(), settings: settings)
        let error = try await #require(throws: HTTPError.self) { for try await _ in pages {} }
        #expect("\(error)".contains("h.test/api/users/7"))
    }

    @Test func `a request's own environment is shown, and none when it is explicitly nil`() async throws {
        let client = HTTPClient(environment: environment, links: LimitRate(0), transport: MockLoader { .ok($0) })
        let own = TestEndpoint("users/7").environment(.of("https://own.test"))
        let error = try await #require(throws: HTTPError.self) { try await client.send(own) }
        #expect("\(error)".contains("GET https://own.test/users/7: "))
        let none = try await #require(throws: HTTPError.self) {
            try await client.send(TestEndpoint("users/7").environment(nil))
        }
        #expect("\(none)".contains("GET users/7: "))
    }

    @Test func `the environment that errors show does not change the request that is sent`() async throws {
        let mock = MockLoader { .ok($0) }
        let client = HTTPClient(environment: environment, links: ModifyRequest { $0.host = "x.test" }, transport: mock)
        try await client.send(TestEndpoint("users/7"))
        #expect(try mock.requests.map { try $0.urlString() } == ["https://x.test/users/7"])
    }

    @Test func `a printed line contains the full URL, and the method of the environment`() async throws {
        let lines = Journal()
        let posting = ServerEnvironment(
            baseURL: try #require(URL(string: "https://h.test/api?key=SECRET")), method: .post, query: ["v": 2])
        let print = PrintLoader(clock: clock) { lines.write($0) }
        try await HTTPClient(environment: posting, links: print, transport: MockLoader { .ok($0) }).send(
            HTTPRequest().with { $0.path = "users/7" })
        #expect(
            lines.all == [
                "--> POST https://h.test/api/users/7?key=<redacted>&v=2", "<-- 200 OK, 0 bytes, in 0.0 ms",
            ])
    }

    @Test func `in a custom chain the line of the response names the URL that was requested`() async throws {
        let lines = Journal()
        let print = PrintLoader(clock: clock) { lines.write($0) }
        let mock = MockLoader.redirecting(["https://h.test/a": (302, "/b")])
        let chain = print --> FollowRedirects() --> ApplyEnvironment(.of("https://h.test")) --> mock
        var request = HTTPRequest()
        for path in ["a", "c"] as [RequestPath] {
            request.path = path
            _ = try await chain.load(request)
        }
        #expect(
            lines.all == [
                "--> GET a", "<-- 200 OK from https://h.test/b, 0 bytes, in 0.0 ms", "--> GET c",
                "<-- 200 OK from https://h.test/c, 0 bytes, in 0.0 ms",
            ])
    }
}
