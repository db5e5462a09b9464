// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Testing

/// A link that completes requests with the environment of a region, in place of `ApplyEnvironment`.
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
