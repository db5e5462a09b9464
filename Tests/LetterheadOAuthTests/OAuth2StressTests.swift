// SPDX-License-Identifier: MIT
import Foundation
@testable import Letterhead
import LetterheadOAuth
import LetterheadTesting
import Synchronization
import Testing

/// A server on a real socket that revokes, forgets, stumbles and dawdles by a seed.
///
/// A class, because its handlers share one state.
private final class StumblingServer: Sendable {
    struct State {
        var issued = 0
        var good = ""
        var refreshToken = "r0"
        var isCalm = false
        var asking = 0
        var askingAtOnce = 0
        var reused = 0
        var refusals = 0
        var failures = 0
    }

    let state = Mutex(State())
    private let chaos: Chaos
    init(seed: UInt64) { chaos = Chaos(seed: seed) }

    private func chance(_ percent: Double, for request: MockServer.Request) -> Bool {
        chaos.draw(for: request) < percent / 100 && !state.withLock { $0.isCalm }
    }

    func answer(_ request: MockServer.Request) async throws -> MockServer.Response {
        request.path == "/token" ? try await token(request) : api(request)
    }

    private func api(_ request: MockServer.Request) -> MockServer.Response {
        if chance(3, for: request) { state.withLock { $0.good = "" } }
        return state.withLock { state in
            if request.headers["Authorization"] == "Bearer \(state.good)" { return MockServer.Response() }
            state.refusals += 1
            return MockServer.Response(status: 401)
        }
    }

    private func token(_ request: MockServer.Request) async throws -> MockServer.Response {
        state.withLock { state in
            state.asking += 1
            state.askingAtOnce = max(state.askingAtOnce, state.asking)
        }
        defer { state.withLock { $0.asking -= 1 } }
        // Few, because a token request may take 30 seconds, and each step is slow on a busy machine.
        for _ in 0..<(chance(50, for: request) ? 20 : 1) { await Task.yield() }
        if chance(10, for: request) {
            state.withLock { $0.failures += 1 }
            return MockServer.Response(status: 503)
        }
        let life = chance(20, for: request) ? 0 : 3600
        let form = AuthorizationServer.form(String(decoding: request.body, as: UTF8.self))
        return try state.withLock { state in
            if form["refresh_token"] != state.refreshToken { state.reused += 1 }
            state.issued += 1
            (state.good, state.refreshToken) = ("a\(state.issued)", "r\(state.issued)")
            return try .json([
                "access_token": state.good, "refresh_token": state.refreshToken, "token_type": "Bearer",
                "expires_in": "\(life)",
            ])
        }
    }
}

@Suite struct OAuth2StressTests {
    @Test(.timeLimit(.minutes(3)), arguments: [1, 2, 3] as [UInt64])
    func `two hundred concurrent loads share each refresh, for every behavior of the server`(seed: UInt64) async throws
    {
        let stumbling = StumblingServer(seed: seed)
        let server = try await MockServer.start { request in try await stumbling.answer(request) }
        let oauth = HTTPAuthentication.oauth2(
            client: OAuth2.Client(id: "app"), tokenEndpoint: server.url.appendingPathComponent("token"),
            grant: .refreshToken("r0"), allowedOrigins: [server.url],
            limit: 10_000)
        let client = HTTPClient(environment: ServerEnvironment(baseURL: server.url), authentication: oauth)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    let load = Task { try await client.send(HTTPRequest(url: server.url)) }
                    if number % 7 == 0 { load.cancel() }
                    switch await load.result {
                    case .success: break
                    case .failure(is CancellationError): #expect(number % 7 == 0)
                    case .failure(let error as HTTPError):
                        #expect([.cannotAuthenticate, .unacceptableStatus].contains(error.code), "\(error)")
                    case .failure(let error): throw error
                    }
                }
            }
            try await group.waitForAll()
        }
        stumbling.state.withLock { $0.isCalm = true }
        #expect(try await client.send(HTTPRequest(url: server.url)).status == .ok)
        let end = stumbling.state.withLock { $0 }
        #expect(end.askingAtOnce == 1)
        #expect(end.reused == 0)
        #expect(end.issued > 1)
        await server.stop()
    }
}
