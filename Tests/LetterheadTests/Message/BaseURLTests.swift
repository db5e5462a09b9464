// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Testing

struct BaseURLTests {
    struct Get: RequestTemplate {
        let baseURL: URL?
        var path: RequestPath { "x" }
    }

    @Test(arguments: ["api.example.com", "/v1", "https:///v1", "mailto:a@b.example"])
    func `a base URL without a host is refused, and the client's host does not replace it`(text: String) async throws {
        let mock = MockLoader { request in .ok(request) }
        let environment = ServerEnvironment(baseURL: try #require(URL(string: "https://client.example")))
        let client = HTTPClient(environment: environment, transport: mock)
        let error = await #expect(throws: HTTPError.self) { try await client.send(Get(baseURL: URL(string: text))) }
        #expect(error?.code == .invalidRequest && error?.message.contains("base URL") == true && mock.requests.isEmpty)
    }
}
