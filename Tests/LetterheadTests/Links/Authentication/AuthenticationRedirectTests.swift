// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Testing

private let first = URL(string: "https://a.example") ?? URL(filePath: "/")
private let second = URL(string: "https://b.example") ?? URL(filePath: "/")

/// What each hop was signed with: a sends to b, b sends back to a, and there it ends.
private func signatures(
    client authentication: HTTPAuthentication, own: HTTPAuthentication? = nil
) async throws -> [String?] {
    let mock = MockLoader()
        .then { HTTPResponse(request: $0, status: .found, headers: ["Location": "https://b.example/x"]) }
        .then { HTTPResponse(request: $0, status: .found, headers: ["Location": "https://a.example/end"]) }
        .then { HTTPResponse(request: $0, status: .ok) }
    let client = HTTPClient(
        environment: ServerEnvironment(baseURL: first), authentication: authentication, transport: mock)
    var request = HTTPRequest().with { $0.path = "start" }
    if let own { request.authentication = own }
    _ = try await client.send(request)
    return mock.requests.map { $0.headers["Authorization"] }
}

@Suite struct AuthenticationRedirectTests {
    @Test(arguments: [nil, [first, second]] as [[URL]?])
    func `a request's own credentials are removed, too`(allowed: [URL]?) async throws {
        let own = HTTPAuthentication.bearer("t", allowedOrigins: allowed)
        #expect(try await signatures(client: .anonymous, own: own) == ["Bearer t", nil, nil])
    }

    @Test(arguments: [nil, [first, second], [first], [second]] as [[URL]?])
    func `a client's credentials are removed at another origin, and not added again, there or at the first origin`(
        allowed: [URL]?
    ) async throws {
        let signed = allowed?.contains(first) == false ? nil : "Bearer t"
        #expect(try await signatures(client: .bearer("t", allowedOrigins: allowed)) == [signed, nil, nil])
    }

    @Test func `an API key in the query is removed`() async throws {
        let mock = MockLoader()
            .then { HTTPResponse(request: $0, status: .found, headers: ["Location": "https://b.example/x"]) }
            .then { HTTPResponse(request: $0, status: .ok) }
        let client = HTTPClient(
            environment: ServerEnvironment(baseURL: first), authentication: .apiKey("k", queryName: "key"),
            transport: mock)
        _ = try await client.send(HTTPRequest(url: first))
        #expect(mock.requests.map { $0.query["key"] } == ["k", nil])
    }
}
