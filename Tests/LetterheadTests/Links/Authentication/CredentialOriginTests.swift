// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Synchronization
import TestKit
import Testing

private let first = URL(string: "https://a.example") ?? URL(filePath: "/")
private let second = URL(string: "https://b.example") ?? URL(filePath: "/")

/// An authentication, and how it is made: given beforehand, remembered, or by a link of the user's own.
struct OriginCase: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let make: @Sendable ([URL]?) -> HTTPAuthentication

    static let all = [
        OriginCase(testDescription: "given") { .bearer("t", allowedOrigins: $0) },
        OriginCase(testDescription: "remembered") { .bearer(allowedOrigins: $0) { _ in "t" } },
        OriginCase(testDescription: "own link") {
            .method("own", allowedOrigins: $0, link: ModifyRequest { $0.headers["Authorization"] = "Bearer t" })
        },
        OriginCase(testDescription: "composite") {
            .composite(["user": .bearer("t", allowedOrigins: $0)], default: "user")
        },
    ]
}

extension MockLoader {
    fileprivate var authorizations: [String?] { requests.map { $0.headers["Authorization"] } }
}

/// An environment that a test changes. A class, because the client and the test must see one.
private final class Switch: Sendable {
    private let url = Mutex(first)

    func turn(to new: URL) { url.withLock { $0 = new } }

    func client(_ authentication: HTTPAuthentication, _ mock: MockLoader) -> HTTPClient {
        HTTPClient(
            environment: .provided { _ in ServerEnvironment(baseURL: self.url.withLock { $0 }) },
            authentication: authentication, transport: mock)
    }
}

@Suite struct CredentialOriginTests {
    private let mock = MockLoader { .ok($0) }

    private func client(_ authentication: HTTPAuthentication) -> HTTPClient {
        HTTPClient(environment: ServerEnvironment(baseURL: first), authentication: authentication, transport: mock)
    }

    @Test(arguments: OriginCase.all)
    func `a client's credentials are not sent when a request brings an environment of another origin`(
        kind: OriginCase
    ) async throws {
        let client = client(kind.make(nil))
        let upload = TestEndpoint<HTTPResponse>("upload").environment(ServerEnvironment(baseURL: second))
        for _ in 0..<2 {
            _ = try await client.send(upload)
            _ = try await client.send(TestEndpoint<HTTPResponse>("me"))
        }
        #expect(mock.authorizations == [nil, "Bearer t", nil, "Bearer t"])
    }

    @Test(arguments: OriginCase.all)
    func `a client's credentials are sent to an environment of the same origin, and to allowed origins`(
        kind: OriginCase
    ) async throws {
        let same = TestEndpoint<HTTPResponse>("a").environment(ServerEnvironment(baseURL: first.appending(path: "v2")))
        _ = try await client(kind.make(nil)).send(same)
        let upload = TestEndpoint<HTTPResponse>("a").environment(ServerEnvironment(baseURL: second))
        _ = try await client(kind.make([first, second])).send(upload)
        #expect(mock.authorizations == ["Bearer t", "Bearer t"])
    }

    @Test(arguments: OriginCase.all)
    func `a request to a template's own base URL has no credentials of the client`(kind: OriginCase) async throws {
        struct Elsewhere: RequestTemplate {
            var baseURL: URL? { second }
            var path: RequestPath { "me" }
        }
        let client = client(kind.make(nil))
        _ = try await client.send(Elsewhere())
        _ = try await HTTPClient(authentication: kind.make(nil), transport: mock).send(Elsewhere())
        #expect(mock.authorizations == [nil, nil])
    }

    @Test(arguments: OriginCase.all, [nil, [first, second]] as [[URL]?])
    func `credentials are sent to the new origin of an environment that changes only if it is allowed`(
        kind: OriginCase, allowed: [URL]?
    ) async throws {
        let environment = Switch()
        let client = environment.client(kind.make(allowed), mock)
        for url in [first, second, first] {
            environment.turn(to: url)
            _ = try await client.send(TestEndpoint<HTTPResponse>("me"))
        }
        #expect(mock.authorizations == ["Bearer t", allowed == nil ? nil : "Bearer t", "Bearer t"])
    }

