// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadResilience
import LetterheadTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct AllowTests {
    private struct GetUser: RequestTemplate {
        let login: String
        var path: RequestPath { "users/\(login, name: "login")" }
    }

    private struct DeleteUser: RequestTemplate {
        let login: String
        var path: RequestPath { "users/\(login, name: "login")" }
        var method: HTTPMethod { .delete }
    }

    private let mock = MockLoader { HTTPResponse(request: $0, status: .ok) }

    private func client(_ link: Allow) -> HTTPClient {
        HTTPClient(
            environment: ServerEnvironment("https://a.test"), authentication: .bearer { _ in "t" }, links: link,
            transport: mock)
    }

    @Test func `a listed template is sent, whatever is around it`() async throws {
        let client = client(Allow(GetUser.self))
        _ = try await client.send(GetUser(login: "ada"))
        _ = try await client.send(GetUser(login: "ada").header("X-A", "1").timeout(.seconds(5)))
        _ = try await client.send(AnyTemplate(GetUser(login: "ada")).query("a", "1"))
        #expect(mock.requests.map(\.path.string) == Array(repeating: "/users/ada", count: 3))
    }

    @Test func `other requests fail before a credential is fetched, and the error names the type and the route`()
        async throws
    {
        let fetched = Atomic(0)
        let client = HTTPClient(
            environment: ServerEnvironment("https://a.test"),
            authentication: .bearer { _ in
                fetched.add(1, ordering: .relaxed)
                return "t"
            }, links: Allow(GetUser.self), transport: mock)
        let other = await #expect(throws: HTTPError.self) {
            try await client.send(DeleteUser(login: "ada").retry(.immediate))
        }
        #expect(other?.code == .invalidRequest && other?.mayHaveBeenSent == false && other?.attempts.count ?? 0 < 2)
        #expect(other?.message == "DeleteUser (users/{login}) is not allowed to leave (list its type in Allow)")
        let plain = await #expect(throws: HTTPError.self) {
            try await client.send(try HTTPRequest("https://a.test/users/ada"))
        }
        #expect(plain?.message == "a request without a template is not allowed to leave (list its type in Allow)")
        #expect(mock.requests.isEmpty && fetched.load(ordering: .relaxed) == 0)
    }

    @Test func `an empty list refuses everything, and the chain shows the list`() async throws {
        await #expect(throws: HTTPError.self) { try await client(Allow()).send(GetUser(login: "ada")) }
        let listing = client(Allow(GetUser.self, Get<String>.self))
        #expect("\(listing)".contains("Allow(GetUser, Get<String>)"))
        let explained = try await listing.explain(DeleteUser(login: "ada"))
        #expect(explained.description.contains("Allow(GetUser, Get<String>)") && mock.requests.isEmpty)
    }
}
