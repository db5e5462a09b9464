// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

/// A request that goes where a server has said, without a redirect.
@Suite struct MovedRequestTests {
    private static let home = "https://a.test"

    /// Sends the request, and then the same request to the URL in `Location`.
    private struct FollowLocation: LoaderLink {
        func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
            let first = try await next.load(request)
            guard let url = first.location else { return first }
            do { return try await next.load(try request.moved(to: url, namedBy: first.request)) } catch {
                throw HTTPError(error, request: request)
            }
        }
    }

    private func sent(
        to location: String, _ template: some RequestTemplate, _ authentication: HTTPAuthentication? = nil,
        isProvided: Bool = false
    ) async throws -> HTTPRequest? {
        let mock = MockLoader { request in
            HTTPResponse(
                request: request, status: .created, headers: request.path == "/1" ? ["Location": location] : [:])
        }
        let environment = ServerEnvironment(Self.home, headers: ["X-Tenant": "7"], query: ["key": "1"])
        let client = HTTPClient(
            environment: isProvided ? .provided { _ in environment } : environment, authentication: authentication,
            links: FollowLocation(), transport: mock)
        try await client.stream(template).body.discard()
        return mock.requests.dropFirst().first
    }

    @Test(arguments: [("/2", true), ("https://a.test:443/2", true), ("https://b.test/2", false)], [true, false])
    func `another origin receives no credentials, no secret headers and nothing of the environment`(
        place: (location: String, isOwn: Bool), isProvided: Bool
    ) async throws {
        let urls = [Self.home, "https://b.test"].compactMap { URL(string: $0) }
        let template = TestEndpoint("1").header("X-Api-Key", "k").header("X-Trace", "t")
        let methods: [HTTPAuthentication] = [.bearer("t"), .bearer("t", allowedOrigins: urls)]
        for method in methods {
            for isOfTemplate in [true, false] {
                let request =
                    isOfTemplate
                    ? try await sent(to: place.location, template.authenticated(by: method), isProvided: isProvided)
                    : try await sent(to: place.location, template, method, isProvided: isProvided)
                let kept = request?.headers.map(\.name.rawValue).sorted()
                #expect(kept == (place.isOwn ? ["Authorization", "X-Api-Key", "X-Tenant", "X-Trace"] : ["X-Trace"]))
                #expect(request?.query.isEmpty == true)
            }
        }
    }

    @Test(
        arguments: [
            ("https://b.test/", RedirectPolicy.safely, nil), ("https://b.test/", .keepingOriginal, nil),
            ("https://b.test/", .never, .otherOrigin), ("https://b.test/", .sameOrigin, .otherOrigin),
            ("https://b.test/", .custom { proposal, _ in proposal }, .otherOrigin),
            ("/2", .never, nil), ("/2", .sameOrigin, nil), ("/2", .custom { _, _ in nil }, nil),
            ("http://a.test/", .safely, .downgrade), ("http://a.test/", .safely.allowingDowngrade(), nil),
            ("ftp://a.test/", .safely, .scheme), ("https://", .safely, .location),
        ] as [(String, RedirectPolicy, RedirectPolicy.Redirect.Refusal?)])
    func `the redirect policy decides about the URL`(
        location: String, policy: RedirectPolicy, refusal: RedirectPolicy.Redirect.Refusal?
    ) throws {
        let request = try HTTPRequest.to("https://a.test/1").with { $0.redirectPolicy = policy }
        let url = try #require(URL(string: location, relativeTo: URL(string: "https://a.test/1"))?.absoluteURL)
        var thrown: RedirectPolicy.Redirect.Refusal?
        do throws(RedirectPolicy.Redirect.Refusal) { _ = try request.moved(to: url) } catch { thrown = error }
        #expect(thrown == refusal)
    }

    @Test func `a secret body stays at its origin`() throws {
        var request = try HTTPRequest.to("https://a.test/1", method: .post)
        (request.body, request.isSecret) = (TextBody("password"), true)
        let (own, other) = (try #require(URL(string: "https://a.test/2")), try #require(URL(string: "https://b.test/")))
        #expect(try !request.moved(to: own).body.isEmpty)
        #expect(throws: RedirectPolicy.Redirect.Refusal.otherOrigin) { try request.moved(to: other) }
        request.body = EmptyBody()
        #expect(try request.moved(to: other).host == "b.test")
    }

    @Test func `without a known origin, a request loses its own secrets only`() throws {
        var request = HTTPRequest(method: .get, url: try #require(URL(string: "files")))
        request.headers = ["Authorization": "a", "X-Trace": "t"]
        let url = try #require(URL(string: "https://a.test/2"))
        #expect(try request.moved(to: url).headers == ["X-Trace": "t"])
        #expect(try request.moved(to: url).removedHeaders.isEmpty && request.moved(to: url).isRedirected)
        request.authentication = .bearer("t")
        #expect(try !request.moved(to: url).removedHeaders.isEmpty)
    }
}
