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
        let chain = ApplyRegion(region: region) --> ModifyRequest.acceptHeader --> mock
        _ = await failure { try await SendableRequest(Get<[String: Int]>("numbers"), over: chain).send() }
        var decoded = HTTPRequest()
        decoded.decoder = MediaTypeDecoder([("application/x-plist", PropertyListDecoder()), (.json, JSONDecoder())])
        decoded.isDecoded = true
        _ = try await chain.load(decoded)
        decoded.headers["Accept"] = "text/csv"
        _ = try await chain.load(decoded)
        #expect(
            mock.requests.map { $0.headers["Accept"] } == [nil, "application/x-plist, application/json", "text/csv"])
    }
}
