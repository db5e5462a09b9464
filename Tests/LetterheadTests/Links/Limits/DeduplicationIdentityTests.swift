// SPDX-License-Identifier: MIT
import Foundation
import LetterheadTesting
import TestKit
import Testing

@testable import Letterhead

private func request(_ change: (inout HTTPRequest) -> Void = { _ in }) -> HTTPRequest {
    HTTPRequest().with { ($0.host, $0.path, $0.deduplication) = ("a.test", "/", .key("k")) }.with(change)
}

/// How many loads two requests make that are under way at the same time.
private func loads(
    _ first: HTTPRequest, _ second: HTTPRequest, over link: Deduplicate = Deduplicate()
) async throws -> Int {
    let held = HeldLoader()
    let chain = link --> held
    async let one = chain.load(first)
    async let other = chain.load(second)
    await until { link.waiting == 2 }
    await held.waitForRunning(link.running)
    let count = link.running
    held.open()
    _ = try await (one, other)
    return count
}

@Suite(.timeLimit(.minutes(3))) struct DeduplicationIdentityTests {
    @Test(arguments: [("authentication", 2), ("named", 2), ("cookies", 2), ("environment", 2), ("none", 1)])
    func `clients never share a load over one link, because their users may differ, and copies of a client do`(
        difference: String, loads: Int
    ) async throws {
        let (link, held) = (Deduplicate(), HeldLoader())
        func client(_ user: String) -> HTTPClient {
            switch difference {
            case "authentication":
                HTTPClient(
                    environment: .of("https://a.test"), authentication: .bearer(Secret(user)), links: link,
                    transport: held)
            case "named":
                HTTPClient(
                    environment: .of("https://a.test"), authentication: .composite(["user": .bearer(Secret(user))]),
                    links: link, transport: held)
            case "cookies":
                HTTPClient(environment: .of("https://a.test"), cookies: CookieJar(), links: link, transport: held)
            default: HTTPClient(environment: .of("https://\(user).test"), links: link, transport: held)
            }
        }
        let first = client("a")
        let second = difference == "none" ? first : client("b")
        let template = TestEndpoint("me").with {
            if difference == "named" { $0.options.authentication = .named("user") }
        }
        async let one = first.send(template)
        async let other = second.send(template)
        await until { link.waiting == 2 }
        await held.waitForRunning(link.running)
        #expect(link.running == loads)
        held.open()
        _ = try await (one, other)
    }

    private enum Session { @TaskLocal static var user = "" }

    @Test(arguments: [true, false])
    func `tasks with tokens of their own never share a response or an error of their client`(
        hasTokens: Bool
    ) async throws {
        struct SignedOut: Error {}
        let link = Deduplicate()
        let client = HTTPClient(
            environment: .of("https://a.test"),
            authentication: .bearer(each: {
                // The second request has joined the first.
                await until { link.waiting != 1 }
                if !hasTokens, Session.user == "a" { throw SignedOut() }
                return Secret(Session.user)
            }), links: link,
            transport: MockLoader { request in
                HTTPResponse(request: request, status: .ok, headers: ["X-User": request.headers[.authorization] ?? ""])
            })
        func start(_ user: String) -> Task<String?, any Error> {
            Session.$user.withValue(user) { Task { try await client.send(TestEndpoint("me")).headers["X-User"] } }
        }
        let first = start("a")
        await until { link.waiting == 1 }
        let second = start("b")
        #expect(try await second.value == "Bearer b")
        if hasTokens {
            #expect(try await first.value == "Bearer a")
        } else {
            await #expect(throws: HTTPError.self) { try await first.value }
        }
    }

    @Test(arguments: [Deduplicate.Settings.automatic, .key("k")])
    func `a request after a reset of its client does not join a load from before it`(
        setting: Deduplicate.Settings
    ) async throws {
        let client = ClientIdentity()
        let requests = (0..<2).map { _ in
            defer { client.endGeneration() }
            return request {
                $0.deduplication = setting
                $0.context.generation = client.generation
            }
        }
        #expect(try await loads(requests[0], requests[1]) == 2)
        #expect(RequestIdentity(requests[0]) != RequestIdentity(requests[1]))
    }

    @Test func `a reset of a client ends no load of another client over the same link`() async throws {
        let (link, held) = (Deduplicate(), HeldLoader())
        let clients = (0..<2).map { _ in HTTPClient(environment: .of("https://a.test"), links: link, transport: held) }
        let tasks = clients.map { client in Task { try await client.send(TestEndpoint("me")) } }
        await until { link.waiting == 2 }
        await clients[0].reset()
        await #expect(throws: (any Error).self) { try await tasks[0].value }
        #expect(link.waiting == 1)
        await held.waitForRunning(1)
        held.open()
        _ = try await tasks[1].value
    }

    @Test(
        arguments: [
            { $0.headers["Authorization"] = "b" }, { $0.headers["Cookie"] = "b" }, { $0.headers["X-Api-Key"] = "b" },
            { $0.headers["X-Access-Token"] = "b" }, { $0.headers["PRIVATE-TOKEN"] = "b" },
            { $0.headers["X-Vault-Token"] = "b" }, { $0.headers["DPoP"] = "b" },
            { $0.headers.setSecret("b", for: "X-Own") }, { $0.headers["X-Account"] = "b" },
            {
                $0.headers["X-Tenant"] = "b"
                $0.redaction = .standard.adding(headers: ["X-Tenant"])
            },
            { $0.query["access_token"] = "b" }, { $0.query["jwt"] = "b" }, { $0.query.setSecret("b", for: "own") },
            {
                $0.headers["X-Api-Key"] = "b"
                $0.redaction = Redaction(headers: [], parameters: [])
            },
            { $0.userInfo = "b" }, { $0.authentication = .bearer("b") }, { $0.authentication = .bearer { _ in "b" } },
            { $0.authentication = .named("b") }, { $0.authentication = .composite(["b": .bearer("b")], default: "b") },
            { $0.requiredScopes = ["b"] }, { $0.serverEnvironment = .of("https://a.test", headers: ["X-User": "b"]) },
            { $0.host = "b.test" }, { $0.scheme = "http" }, { $0.port = 8443 },
        ] as [@Sendable (inout HTTPRequest) -> Void])
    func `requests of different users or origins do not share by key`(
        change: @Sendable (inout HTTPRequest) -> Void
    ) async throws { #expect(try await loads(request(), request(change)) == 2) }

    @Test(
        arguments: [
            { $0.headers["Authorization"] = "b" }, { $0.headers["X-Access-Token"] = "b" }, { $0.query["token"] = "b" },
            { $0.authentication = .bearer("b") }, { $0.authentication = .apiKey("b", queryName: "own") },
            { $0.serverEnvironment = .of("https://a.test", headers: ["X-User": "b"]) },
        ] as [@Sendable (inout HTTPRequest) -> Void])
    func `requests of one user share by key`(change: @Sendable (inout HTTPRequest) -> Void) async throws {
        let other = request {
            change(&$0)
            $0.path = "/other"
            $0.method = .post
        }
        #expect(try await loads(request(change), other) == 1)
    }

    @Test func `a body that is secret as a whole is compared, with a key too`() async throws {
        func login(_ password: String) -> HTTPRequest {
            request {
                $0.method = .post
                $0.isSecret = true
                $0.body = DataBody(Data(password.utf8))
            }
        }
        #expect(try await loads(login("a"), login("b")) == 2)
        #expect(try await loads(login("a"), login("a")) == 1)
    }

    @Test(arguments: [Deduplicate.Settings.automatic, .key("k")])
    func `requests that differ only in an ignored header share`(setting: Deduplicate.Settings) async throws {
        let requests = ["a", "b"].map { value in
            request {
                $0.headers["X-Trace"] = value
                $0.deduplication = setting
            }
        }
        #expect(try await loads(requests[0], requests[1], over: Deduplicate(ignoring: ["X-Trace"])) == 1)
        #expect(try await loads(requests[0], requests[1]) == 2)
    }

    @Test func `a secret header is compared even if it is ignored`() async throws {
        let names: [HTTPHeaders.Name] = ["Authorization", "Cookie", "X-Access-Token", "X-Own"]
        for name in names {
            let requests = ["a", "b"].map { value in
                request {
                    $0.deduplication = .automatic
                    $0.headers.setSecret(value, for: name)
                }
            }
            #expect(try await loads(requests[0], requests[1], over: Deduplicate(ignoring: Set(names))) == 2)
        }
    }

    @Test func `equal credentials are equal regardless of where they are created`() async throws {
        func signed(_ token: Secret, _ allowed: [URL]? = nil) -> HTTPRequest {
            request {
                $0.deduplication = .automatic
                $0.authentication = .bearer(token, allowedOrigins: allowed)
            }
        }
        #expect(try await loads(signed("a"), signed("a")) == 1)
        #expect(try await loads(signed("a"), signed("b")) == 2)
        #expect(try await loads(signed("a"), signed("a", [URL(filePath: "/")])) == 2)
    }
}
