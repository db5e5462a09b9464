// SPDX-License-Identifier: MIT
import Foundation
import LetterheadTesting
import TestKit
import Testing

@testable import Letterhead

/// A derived client has the chain of the client that it was derived from, and requests that begin with its settings.
@Suite struct DerivedClientTests {
    private struct Audit: HTTPValidator {
        let name: String
        let log: Journal

        func validate(response: HTTPResponse, forRequest request: HTTPRequest) async throws -> HTTPValidatorResult {
            log.write(name)
            return .nextValidator
        }
    }

    private let mock = MockLoader { .ok($0) }
    private let client: HTTPClient

    init() {
        let environment = ServerEnvironment(
            "https://api.test/v1", headers: ["X-Team": "environment", "X-Only": "environment"])
        client = HTTPClient(environment: environment, authentication: .bearer("token"), transport: mock)
    }

    private var last: HTTPRequest? { mock.requests.last }

    @Test func `a link is added above all others, for the derived client only`() async throws {
        let link = ModifyRequest { $0.headers["X-Seen"] = $0.headers["X-Team"] ?? "first" }
        _ = try await client.addingLink(link).send(TestEndpoint("a"))
        #expect(last?.headers["X-Seen"] == "first" && last?.headers["X-Team"] == "environment")
        _ = try await client.send(TestEndpoint("a"))
        #expect(last?.headers["X-Seen"] == nil)
    }

    @Test func `one modifier of a program serves templates and clients, and the template's setting takes precedence`()
        async throws
    {
        let admin = client.tenant("admin").throttling(.never)
        _ = try await admin.send(TestEndpoint("a"))
        #expect(last?.tenant == "admin" && last?.throttling.priority == nil)
        _ = try await admin.send(TestEndpoint("a").tenant("guest").throttling(.priority(1)))
        #expect(last?.tenant == "guest" && last?.throttling.priority == 1)
        _ = try await client.send(TestEndpoint("a"))
        #expect(last?.tenant == "none" && last?.throttling.priority == 0)
    }

