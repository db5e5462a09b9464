// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

/// The URL of a page is requested only at its own origin.
@Suite(.timeLimit(.minutes(1)))
struct PageOriginTests {
    struct Users: RequestTemplate {
        typealias Response = [Int]
        var method = HTTPMethod.get
        var baseURL: URL?
        var path: RequestPath { "users" }
    }

    /// A server with a first page that links to a second one.
    private let mock = MockLoader { request in
        var response = try HTTPResponse.ok(request, json: [1])
        if !request.query.contains("cursor") { response.headers["Link"] = "</users?cursor=SECRET>; rel=next" }
        return response
    }

    private func error(of template: Users, from text: String, client: HTTPClient) async -> HTTPError? {
        let checkpoint = PageCheckpoint(page: 2, position: .url(text))
        return await #expect(throws: HTTPError.self) {
            try await client.pages(of: template.paginated(by: .linkHeader), from: checkpoint).collect()
        }
    }

    @Test(arguments: [true, false])
    func `a link is not requested at the server of a later environment`(prefetches: Bool) async throws {
        let calls = Counter()
        let client = HTTPClient(
            environment: .provided { _ in .of(calls.next() == 1 ? "https://a.test" : "https://b.test") },
            transport: mock)
        let settings = PageSettings(prefetches: prefetches)
        var pages = client.pages(of: Users().paginated(by: .linkHeader), settings: settings).makeAsyncIterator()
        #expect(try await pages.next()?.value == [1])
        for _ in 1...2 {
            let error = await #expect(throws: HTTPError.self) { try await pages.next() }
            #expect(error?.code == .invalidRequest && error?.mayHaveBeenSent == false)
            #expect(error?.message.contains("https://a.test") == true)
            #expect(error?.message.contains("https://b.test") == true && error?.message.contains("SECRET") == false)
        }
        #expect(mock.requests.map(\.host) == ["a.test"])
    }

    @Test(arguments: [
        "https://a.test/users?cursor=SECRET", "http://b.test/users?cursor=SECRET", "//a.test/users?cursor=SECRET",
        "https://b.test:8443/users?cursor=SECRET", "ftp://b.test/users?cursor=SECRET", "https:/users?cursor=SECRET",
        "https://u:SECRET@b.test/users", "mailto:SECRET", "https:///users?cursor=SECRET",
    ])
    func `a checkpoint with the URL of another origin is refused before anything is sent`(text: String) async {
        let client = HTTPClient(environment: .of("https://b.test"), transport: mock)
        let own = Users(baseURL: URL(string: "https://b.test"))
        for (template, client) in [
            (Users(), client), (Users(method: .post), client), (own, HTTPClient(transport: mock)),
        ] {
            let error = await error(of: template, from: text, client: client)
            #expect(error?.code == .invalidRequest && error?.mayHaveBeenSent == false)
            #expect(error?.message.contains("SECRET") == false)
        }
        #expect(mock.requests.isEmpty)
    }

    @Test(arguments: [
        ("https://b.test/users?cursor=1", "/users?cursor=1"), ("HTTPS://B.test:443/users?cursor=1", "/users?cursor=1"),
        ("/users?cursor=1", "/users?cursor=1"),
        ("https://b.test/x y?page[number]=2&cursor", "/x%20y?page%5Bnumber%5D=2&cursor"),
    ])
    func `a checkpoint with a URL of the same origin is requested`(text: String, target: String) async throws {
        let client = HTTPClient(environment: .of("https://b.test"), transport: mock)
        let checkpoint = PageCheckpoint(page: 2, position: .url(text))
        let pages = try await client.pages(of: Users().paginated(by: .linkHeader), from: checkpoint).collect()
        #expect(pages.count == 1 && mock.requests.map(\.target) == [target])
    }

    @Test func `a page that is redirected to another origin is delivered`() async throws {
        let mock = MockLoader { request in
            if request.host == "b.test" { return try .ok(request, json: [2]) }
            var response = try HTTPResponse.ok(request, json: [1])
            response.headers["Link"] = "</users?cursor=1>; rel=next"
            guard request.query.contains("cursor") else { return response }
            return HTTPResponse(request: request, status: 302, headers: ["Location": "https://b.test/users"])
        }
        let client = HTTPClient(environment: .of("https://a.test"), transport: mock)
        let pages = try await client.pages(of: Users().paginated(by: .linkHeader)).collect()
        #expect(pages.map(\.value) == [[1], [2]] && mock.requests.map(\.host) == ["a.test", "a.test", "b.test"])
    }

    private struct Move: LoaderLink {
        func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
            var moved = request
            moved.host = "mirror.test"
            return try await next.load(moved)
        }
    }

    @Test(arguments: [true, false])
    func `a link that sets the host for every attempt can request all pages`(isForgotten: Bool) async throws {
        let link: any LoaderLink = isForgotten ? Move() : ModifyRequest { $0.host = "mirror.test" }
        let client = HTTPClient(environment: .of("https://a.test"), attemptLinks: link, transport: mock)
        #expect(try await client.pages(of: Users().paginated(by: .linkHeader)).collect().count == 2)
        #expect(mock.requests.map(\.host) == ["mirror.test", "mirror.test"])
    }
}
