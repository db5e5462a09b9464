// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

private struct Odd: Error {}

@Suite struct FollowRedirectsTests {
    @Test(arguments: [
        (301, "GET", "GET"), (302, "GET", "GET"), (303, "GET", "GET"), (307, "GET", "GET"), (308, "GET", "GET"),
        (301, "HEAD", "HEAD"), (302, "HEAD", "HEAD"), (303, "HEAD", "HEAD"), (307, "HEAD", "HEAD"),
        (301, "POST", "GET"), (302, "POST", "GET"), (303, "POST", "GET"), (307, "POST", "POST"), (308, "POST", "POST"),
        (301, "PUT", "PUT"), (302, "PUT", "PUT"), (303, "PUT", "GET"), (307, "PUT", "PUT"), (308, "PUT", "PUT"),
        (301, "DELETE", "DELETE"), (303, "DELETE", "GET"), (302, "PATCH", "PATCH"), (303, "PATCH", "GET"),
    ]) func `the method after a redirect is that of RFC 9110 and Fetch`(
        status: Int, method: String, after: String
    ) async throws {
        let mock = MockLoader.redirecting(["https://a.test/1": (status, "/2")])
        var first = try HTTPRequest.to("https://a.test/1", method: HTTPMethod(method))
        let hasBody = method != "GET" && method != "HEAD"
        if hasBody { first.body = Words() }
        first.headers = ["Content-Type": "text/plain", "Content-Language": "en", "X-Other": "1"]
        let response = try await (FollowRedirects() --> mock).load(first)
        let second = try #require(mock.requests.last)
        #expect(response.status == .ok && second.target == "/2" && second.id == first.id)
        #expect(second.method.rawValue == after)
        #expect(second.body.isEmpty == (!hasBody || after != method))
        #expect(second.headers.contains(.contentType) == (after == method))
        #expect(second.headers.contains("Content-Language") == (after == method) && second.headers["X-Other"] == "1")
    }

    @Test(arguments: [
        ("to?x=1", "https://a.test/d/to?x=1"), ("../to", "https://a.test/to"), ("//b.test/x", "https://b.test/x"),
        ("?q=2", "https://a.test/d/from?q=2"), ("https://c.test:8443", "https://c.test:8443"),
        ("/ü b?ü=ö|", "https://a.test/%C3%BC%20b?%C3%BC=%C3%B6%7C"), ("HTTPS://A.TEST/X", "https://A.TEST/X"),
        ("/a%2fb?c=%2F", "https://a.test/a%2fb?c=%2F"), ("https://u:p@b.test/", "https://b.test/"),
    ]) func `a location is resolved against the URL of the redirecting request`(location: String, target: String)
        async throws
    {
        let mock = MockLoader.redirecting(["https://a.test/d/from": (302, location)])
        let response = try await (FollowRedirects() --> mock).load(try .to("https://a.test/d/from"))
        #expect(try response.request.urlString() == target)
    }

    @Test func `the fragment is inherited, unless the location has its own`() async throws {
        let mock = MockLoader.redirecting(["https://a.test/1#f": (302, "/2"), "https://a.test/2#f": (302, "/3#g")])
        let response = try await (FollowRedirects() --> mock).load(try .to("https://a.test/1#f"))
        #expect(response.request.fragment == "g" && response.redirects[0].target.fragment == "f")
    }

    @Test func `every redirect is in the history, in order`() async throws {
        let mock = MockLoader.redirecting([
            "https://a.test/1": (301, "/2"), "https://a.test/2": (307, "https://b.test/3"),
        ])
        let response = try await (FollowRedirects() --> mock).load(try .to("https://a.test/1"))
        #expect(response.redirects.map(\.status.code) == [301, 307])
        #expect(response.redirects.map(\.request.target) == ["/1", "/2"])
        #expect(response.redirects[1].headers["Location"] == "https://b.test/3")
        #expect("\(response.redirects[1])".contains("GET https://b.test/3"))
    }

    @Test(arguments: [
        ("file:///etc/passwd", RedirectPolicy.Redirect.Refusal.scheme), ("ftp://a.test/", .scheme),
        ("data:text/plain,x", .scheme), ("http://a.test/", .downgrade), ("", .location), ("https://", .location),
        ("https://a%2Fb/", .location), ("https://a\\b/", .location), ("https://a.test:99999/", .location),
        ("/a\tb", .location), ("https:relative", .location),
    ]) func `a redirect without a valid target is the response, with the reason`(
        location: String, refusal: RedirectPolicy.Redirect.Refusal
    ) async throws {
        let mock = MockLoader.redirecting(["https://a.test/1": (302, location)])
        let response = try await (FollowRedirects() --> mock).load(try .to("https://a.test/1"))
        #expect(response.status == .found && response.redirectRefusal == refusal && mock.requests.count == 1)
    }