    @Test(arguments: OriginCase.all)
    func `a 401 tells why the request was not signed, and an event does as well`(kind: OriginCase) async throws {
        let log = EventRecorder()
        let client = HTTPClient(
            environment: ServerEnvironment(baseURL: first), authentication: kind.make(nil), observers: [log],
            transport: MockLoader { HTTPResponse(request: $0, status: .unauthorized) })
        let upload = TestEndpoint<HTTPResponse>("upload").environment(ServerEnvironment(baseURL: second))
        let error = await #expect(throws: HTTPError.self) { try await client.send(upload) }
        #expect(error?.message.contains("not signed: the credentials belong to https://a.example") == true)
        let event = try #require(log.first("credentials.withheld"))
        #expect(event[.origin] == "https://b.example")
        #expect(event[.reason]?.contains("the credentials belong to https://a.example") == true)
        #expect(ObserverLaws.violations(of: log.events) == [])
        let signed = await #expect(throws: HTTPError.self) { try await client.send(TestEndpoint<HTTPResponse>("me")) }
        #expect(signed?.message.contains("not signed") == false)
    }

    @Test(arguments: OriginCase.all)
    func `a 401 tells that a closure now returns another environment`(kind: OriginCase) async throws {
        let environment = Switch()
        let mock = MockLoader { HTTPResponse(request: $0, status: $0.host == "a.example" ? .ok : .unauthorized) }
        let client = environment.client(kind.make(nil), mock)
        _ = try await client.send(TestEndpoint<HTTPResponse>("me"))
        environment.turn(to: second)
        let error = await #expect(throws: HTTPError.self) { try await client.send(TestEndpoint<HTTPResponse>("me")) }
        #expect(error?.message.contains("not signed: the credentials belong to https://a.example") == true)
    }

    @Test(arguments: [HTTPStatus.unauthorized, .forbidden])
    func `a refusal tells that a redirect removed the credentials, or that an origin is not allowed`(
        status: HTTPStatus
    ) async throws {
        let mock = MockLoader { request in
            guard request.host == "a.example" else { return HTTPResponse(request: request, status: status) }
            return HTTPResponse(request: request, status: .found, headers: ["Location": "https://b.example/"])
        }
        let client = HTTPClient(
            environment: ServerEnvironment(baseURL: first), authentication: .bearer("t", allowedOrigins: [first]),
            transport: mock)
        let redirected = await failure { try await client.send(TestEndpoint<HTTPResponse>("me")) }
        #expect(redirected?.message.contains("not signed: the credentials were removed, because a redirect") == true)
        let other = await #expect(throws: HTTPError.self) { try await client.send(HTTPRequest(url: second)) }
        #expect(other?.message.contains("not signed: allowedOrigins does not contain the request's origin") == true)
    }

    @Test func `after a reset, credentials are obtained for the new origin`() async throws {
        let environment = Switch()
        let client = environment.client(.bearer { need in Secret(need.request.host ?? "") }, mock)
        _ = try await client.send(TestEndpoint<HTTPResponse>("me"))
        environment.turn(to: second)
        await client.reset()
        _ = try await client.send(TestEndpoint<HTTPResponse>("me"))
        #expect(mock.authorizations == ["Bearer a.example", "Bearer b.example"])
    }

    @Test func `a fixed credential stays bound to its origin after a reset`() async throws {
        let environment = Switch()
        let client = environment.client(.bearer("t"), mock)
        for url in [first, second, first] {
            environment.turn(to: url)
            _ = try await client.send(TestEndpoint<HTTPResponse>("me"))
            await client.reset()
        }
        #expect(mock.authorizations == ["Bearer t", nil, "Bearer t"])
    }

