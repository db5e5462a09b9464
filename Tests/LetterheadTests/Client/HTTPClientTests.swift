// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

#if Foundation && canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite struct HTTPClientTests {
    private let environment = ServerEnvironment.of("https://h/api", headers: ["Accept": "environment"])

    @Test func `a client is created from the text of a base URL, or with a name for its retries`() async throws {
        #if Foundation || canImport(Darwin)
            #expect(
                try HTTPClient(baseURL: "https://h/v2").urlRequest(for: TestEndpoint("a")).url?.absoluteString
                    == "https://h/v2/a")
        #endif
        let error = await #expect(throws: HTTPError.self) { try await HTTPClient(baseURL: "h").send(TestEndpoint("a")) }
        #expect(error?.code == .invalidRequest && error?.message.contains("https://host/path") == true)
        let mock = MockLoader { HTTPResponse(request: $0, status: 503) }
        var retrying = Backoff.exponential
        retrying.clock = TestClock(isAutomatic: true)
        let client = HTTPClient(environment: environment, retrying: retrying, transport: mock)
        _ = HTTPClient(environment: environment, retrying: .exponential)
        await #expect(throws: HTTPError.self) { try await client.send(TestEndpoint("a")) }
        #expect(mock.requests.count == 4)
    }

    @Test func `the error of a 404 names an escaped slash in its path`() async throws {
        let mock = MockLoader { HTTPResponse(request: $0, status: $0.path.string.contains("gone") ? 410 : 404) }
        let client = HTTPClient(environment: environment, transport: mock)
        for (path, isNamed) in [("a/\("b/c")", true), ("a/\(raw: "b/c")", false), ("gone/\("b/c")", false)]
            as [(RequestPath, Bool)]
        {
            let error = await #expect(throws: HTTPError.self) { try await client.send(TestEndpoint(path)) }
            #expect(
                error?.message.contains(#"%2F, an escaped slash: for several segments, write \(segments: list)"#)
                    == isNamed)
        }
    }

    @Test func `without a host or a scheme nothing is sent, and the error names the remedy`() async throws {
        let mock = MockLoader { .ok($0) }
        let (client, request) = (HTTPClient(transport: mock), try HTTPRequest.to("api.example.com/users"))
        let noHost = await failure { try await client.send(TestEndpoint("a")) }
        #expect(noHost?.code == .invalidRequest && noHost?.message.contains("environment") == true)
        let noScheme = await failure { try await client.send(request) }
        #expect(noScheme?.code == .invalidRequest && noScheme?.message.contains("a URL with a scheme") == true)
        #expect(mock.requests.isEmpty)
    }

    @Test func `a reset reaches every link once`() async {
        let (outer, inner) = (HeldReset(), HeldReset())
        outer.open()
        inner.open()
        await HTTPClient(links: outer, attemptLinks: inner, transport: MockLoader()).reset()
        #expect(outer.resets == 1 && inner.resets == 1)
    }
}