    @Test(arguments: [300, 304, 305, 306, 200, 399]) func `other statuses are not followed`(status: Int) async throws {
        let mock = MockLoader.redirecting(["https://a.test/1": (status, "/2")])
        let response = try await (FollowRedirects() --> mock).load(try .to("https://a.test/1"))
        #expect(response.status.code == status && response.redirectRefusal == nil && response.redirects.isEmpty)
    }

    @Test(arguments: [(307, "POST"), (308, "PUT"), (301, "PUT")])
    func `a one-shot body is never sent again or omitted`(status: Int, method: String) async throws {
        let mock = MockLoader.redirecting(["https://a.test/1": (status, "/2")])
        var first = try HTTPRequest.to("https://a.test/1", method: HTTPMethod(method))
        first.body = Words(isReplayable: false)
        let response = try await (FollowRedirects() --> mock).load(first)
        #expect(response.status.code == status && response.redirectRefusal == .oneTimeBody && mock.requests.count == 1)
    }

    @Test func `a one-shot body is dropped if the method changes`() async throws {
        let mock = MockLoader.redirecting(["https://a.test/1": (303, "/2")])
        let first = try HTTPRequest.to("https://a.test/1", method: .post).with { $0.body = Words(isReplayable: false) }
        let response = try await (FollowRedirects() --> mock).load(first)
        #expect(response.status == .ok && response.request.body.isEmpty && response.request.method == .get)
    }

    @Test func `a loop ends with an error that names it`() async throws {
        let mock = MockLoader.redirecting(["https://a.test/1": (302, "/2"), "https://a.test/2": (302, "/1#x")])
        let error = await failure { try await (FollowRedirects() --> mock).load(.to("https://a.test/1")) }
        #expect(error?.code == .tooManyRedirects && error?.message.contains("loop") == true)
        #expect(error?.response?.status == .found && mock.requests.count == 2)
    }

    @Test(arguments: ["C++", "?q=1+2"])
    func `a loop is found below which a signer writes the URL in a different form`(target: String) async throws {
        let mock = MockLoader {
            HTTPResponse(
                request: $0, status: .temporaryRedirect, headers: ["Location": "https://a.test/\(target)", "Age": "1"])
        }
        let write = ModifyRequest { request in
            request.path = RequestPath(
                escaped: request.path.string.replacingOccurrences(of: "+", with: "%2B"), route: nil)
            request.query = QueryParameters(escaped: request.query.escaped.replacingOccurrences(of: "+", with: "%2B"))
        }
        let (chain, first) = (FollowRedirects() --> write --> mock, try HTTPRequest.to("https://a.test/\(target)"))
        let error = await #expect(throws: HTTPError.self) { try await chain.load(first) }
        #expect(error?.code == .tooManyRedirects && error?.message.contains("loop") == true && mock.requests.count == 2)
    }

    @Test(arguments: [(0, 1), (3, 4), (20, 21)])
    func `the limit is applied, and the error names it`(limit: Int, sent: Int) async throws {
        let mock = MockLoader { request in
            let next = try #require(request.path.segments.last.flatMap { Int($0) }) + 1
            return HTTPResponse(request: request, status: .found, headers: ["Location": "/\(next)"])
        }
        let chain = FollowRedirects(.safely.limit(limit)) --> mock
        let error = await failure { try await chain.load(.to("https://a.test/1")) }
        #expect(error?.code == .tooManyRedirects && error?.message.contains("more than \(limit) redirects") == true)
        #expect(mock.requests.count == sent && error?.response?.redirects.count == limit)
    }

    @Test func `the policy of a request applies to every hop`() async throws {
        let mock = MockLoader.redirecting(["https://a.test/1": (302, "https://b.test/2")])
        var first = try HTTPRequest.to("https://a.test/1")
        (first.timeout, first.responseLimit, first.deadline) = (.seconds(300), 99, .seconds(900))
        let left = Journal()
        let time = ModifyRequest { left.write("\($0.timeLeft ?? .zero)") }
        let chain = Deadline(clock: TestClock()) --> FollowRedirects() --> time --> mock
        let hop = try await chain.load(first).request
        #expect(hop.timeout == .seconds(300) && hop.responseLimit == 99)
        #expect(left.all == ["900.0 seconds", "900.0 seconds"])
    }