    @Test func `headers of a template beat those of the client, which beat those of the environment`() async throws {
        let derived = client.header("X-Team", "client").header("X-Admin", "1").headers(["X-Two": "2"])
        _ = try await derived.send(TestEndpoint("a"))
        #expect(
            ["X-Team", "X-Only", "X-Admin", "X-Two"].map { last?.headers[HTTPHeaders.Name($0)] }
                == ["client", "environment", "1", "2"])
        _ = try await derived.send(TestEndpoint("a").header("x-team", "template"))
        #expect(last?.headers.values(for: "X-Team") == ["template"])
        _ = try await derived.header("X-Admin", nil).send(TestEndpoint("a"))
        #expect(last?.headers["X-Admin"] == nil && last?.headers["X-Team"] == "client")
        _ = try await client.send(TestEndpoint("a"))
        #expect(last?.headers["X-Team"] == "environment" && last?.headers["X-Admin"] == nil)
    }

    @Test func `a header of a template beats that of its body, which beats that of the client`() async throws {
        _ = try await client.header("Content-Type", "text/csv").send(TestEndpoint("a").body(TextBody("x")))
        #expect(last?.framedHeaders()["Content-Type"]?.hasPrefix("text/plain") == true)
        _ = try await client.send(TestEndpoint("a").body(TextBody("x")).header("Content-Type", "text/own"))
        #expect(last?.framedHeaders().values(for: "Content-Type") == ["text/own"])
    }

    @Test func `settings of a template and of a plain request beat those of the client`() async throws {
        let derived = client.timeout(.seconds(5)).query("v", 1).accepting([404]).responseLimit(7)
        _ = await #expect(throws: HTTPError.self) { try await derived.send(TestEndpoint("a")) }
        #expect(last?.timeout == .seconds(5) && last?.query["v"] == "1" && last?.responseLimit == 7)
        _ = try await derived.send(TestEndpoint("a").timeout(nil).query("v", 2).accepting([200]))
        #expect(last?.timeout == nil && last?.query["v"] == "2")
        let request = HTTPRequest().with { ($0.acceptedStatuses, $0.timeout) = ([200], .seconds(1)) }
        _ = try await derived.send(request)
        #expect(last?.timeout == .seconds(1) && last?.query["v"] == "1")
    }

    @Test func `validators run in the order request, derived client, client`() async throws {
        let log = Journal()
        let client = HTTPClient(
            environment: .of("https://h"), validators: [Audit(name: "client", log: log)], transport: mock)
        let derived = client.validated(by: Audit(name: "first", log: log)).validated(
            by: Audit(name: "second", log: log))
        _ = try await derived.send(TestEndpoint("a").validated(by: Audit(name: "request", log: log)))
        #expect(log.all == ["request", "first", "second", "client"])
        // A request that is sent again has no validator twice.
        _ = try await derived.send(derived.send(HTTPRequest("https://h/a")).request)
        #expect(log.all.dropFirst(4) == ["first", "second", "client", "first", "second", "client"])
    }

    @Test func `validators of a derived client run inside another client that retries`() async throws {
        let log = Journal()
        let inner = HTTPClient(environment: .of("https://h"), transport: mock).validated(
            by: Audit(name: "inner", log: log))
        let transport = AnyLoader { try await inner.send($0) }
        let outer = HTTPClient(
            environment: .of("https://h"), retrying: Backoff(maximumRetries: 1), transport: transport)
        _ = try await outer.send(TestEndpoint("a"))
        #expect(log.all == ["inner"])
    }

    @Test
    func `a setting that a request leaves to the client is that of the derived client, whose decoder Accept names`()
        async throws
    {
        let derived = client.maximumRetries(3).decoder(MediaTypeDecoder([("application/x-plist", JSONDecoder())]))
        _ = await #expect(throws: HTTPError.self) { try await derived.send(Get<[Int]>("a").maximumRetries(nil)) }
        #expect(last?.maximumRetries == 3 && last?.headers["Accept"] == "application/x-plist")
        let request = HTTPRequest().with { $0.decoder = nil }
        _ = try await derived.send(request)
        #expect(last?.decoder is MediaTypeDecoder)
    }

    @Test func `transformers run in the order client, derived client, request`() async throws {
        func mark(_ text: String) -> ModifyResponse {
            ModifyResponse { $0.headers["X-Marks"] = ($0.headers["X-Marks"] ?? "") + text }
        }
        let client = HTTPClient(environment: .of("https://h"), transformers: [mark("a")], transport: mock).transformed(
            by: mark("b"))
        #expect(try await client.send(TestEndpoint("x").transformed(by: mark("c"))).headers["X-Marks"] == "abc")
    }

    @Test func `a derived client shares connections and credentials, which stay with the first environment`()
        async throws
    {
        let staging = ServerEnvironment(baseURL: try #require(URL(string: "https://staging.test/s")))
        _ = try await client.header("X-Admin", "1").send(TestEndpoint("a"))
        #expect(last?.headers["Authorization"] == "Bearer token")
        _ = try await client.environment(staging).send(TestEndpoint("a"))
        #expect(last?.host == "staging.test" && last?.path.string == "/s/a" && last?.headers["Authorization"] == nil)
    }

    @Test func `retries of a derived client are observed by the client and by the template`() async throws {
        let log = Journal()
        let clock = TestClock()
        let mock = MockLoader { .ok($0) }.then { HTTPResponse(request: $0, status: 503) }
        let client = HTTPClient(environment: .of("https://h"), retrying: Backoff(clock: clock), transport: mock)
            .retry(.immediate, maximumRetries: 1).onRetry { _ in log.write("client") }
        _ = try? await client.send(TestEndpoint("a").onRetry { _ in log.write("template") })
        #expect(log.all == ["client", "template"])
    }
}

private enum Tenant: HTTPRequestOption { static let defaultOptionValue = "none" }

extension RequestSettings {
    fileprivate var tenant: String {
        get { self[option: Tenant.self] }
        set { self[option: Tenant.self] = newValue }
    }
}

extension RequestConfigurable {
    fileprivate func tenant(_ name: String) -> Configured { configured { $0.tenant = name } }
}