    @Test(arguments: OriginCase.all.prefix(3).dropFirst())
    func `credentials that one client obtained are not sent to another client's origin`(kind: OriginCase) async throws {
        let shared = kind.make(nil)
        for url in [first, second] {
            let environment = ServerEnvironment(baseURL: url)
            let client = HTTPClient(environment: environment, authentication: shared, transport: mock)
            _ = try await client.send(TestEndpoint<HTTPResponse>("me"))
        }
        #expect(mock.authorizations == ["Bearer t", nil])
    }

    @Test(arguments: OriginCase.all.prefix(3).dropFirst())
    func `a request that chooses credentials obtained for another origin is refused`(kind: OriginCase) async throws {
        let own = kind.make(nil)
        let client = HTTPClient(transport: mock)
        _ = try await client.send(HTTPRequest(url: first).with { $0.authentication = own })
        let other = HTTPRequest(url: second).with { $0.authentication = own }
        let error = await #expect(throws: HTTPError.self) { try await client.send(other) }
        #expect(error?.code == .cannotAuthenticate && error?.mayHaveBeenSent == false)
        #expect((error?.underlying as? HTTPAuthentication.Failure)?.reason == .originNotAllowed)
        #expect(error?.message.contains("https://a.example") == true && mock.authorizations == ["Bearer t"])
    }

    @Test func `a named method of the client is refused at another origin than the client's`() async throws {
        let client = client(.composite(["user": .bearer("t")]))
        let named = TestEndpoint<HTTPResponse>("me").authenticated(by: .named("user"))
        _ = try await client.send(named)
        let error = await failure { try await client.send(named.environment(ServerEnvironment(baseURL: second))) }
        #expect(error?.code == .cannotAuthenticate && mock.authorizations == ["Bearer t"])
    }

    @Test func `a request of an earlier response does not carry the origin of another client`() async throws {
        let client = HTTPClient(environment: ServerEnvironment(baseURL: first), transport: mock)
        let sent = try await client.send(TestEndpoint<HTTPResponse>("me")).request
        let other = HTTPClient(authentication: .bearer("t"), transport: mock)
        _ = try await other.send(sent)
        #expect(mock.authorizations == [nil, nil])
    }

    @Test func `an alternate request to another origin has no credentials`() async throws {
        let mock = MockLoader { HTTPResponse(request: $0, status: $0.host == "a.example" ? .unauthorized : .ok) }
        let alternate = ClosureValidator(sending: { _, _ in HTTPRequest(url: second) }, onResponse: { _, _ in })
        let client = HTTPClient(
            environment: ServerEnvironment(baseURL: first), authentication: .bearer("t"), validators: [alternate],
            retrying: Backoff(maximumRetries: 1), transport: mock)
        await #expect(throws: HTTPError.self) { try await client.send(TestEndpoint<HTTPResponse>("me")) }
        #expect(mock.requests.map(\.host) == ["a.example", "b.example", "a.example"])
        #expect(mock.authorizations == ["Bearer t", nil, "Bearer t"])
    }

    @Test(.timeLimit(.minutes(2))) func `concurrent requests to two origins never change the origin of a credential`()
        async throws
    {
        for _ in 0..<20 {
            let mock = MockLoader { .ok($0) }
            let authentication = HTTPAuthentication.bearer { need in
                await Task.yield()
                return Secret(need.request.host ?? "")
            }
            let environment = ServerEnvironment.provided {
                ServerEnvironment(baseURL: $0.path.string.hasSuffix("a") ? first : second)
            }
            let client = HTTPClient(environment: environment, authentication: authentication, transport: mock)
            await withTaskGroup(of: Void.self) { group in
                for index in 0..<40 {
                    let path: RequestPath = index % 2 == 0 ? "a" : "b"
                    group.addTask { _ = try? await client.send(TestEndpoint<HTTPResponse>(path)) }
                }
            }
            let signed = mock.requests.filter { $0.headers.contains("Authorization") }
            #expect(mock.requests.count == 40 && signed.count == 20)
            #expect(signed.allSatisfy { $0.headers["Authorization"] == "Bearer \($0.host ?? "")" })
        }
    }
}
