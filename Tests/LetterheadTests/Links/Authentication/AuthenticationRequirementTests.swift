// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadSigning
import LetterheadTesting
import TestKit
import Testing

private let api = URL(string: "https://api.example.com") ?? URL(filePath: "/")

/// What becomes of a request that cannot be signed.
@Suite struct AuthenticationRequirementTests {
    private let mock = MockLoader { request in
        HTTPResponse(request: request, status: request.headers[.authorization] == "Bearer old" ? 401 : 200)
    }

    private var sent: [String?] { mock.requests.map { $0.headers[.authorization] } }

    private func client(_ authentication: HTTPAuthentication?, at url: URL = api) -> HTTPClient {
        HTTPClient(environment: ServerEnvironment(baseURL: url), authentication: authentication, transport: mock)
    }

    private func failure(_ client: HTTPClient, _ template: some RequestTemplate) async -> HTTPError? {
        await TestKit.failure { try await client.send(template) }
    }

    @Test func `without credentials, a request that requires them fails before anything is sent`() async throws {
        let signed = Get<HTTPResponse>("a").authenticated(.required)
        for authentication in [nil, .anonymous, .composite(["a": .bearer("t")])] as [HTTPAuthentication?] {
            let error = await failure(client(authentication), signed)
            #expect(error?.code == .cannotAuthenticate && error?.mayHaveBeenSent == false)
            #expect((error?.underlying as? HTTPAuthentication.Failure)?.reason == .noCredentials)
        }
        #expect(await failure(client(.bearer("t")), signed.authenticated(by: .anonymous))?.code == .cannotAuthenticate)
        #expect(sent.isEmpty)
        _ = try await client(.bearer("t")).send(signed)
        _ = try await client(nil).send(signed.header("Authorization", "own"))
        #expect(sent == ["Bearer t", "own"])
    }

    @Test func `a request that requires credentials is not sent to an origin to which they do not belong`()
        async throws
    {
        let elsewhere = ServerEnvironment("https://other.example.com")
        for authentication in [HTTPAuthentication.bearer("t"), .bearer { _ in "t" }] {
            let client = client(authentication)
            let template = Get<HTTPResponse>("a").environment(elsewhere)
            _ = try await client.send(template)
            let error = await failure(client, template.authenticated(.required))
            #expect((error?.underlying as? HTTPAuthentication.Failure)?.reason == .originNotAllowed)
        }
        #expect(sent == [nil, nil])
    }

    @Test func `an optional authentication signs if it can`() async throws {
        _ = try await client(.bearer("t")).send(Get<HTTPResponse>("a").authenticated(.optional))
        _ = try await client(nil).send(Get<HTTPResponse>("a").authenticated(.optional))
        #expect(sent == ["Bearer t", nil])
    }

    @Test func `an optional authentication that has no credentials sends the request without them`() async throws {
        struct Broken: Error {}
        for authentication in [HTTPAuthentication.bearer { _ in nil }, .bearer { _ in throw Broken() }] {
            let client = client(authentication)
            #expect(await failure(client, Get<HTTPResponse>("a"))?.code == .cannotAuthenticate)
            _ = try await client.send(Get<HTTPResponse>("a").authenticated(.optional))
        }
        let plain = try #require(URL(string: "http://api.example.com"))
        #expect(await failure(client(.bearer("t"), at: plain), Get<HTTPResponse>("a"))?.code == .cannotAuthenticate)
        _ = try await client(.bearer("t"), at: plain).send(Get<HTTPResponse>("a").authenticated(.optional))
        #expect(sent == [nil, nil, nil])
    }

    @Test func `if a refused credential cannot be replaced, the request is sent without one`() async throws {
        let ended = HTTPAuthentication.bearer { need in need.isRefused ? nil : "old" }
        _ = try await client(ended).send(Get<HTTPResponse>("a").authenticated(.optional))
        #expect(sent == ["Bearer old", nil])
        #expect(await failure(client(ended), Get<HTTPResponse>("a"))?.response?.status == 401)
    }

    @Test func `a one-shot body is sent once, signed or not`() async throws {
        let post = Post<HTTPResponse>("a").body(Words(isReplayable: false)).authenticated(.optional)
        _ = try await client(.bearer { _ in nil }).send(post)
        _ = try await client(.digest(user: "u", password: "p")).send(post)
        #expect(await failure(client(.bearer("old")), post)?.response?.status == 401)
        #expect(sent == [nil, nil, "Bearer old"])
    }

    @Test func `a malformed credential and an unknown name are errors in any case`() async {
        let optional = Get<HTTPResponse>("a").authenticated(.optional)
        #expect(await failure(client(.bearer("")), optional)?.code == .invalidRequest)
        #expect(await failure(client(nil), optional.authenticated(by: .named("x")))?.code == .cannotAuthenticate)
        #expect(sent.isEmpty)
    }

    @Test func `an error of the server itself is not taken for a missing credential`() async {
        let failing = MockLoader { throw HTTPError(.cannotConnect, request: $0) }
        let client = HTTPClient(
            environment: ServerEnvironment(baseURL: api), authentication: .bearer("t"), transport: failing)
        #expect(await failure(client, Get<HTTPResponse>("a").authenticated(.optional))?.code == .cannotConnect)
        #expect(failing.requests.count == 1)
    }

    @Test func `an explanation tells what becomes of the request`() async throws {
        let required = Get<HTTPResponse>("a").authenticated(.required)
        func part(_ client: HTTPClient, _ template: some RequestTemplate) async throws -> String? {
            try await client.explain(template).parts.first { $0.name == "authentication" }?.value
        }
        #expect(try await part(client(nil), required) == "none, and the request fails, because it requires credentials")
        #expect(try await part(client(.bearer("t")), required) == "bearer")
        let elsewhere = required.environment(ServerEnvironment("https://other.example.com"))
        #expect(try await part(client(.bearer("t")), elsewhere)?.hasPrefix("bearer, refused: ") == true)
        let plain = try #require(URL(string: "http://api.example.com"))
        let optional = Get<HTTPResponse>("a").authenticated(.optional)
        #expect(try await part(client(.bearer("t"), at: plain), optional)?.hasPrefix("bearer, not sent: ") == true)
    }
}
