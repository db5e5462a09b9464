// SPDX-License-Identifier: MIT
import Foundation
@testable import Letterhead
import LetterheadObserving
import LetterheadTesting
import Synchronization
import TestKit
import Testing

/// A service that returns a separate token to each user, and holds it back until a test releases it. A class: the test
/// and the chain share it.
private final class UserTokens: HTTPLoader {
    private let state = Mutex((tokenRequests: [String](), isOpen: false, leaks: [String]()))

    var tokenRequests: [String] { state.withLock { $0.tokenRequests.sorted() } }
    /// Tokens that came with a request of another user or to another origin.
    var leaks: [String] { state.withLock { $0.leaks } }

    func open() { state.withLock { $0.isOpen = true } }

    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        let user = request.headers["X-For"] ?? ""
        guard request.path == "/token" else {
            guard let token = request.headers["X-New-Token"] else {
                return HTTPResponse(request: request, status: .unauthorized)
            }
            if token != user { state.withLock { $0.leaks.append("\(token) for \(user)") } }
            return .ok(request)
        }
        state.withLock { $0.tokenRequests.append(user) }
        while !state.withLock({ $0.isOpen }) {
            if Task.isCancelled { throw HTTPError(.cancelled, request: request) }
            await Task.yield()
        }
        return HTTPResponse(request: request, status: .ok, headers: ["X-Token": user])
    }
}

@Suite(.timeLimit(.minutes(3))) struct AlternateIdentityTests {
    private let service = UserTokens()

    private func retry() -> Retry {
        let refresh = AltRequestValidator(
            request: { original, _ in
                .plain(.post) {
                    $0.path = "/token"
                    $0.headers["X-For"] = original.headers["X-For"]
                }
            }, onResponse: { original, answer in original.headers["X-New-Token"] = answer.headers["X-Token"] })
        return Retry(validators: [refresh], Retry.Settings(maximumRetries: 1))
    }

    private func load(_ changes: [@Sendable (inout HTTPRequest) -> Void]) async throws {
        let retry = retry()
        let chain = retry --> service
        let tasks = changes.enumerated().map { index, change in
            let request = HTTPRequest.plain {
                $0.headers["X-For"] = "\(index)"
                change(&$0)
            }
            return Task { try await chain.load(request).status }
        }
        await until { [service] in retry.flights.waiting == tasks.count && service.tokenRequests.count > 0 }
        await until { [service] in service.tokenRequests.count == Set(service.tokenRequests).count }
        service.open()
        for task in tasks { #expect(try await task.value == .ok) }
    }

    @Test(
        arguments: [
            { $0.headers["Authorization"] = "b" }, { $0.headers["Cookie"] = "b" },
            { $0.headers["X-Session-Id"] = "b" }, { $0.headers.setSecret("b", for: "X-Own") },
            { $0.query["api_key"] = "b" }, { $0.authentication = .bearer("b") },
            { $0.authentication = .bearer { _ in nil } },
            { $0.serverEnvironment = .of("https://b.test") }, { $0.host = "b.test" }, { $0.port = 1 },
        ] as [@Sendable (inout HTTPRequest) -> Void])
    func `loads of different users or origins share no alternate, and no token`(
        change: @escaping @Sendable (inout HTTPRequest) -> Void
    ) async throws {
        try await load([{ _ in }, change])
        #expect(service.tokenRequests == ["0", "1"])
        #expect(service.leaks == [])
    }

    @Test func `an alternate belongs to the client and the observation of its original`() async throws {
        let mock = MockLoader { HTTPResponse(request: $0, status: $0.path == "/token" ? 204 : 401) }
        let refresh = AltRequestValidator(
            request: { _, _ in .plain(.post) { $0.path = "/token" } }, onResponse: { _, _ in })
        let client = HTTPClient(
            validators: [refresh], retrying: Retry.Settings(maximumRetries: 1), observers: [StatisticsRecorder()],
            transport: mock)
        await #expect(throws: HTTPError.self) { try await client.send(.plain()) }
        #expect(mock.requests.map(\.path) == ["/x", "/token", "/x"])
        #expect(mock.requests.allSatisfy { $0.client != nil && $0.observation != nil })
    }

    @Test func `loads of one user share an alternate, also for different requests`() async throws {
        try await load([
            { $0.headers["Authorization"] = "a" },
            {
                $0.headers["Authorization"] = "a"
                $0.path = "/other"
                $0.headers["X-For"] = "0"
            },
        ])
        #expect(service.tokenRequests.count == 1)
        #expect(service.leaks == [])
    }

    @Test func `a load that changes its identity takes part in no more alternates than allowed`() async {
        let number = Tally()
        let refresh = AltRequestValidator(
            request: { _, _ in .plain(.post) { $0.path = "/token" } },
            onResponse: { original, _ in original.headers["Authorization"] = "\(number.next())" })
        let chain = Retry(validators: [refresh], Retry.Settings(maximumRetries: 9)) --> MockLoader.answering(401)
        let error = await #expect(throws: HTTPError.self) { try await chain.load(.plain()) }
        #expect(error?.code == .retriesExhausted && number.value == 1)
    }

    @Test func `the example of the validator sends no token to another host that answers 401`() async throws {
        let api = HTTPOrigin(scheme: "https", host: "api.test")
        let refresh = AltRequestValidator(
            request: { _, result in
                let response = try result.get()
                let first = response.redirects.first?.request ?? response.request
                guard first.origin == api, response.request.origin == api else { return nil }
                return HTTPRequest(method: .post, url: try #require(URL(string: "https://api.test/token")))
            }, onResponse: { original, _ in original.headers.setSecret("Bearer new", for: .authorization) })
        let mock = MockLoader { HTTPResponse(request: $0, status: $0.path == "/token" ? .ok : .unauthorized) }
        let chain = Retry(validators: [refresh], Retry.Settings(maximumRetries: 1)) --> mock
        for host in ["evil.test", "api.test"] {
            _ = try? await chain.load(try HTTPRequest.to("https://\(host)/"))
        }
        #expect(mock.requests.map(\.host) == ["evil.test", "api.test", "api.test", "api.test"])
        #expect(mock.requests.last?.headers["Authorization"] == "Bearer new")
    }
}
