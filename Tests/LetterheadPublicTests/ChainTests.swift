// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Testing

/// A link that completes requests with the environment of a region, instead of `ApplyEnvironment`.
private struct ApplyRegion: LoaderLink {
    let region: ServerEnvironment

    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        var completed = request
        region.apply(to: &completed)
        var home = HTTPRequest()
        region.apply(to: &home)
        completed.homeOrigin = home.origin
        return try await next.load(completed)
    }
}

/// A link that sends each attempt of a load to another server.
private struct Rotate: LoaderLink {
    private enum Tried: HTTPRequestOption {
        static let defaultOptionValue: [String] = []
    }

    let servers: [String]

    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        var sent = request
        let tried = request.loadValues[option: Tried.self]
        sent.logicalOrigin = request.origin
        sent.host = servers.first { !tried.contains($0) } ?? request.host
        var response = try await next.load(sent)
        (response.request.host, response.request.logicalOrigin) = (request.host, nil)
        response.request.loadValues[option: Tried.self] = tried + [sent.host ?? ""]
        return response
    }
}

@Suite struct ChainTests {
    private let region: ServerEnvironment
    private let mock = MockLoader { .ok($0) }

    init() throws { region = ServerEnvironment(baseURL: try #require(URL(string: "https://eu.api.test/v1"))) }

    @Test func `credentials belong to the origin of a custom environment`() async throws {
        let chain = ApplyRegion(region: region) --> Authenticate(.bearer("token")) --> mock
        _ = try await chain.load(HTTPRequest())
        _ = try await chain.load(.plain())
        #expect(mock.requests.map { $0.headers["Authorization"] } == ["Bearer token", nil])
    }

    @Test func `what a link knows of a load reaches the next attempt, and no later load`() async throws {
        let (clock, home) = (TestClock(), HTTPOrigin(scheme: "https", host: "eu.api.test"))
        let mock = MockLoader { HTTPResponse(request: $0, status: $0.host == "c.test" ? .ok : .serviceUnavailable) }
        let client = HTTPClient(
            environment: region, retrying: Backoff(maximumRetries: 2, clock: clock),
            attemptLinks: Rotate(servers: ["a.test", "b.test", "c.test"]),
            transport: mock)
        let response = try await clock.run { try await client.send(HTTPRequest()) }
        let hosts = mock.requests.map(\.host)
        #expect(hosts == ["a.test", "b.test", "c.test"] && response.request.origin == home)
        #expect(mock.requests.allSatisfy { $0.logicalOrigin == home })
        _ = try await clock.run { try await client.send(response.request) }
        #expect(mock.requests.map(\.host) == hosts + hosts)
    }

    @Test func `a custom chain asks for the media types of the decoder`() async throws {
        let chain = ApplyRegion(region: region) --> mock
        let numbers = Get<[String: Int]>("numbers")
        _ = await failure { try await SendableRequest(numbers, over: chain).send() }
        let decoder = MediaTypeDecoder([("application/x-plist", PropertyListDecoder()), (.json, JSONDecoder())])
        _ = await failure { try await SendableRequest(numbers.decoder(decoder), over: chain).send() }
        let csv = numbers.decoder(decoder).header("Accept", "text/csv")
        _ = await failure { try await SendableRequest(csv, over: chain).send() }
        _ = try await SendableRequest(numbers, over: chain).response()
        #expect(
            mock.requests.map { $0.framedHeaders()["Accept"] } == [
                "application/json, application/problem+json", "application/x-plist, application/json", "text/csv", nil,
            ])
    }
}