    @Test(arguments: ["/1", "https://A.test/1", "1", "#x"])
    func `a redirect to its own URL is followed`(location: String) async throws {
        let mock = MockLoader()
            .then { HTTPResponse(request: $0, status: .found, headers: ["Location": location]) }
            .then { .ok($0) }
        let response = try await (FollowRedirects() --> mock).load(try .to("https://a.test/1"))
        #expect(response.status == .ok && mock.requests.count == 2 && response.redirects.count == 1)
    }

    @Test func `a redirect to its own URL is a loop if the same response arrives again`() async throws {
        let number = Counter()
        let mock = MockLoader {
            HTTPResponse(request: $0, status: .found, headers: ["Location": "/1", "Date": "day \(number.next())"])
        }
        let error = await failure { try await (FollowRedirects() --> mock).load(.to("https://a.test/1")) }
        #expect(error?.code == .tooManyRedirects && error?.message.contains("loop") == true && mock.requests.count == 2)
    }

    @Test(arguments: ["X-Count", "Set-Cookie"])
    func `a redirect to its own URL whose response changes is followed up to the limit`(name: String) async throws {
        let number = Counter()
        let mock = MockLoader {
            HTTPResponse(
                request: $0, status: .found,
                headers: ["Location": "/1", HTTPHeaders.Name(name): "\(number.next())"])
        }
        let chain = FollowRedirects(.safely.limit(7)) --> mock
        let error = await failure { try await chain.load(.to("https://a.test/1")) }
        #expect(error?.code == .tooManyRedirects && error?.message.contains("more than 7 redirects") == true)
        #expect(mock.requests.count == 8)
    }

    @Test(arguments: [true, false])
    func `a streamed redirect is read to its end or dropped before the next hop is sent`(isSmall: Bool) async throws {
        let server = try await server(
            MockServer.Response(status: 302, headers: ["Location": "/2"], body: Data(count: isSmall ? 10 : 8_000_000)))
        let client = HTTPClient(environment: ServerEnvironment(baseURL: server.url), attemptLinks: Throttle(limit: 1))
        let response = try await client.stream(TestEndpoint("1"))
        #expect(try await response.body.data() == Data("ok".utf8))
        #expect(server.connections.count == (isSmall ? 1 : 2))
        await server.stop()
    }

    @Test(.timeLimit(.minutes(1)))
    func `a streamed redirect without the end of its body is followed`() async throws {
        let redirect = MockServer.Response(status: 302, headers: ["Location": "/2"], body: Data(count: 10))
        let server = try await server(redirect.fault(.stall, at: .responseBody))
        let client = HTTPClient(environment: ServerEnvironment(baseURL: server.url))
        #expect(try await client.stream(TestEndpoint("1").idleTimeout(.seconds(600))).body.data() == Data("ok".utf8))
        await server.stop()
    }

    @Test func `the response limit does not apply to the body of a redirect that is followed`() async throws {
        let server = try await server(
            MockServer.Response(status: 302, headers: ["Location": "/2"], body: Data(count: 200_000)))
        let client = HTTPClient(environment: ServerEnvironment(baseURL: server.url))
        let template = TestEndpoint("1", answering: Data.self).responseLimit(10)
        #expect(try await client.send(template) == Data("ok".utf8))
        let refused = await #expect(throws: HTTPError.self) { try await client.send(template.redirects(.never)) }
        #expect(refused?.code == .unacceptableStatus && refused?.response?.status == .found)
        let accepted = template.redirects(.never).accepting([302])
        let unread = await #expect(throws: HTTPError.self) { try await client.send(accepted) }
        #expect(unread?.code == .responseTooLarge && unread?.response?.status == .found)
        let few = await failure { try await client.send(template.redirects(.safely.limit(0))) }
        #expect(few?.code == .tooManyRedirects)
        await server.stop()
    }

    @Test(arguments: [
        RedirectPolicy.safely.limit(0), .custom { _, _ in throw Odd() },
        .custom { proposal, _ in proposal.with { $0.host = nil } },
    ])
    func `the response of an error is in memory, streamed or not`(policy: RedirectPolicy) async throws {
        let chunks = Chunks(3)
        let mock = MockLoader { request in
            HTTPResponse(
                request: request, status: .found, headers: ["Location": "/2"],
                body: HTTPResponseBody(length: 3) { chunks.next() })
        }
        let error = await failure { try await (FollowRedirects(policy) --> mock).load(.to("https://a.test/1")) }
        #expect(error?.response?.body.buffered == Data("xxx".utf8))
    }

    /// A server that redirects `/1` with a response, and answers "ok" at any other path.
    private func server(_ redirect: MockServer.Response) async throws -> MockServer {
        try await MockServer.start { $0.path == "/1" ? redirect : MockServer.Response(body: Data("ok".utf8)) }
    }
}
