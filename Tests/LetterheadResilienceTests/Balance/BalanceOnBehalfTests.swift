// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadCaching
import LetterheadOAuth
import LetterheadResilience
import LetterheadSigning
import LetterheadTesting
import TestKit
import Testing

/// What links send on behalf of a balanced request.
@Suite(.timeLimit(.minutes(2))) struct BalanceOnBehalfTests {
    @Test(
        arguments: ["oauth", "custom", "bearer", "challenge", "client", "chain"],
        ["https://tokens.test", "https://orders.test"])
    func `a token is fetched and refreshed, at another origin or from a replica`(
        method: String, issuer: String
    ) async throws {
        let tokens = Tokens(issuer)
        let mock = MockLoader { tokens.response(to: $0) }
        let recorder = EventRecorder()
        var resilience = Resilience(clock: TestClock(isAutomatic: true))
        resilience.balance = Balance(among: replicas, by: .roundRobin)
        let client = HTTPClient(
            environment: ServerEnvironment("https://orders.test"), resilience: resilience,
            authentication: try tokens.authentication(method), observers: [recorder], transport: mock)
        for _ in 1...2 {
            #expect(try await client.send(Get<HTTPResponse>("orders")).status == .ok)
            tokens.count.change { $0 += 1 }
        }
        let sent = mock.requests.filter { $0.path.string == "/token" }
        #expect(sent.count == 2)
        for request in mock.requests where issuer != "https://tokens.test" || request.path.string != "/token" {
            #expect(["a.test", "b.test", "c.test"].contains(request.host))
        }
        if issuer == "https://tokens.test" { #expect(sent.map(\.host) == ["tokens.test", "tokens.test"]) }
        let events = recorder.events
        #expect(events.count { $0.name == .exchangeStart } == mock.requests.count)
        let fetches = events.filter { $0.name == .loadStart && $0[.kind] == "refresh" }
        #expect(fetches.count == 2 && fetches.allSatisfy { $0.parent != nil }, "\(fetches)")
        #expect(ObserverLaws.violations(of: events) == [])
    }

    @Test func `an alternate request is for its own origin`() async throws {
        let mock = MockLoader { request in
            HTTPResponse(
                request: request,
                status: request.headers["X-Ticket"] == "2" || request.path.string == "/ticket" ? 200 : 503)
        }
        let alternates = ["https://tickets.test/ticket", "https://orders.test/ticket"]
        for url in alternates {
            let client = HTTPClient(
                environment: ServerEnvironment("https://orders.test"),
                attemptLinks: Balance(among: replicas, by: .roundRobin), transport: mock)
            let ticket = ClosureValidator(
                sending: { _, _ in try HTTPRequest(url) }, after: [503],
                onResponse: { original, _ in original.headers["X-Ticket"] = "2" })
            try await client.send(Get<HTTPResponse>("orders").validated(by: ticket).maximumRetries(1))
        }
        #expect(mock.hosts == ["a.test", "tickets.test", "b.test", "a.test", "b.test", "c.test"])
    }

    @Test func `a validation in the background is sent to a replica`() async throws {
        let mock = MockLoader { request in
            HTTPResponse(
                request: request, status: .ok,
                headers: ["Cache-Control": "max-age=0, stale-while-revalidate=60", "ETag": #""1""#])
        }
        let recorder = EventRecorder()
        let client = HTTPClient(
            environment: ServerEnvironment("https://orders.test"), cache: ResponseCache(store: .memory(bytes: 1 << 20)),
            attemptLinks: Balance(among: replicas, by: .roundRobin), observers: [recorder], transport: mock)
        for _ in 1...2 { try await client.send(Get<HTTPResponse>("orders")) }
        await until { mock.hosts.count == 2 }
        #expect(mock.hosts == ["a.test", "b.test"])
        #expect(recorder.events.count { $0[.kind] == "validation" } == 1)
    }
}

/// A server of tokens. Only the last one is valid.
private struct Tokens: Sendable {
    let issuer: String
    let count = Flag(1)

    init(_ issuer: String) { self.issuer = issuer }

    func response(to request: HTTPRequest) -> HTTPResponse {
        let token = "t\(count.value)"
        if request.path.string == "/token" {
            let body = Data(#"{"access_token": "\#(token)", "token_type": "Bearer"}"#.utf8)
            return HTTPResponse(request: request, status: .ok, body: HTTPResponseBody(body))
        }
        let isSigned = request.headers[.authorization] == "Bearer \(token)"
        return HTTPResponse(
            request: request, status: isSigned ? .ok : .unauthorized, headers: ["WWW-Authenticate": "Bearer realm=r"])
    }

    func authentication(_ method: String) throws -> HTTPAuthentication {
        let url = try #require(URL(string: issuer + "/token"))
        let form = ["grant_type": "urn:x"]
        return switch method {
        case "oauth", "custom":
            .oauth2(
                client: OAuth2.Client(id: "app", secret: "hush"), tokenEndpoint: url,
                grant: method == "oauth" ? .clientCredentials() : .custom { try await $0.tokens(form) })
        case "challenge":
            .challenge { _, need in .bearer(try await Self.token(need.next, HTTPRequest(method: .post, url: url))) }
        case "client":
            // The other client has another home.
            .bearer { [issuer] need in
                let client = HTTPClient(environment: ServerEnvironment(issuer), transport: need.next)
                return Secret(try await client.send(Get<[String: String]>("token"))["access_token"] ?? "")
            }
        case "chain":
            .bearer { [issuer] need in
                let chain = ApplyEnvironment(ServerEnvironment(issuer)) --> need.next
                let answer = try await SendableRequest(Get<[String: String]>("token"), over: chain).send()
                return Secret(answer["access_token"] ?? "")
            }
        default: .bearer { need in try await Self.token(need.next, HTTPRequest(method: .post, url: url)) }
        }
    }

    private static func token(_ next: any HTTPLoader, _ request: HTTPRequest) async throws -> Secret {
        let body = try await next.load(request).body.data()
        return Secret(try JSONDecoder().decode([String: String].self, from: body)["access_token"] ?? "")
    }
}
