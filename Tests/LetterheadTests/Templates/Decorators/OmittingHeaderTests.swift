// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

/// Headers that nothing adds to a request, by a modifier.
@Suite struct OmittingHeaderTests {
    private let mock = MockLoader { HTTPResponse(request: $0, status: .ok) }

    /// A client with headers of its own and of its environment.
    private var client: HTTPClient {
        HTTPClient(
            environment: .of("https://h.test", headers: ["X-Place": "environment", "X-Kept": "1"]), transport: mock
        ).header("X-Client", "client")
    }

    private func headers(of template: some RequestTemplate, over client: HTTPClient? = nil) async throws -> HTTPHeaders
    {
        _ = try await (client ?? self.client).stream(template)
        return try #require(mock.requests.last).framedHeaders()
    }

    @Test func `a template omits a header of the client, the environment and the body`() async throws {
        let template = TestEndpoint("a", answering: [Int].self).with { ($0.method, $0.body) = (.post, TextBody("x")) }
        let omitted: [HTTPHeaders.Name] = ["X-Client", "x-place", .contentType]
        let all = try await headers(of: template)
        #expect(omitted.allSatisfy { all.contains($0) })
        let left = try await headers(
            of: template.omittingHeader("X-Client").omittingHeader("x-place").omittingHeader(.contentType))
        #expect(omitted.allSatisfy { !left.contains($0) })
        #expect(left["X-Kept"] == "1")
    }

    @Test func `a header that the template sets is sent`() async throws {
        let template = TestEndpoint().header("X-Place", "template").omittingHeader("X-Place")
        #expect(try await headers(of: template).values(for: "X-Place") == ["template"])
    }

    @Test func `the omitted headers of a client and a template add up`() async throws {
        let narrow = client.omittingHeader("X-Client").omittingHeader("X-Kept")
        let sent = try await headers(of: TestEndpoint().omittingHeader("X-Place"), over: narrow)
        #expect(sent.map(\.name).filter { $0.rawValue.hasPrefix("X-") }.isEmpty)
        #expect(try await headers(of: TestEndpoint(), over: narrow)["X-Place"] == "environment")
    }

    @Test func `the environment of a builder follows the same rule`() throws {
        let template = TestEndpoint().environment(.of("https://h.test", headers: ["X-Place": "1", "X-Kept": "1"]))
        let request = try StandardRequestBuilder(template.omittingHeader("X-Place")).request()
        #expect(!request.headers.contains("X-Place") && request.headers.contains("X-Kept"))
    }
}
