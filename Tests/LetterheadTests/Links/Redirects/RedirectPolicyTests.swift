// SPDX-License-Identifier: MIT
import Letterhead
import LetterheadTesting
import TestKit
import Testing

@Suite struct RedirectPolicyTests {
    @Test(arguments: [
        (nil, RedirectPolicy.safely, "no valid Location"), ("ftp://a.test/2", .safely, "scheme other than http"),
        ("http://a.test/2", .safely, "allowingDowngrade()"), ("/2", .never, "the redirect policy does not allow"),
        ("https://b.test/2", .sameOrigin, "a different origin"),
    ]) func `the error of a redirect that is not followed contains the reason`(
        location: String?, policy: RedirectPolicy, reason: String
    ) async throws {
        let mock = MockLoader { request in
            HTTPResponse(request: request, status: .found, headers: location.map { ["Location": $0] } ?? [:])
        }
        let client = HTTPClient(environment: .of("https://a.test"), transport: mock).redirects(policy)
        let error = await #expect(throws: HTTPError.self) { try await client.send(TestEndpoint("1")) }
        #expect(error?.code == .unacceptableStatus && error?.response?.redirectRefusal != nil)
        #expect(error?.message.contains(reason) == true, "\(String(describing: error))")
    }

    @Test(arguments: [
        ("/2", true), ("https://A.test:443/2", true), ("https://a.test:444/2", false), ("https://b.test/", false),
    ]) func `the same origin is scheme, host and port`(location: String, isFollowed: Bool) async throws {
        let mock = MockLoader.redirecting(["https://a.test/1": (302, location)])
        let response = try await (FollowRedirects(.sameOrigin) --> mock).load(try .to("https://a.test/1"))
        #expect(response.redirectRefusal == (isFollowed ? nil : .otherOrigin))
    }

    @Test func `the original method, body and headers may be kept`() async throws {
        let mock = MockLoader.redirecting(["https://a.test/1": (303, "https://b.test/2")])
        var first = try HTTPRequest.to("https://a.test/1", method: .post)
        first.body = Words()
        first.headers = ["Content-Type": "text/x", "Authorization": "secret"]
        let response = try await (FollowRedirects(.keepingOriginal) --> mock).load(first)
        #expect(response.request.method == .post && !response.request.body.isEmpty)
        #expect(response.request.headers == ["Content-Type": "text/x"])
    }

    @Test func `a redirect from https to http is followed if it is allowed`() async throws {
        let mock = MockLoader.redirecting(["https://a.test/1": (302, "http://a.test/2")])
        let chain = FollowRedirects(.safely.allowingDowngrade()) --> mock
        #expect(try await chain.load(try .to("https://a.test/1")).request.scheme == "http")
    }

    @Test func `a custom policy may change the proposal, or refuse it`() async throws {
        let mock = MockLoader.redirecting(["https://a.test/1": (302, "/2"), "https://a.test/other": (302, "/3")])
        let policy = RedirectPolicy.custom { proposal, response in
            #expect(response.status == .found)
            return proposal.path == "/2" ? proposal.with { $0.path = "/other" } : nil
        }
        let response = try await (FollowRedirects(policy) --> mock).load(try .to("https://a.test/1"))
        #expect(response.request.path == "/other" && response.redirectRefusal == .policy)
    }

    @Test func `a request that a custom policy creates receives no header that an earlier redirect has removed`()
        async throws
    {
        let mock = MockLoader.redirecting(["https://a.test/1": (302, "https://b.test/2")])
        let first = try HTTPRequest.to("https://a.test/1").with { $0.headers["Authorization"] = "secret" }
        let other = try HTTPRequest.to("https://b.test/3")
        let chain = FollowRedirects(.custom { _, _ in other }) --> Authenticate(.bearer("token")) --> mock
        let response = try await chain.load(first)
        #expect(response.request.id == other.id && response.request.headers.isEmpty && mock.requests.count == 2)
    }

    @Test func `a custom policy sends no credentials to another origin`() async throws {
        let mock = MockLoader.redirecting(["https://a.test/1": (302, "/2")])
        let policy = RedirectPolicy.custom { proposal, _ in proposal.with { $0.host = "b.test" } }
        let first = try HTTPRequest.to("https://a.test/1").with { $0.headers["Authorization"] = "secret" }
        let response = try await (FollowRedirects(policy) --> mock).load(first)
        #expect(response.request.host == "b.test" && response.request.headers.isEmpty)
    }

    @Test func `an error of a custom policy fails the load`() async throws {
        struct Refused: Error {}
        let mock = MockLoader.redirecting(["https://a.test/1": (302, "/2")])
        let first = try HTTPRequest.to("https://a.test/1")
        let chain = FollowRedirects(.custom { _, _ in throw Refused() }) --> mock
        #expect(await failure { try await chain.load(first) }?.underlying is Refused)
    }
}
