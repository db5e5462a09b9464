// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

private let environment = ServerEnvironment(baseURL: URL(string: "https://api.example.com") ?? URL(filePath: "/"))

/// What one request was sent with over a client's chain: its `Authorization`, nil without one.
private func authorization(
    of url: String, client: HTTPAuthentication = .anonymous, own: HTTPAuthentication? = nil,
    environment: ServerEnvironment? = environment
) async throws -> String? {
    let mock = MockLoader { HTTPResponse(request: $0, status: .ok) }
    var request = HTTPRequest(url: try #require(URL(string: url)))
    if let own { request.authentication = own }
    let applied = environment.map { ApplyEnvironment($0) } ?? ApplyEnvironment()
    _ = try await (applied --> Authenticate(client) --> mock).load(request)
    return try #require(mock.requests.first).headers["Authorization"]
}

@Suite struct AllowedOriginsTests {
    @Test(arguments: [
        ("https://api.example.com/me", true), ("https://API.example.com:443/me", true), ("me", true),
        ("https://evil.example/me", false), ("https://api.example.com:8443/me", false),
        ("https://api.example.com.evil.example/me", false), ("http://evil.example/me", false),
    ])
    func `a client's credentials are sent to the origin of its environment, and to no other`(
        url: String, isSent: Bool
    ) async throws { #expect(try await authorization(of: url, client: .bearer("t")) == (isSent ? "Bearer t" : nil)) }

    @Test func `a client's credentials are not sent with a request whose own options remove the environment`()
        async throws
    {
        let mock = MockLoader { HTTPResponse(request: $0, status: .ok) }
        let request = HTTPRequest(url: URL(string: "https://evil.example/me")!).with { $0.serverEnvironment = nil }
        _ = try await (ApplyEnvironment(environment) --> Authenticate(.bearer("t")) --> mock).load(request)
        #expect(mock.requests.first?.headers["Authorization"] == nil)
    }

    @Test(
        arguments: [
            ("https://other.example/me", .bearer("t"), nil), ("https://other.example/me", .bearer { _ in "t" }, nil),
            ("https://other.example/me", .bearer("t", allowedOrigins: [URL(string: "https://b.example")!]), nil),
            ("https://b.example/x", .bearer("t", allowedOrigins: [URL(string: "https://b.example")!]), "Bearer t"),
        ] as [(String, HTTPAuthentication, String?)])
    func `a client without an environment signs requests to allowed origins only`(
        url: String, client: HTTPAuthentication, expected: String?
    ) async throws {
        #expect(try await authorization(of: url, client: client, environment: nil) == expected)
    }

    @Test func `an attempt that was signed does not say that an earlier attempt was not signed`() async throws {
        let mock = MockLoader { HTTPResponse(request: $0, status: .unauthorized) }
            .then { HTTPResponse(request: $0, status: .found, headers: ["Location": "https://other.example/me"]) }
        let client = HTTPClient(environment: environment, authentication: .bearer("t"), transport: mock)
        let retrying = Get<HTTPResponse>("me").retry(.immediate.when(.statuses([.unauthorized])), maximumRetries: 1)
        let error = await #expect(throws: HTTPError.self) { try await client.send(retrying) }
        #expect(mock.requests.map { $0.headers["Authorization"] } == ["Bearer t", nil, "Bearer t"])
        #expect(error?.code == .unacceptableStatus && error?.message.contains("was not signed") == false)
    }

    @Test(arguments: [
        "https://other.example/me", "http://127.0.0.1:8080/", "http://127.1.2.3/", "http://localhost:1/",
        "http://[::1]:80/",
    ])
    func `a request's own credentials are sent to its origin, also over plain http to the local machine`(
        url: String
    ) async throws {
        #expect(try await authorization(of: url, own: .bearer("t")) == "Bearer t")
    }

    @Test(arguments: [
        "http://api.example.com/", "http://127.0.0.1.evil.example/", "http://localhost.evil.example/",
        "http://10.0.0.1/",
        "http://127.0.0/", "http://127.0.0.256/", "http://0127.0.0.1/", "http://127.0.0.01/", "http://127.0.0.+1/",
    ])
    func `plain http to another machine is refused, and nothing is sent`(url: String) async throws {
        let error = await #expect(throws: HTTPError.self) { try await authorization(of: url, own: .bearer("t")) }
        #expect(error?.code == .cannotAuthenticate && error?.mayHaveBeenSent == false)
    }

    @Test func `plain http is allowed for an origin that is listed with http`() async throws {
        let bearer = HTTPAuthentication.bearer("t", allowedOrigins: [URL(string: "http://api.example.com")!])
        #expect(try await authorization(of: "http://api.example.com/", own: bearer) == "Bearer t")
    }

    @Test func `requests over http to an origin listed with https, and own credentials of other origins, are refused`()
        async throws
    {
        let api = HTTPAuthentication.bearer("t", allowedOrigins: [URL(string: "https://api.example.com")!])
        let other = HTTPAuthentication.bearer("t", allowedOrigins: [URL(string: "https://b.example")!])
        let error = await failure { try await authorization(of: "http://api.example.com/", client: api) }
        let own = await failure { try await authorization(of: "https://api.example.com/", own: other) }
        #expect(error?.code == .cannotAuthenticate && own?.code == .cannotAuthenticate)
    }
}
