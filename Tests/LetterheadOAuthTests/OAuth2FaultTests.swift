// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadOAuth
import LetterheadTesting
import Synchronization
import TestKit
import Testing

/// What goes wrong between the library and a token endpoint, on a real connection.
private struct TokenFault: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let answer: MockServer.Answer
    let reason: HTTPAuthentication.Failure.Reason
    /// The code of the error underneath, or nil when the answer arrived.
    var code: HTTPError.Code?
    /// Whether only the client's patience ends it.
    var isSilence: Bool { testDescription.hasPrefix("stalled") }

    init(
        _ name: String, _ answer: MockServer.Answer, _ reason: HTTPAuthentication.Failure.Reason = .unavailable,
        code: HTTPError.Code? = nil
    ) {
        (testDescription, self.answer, self.reason, self.code) = (name, answer, reason, code)
    }
}

private let tokens = #"{"access_token":"never","token_type":"Bearer","refresh_token":"r9"}"#

private func response(_ body: String, status: HTTPStatus = .ok, headers: HTTPHeaders = [:]) -> MockServer.Answer {
    .response(MockServer.Response(status: status, headers: headers, body: Data(body.utf8)))
}

private let faults: [TokenFault] = [
    TokenFault("closed before the request is read", .closure.fault(.close, at: .requestStart), code: .connectionLost),
    TokenFault("reset in the request", .closure.fault(.reset, at: .requestBody), code: .connectionLost),
    TokenFault("closed before the answer", response(tokens).fault(.close, at: .responseStart), code: .connectionLost),
    TokenFault("reset before the answer", response(tokens).fault(.reset, at: .responseStart), code: .connectionLost),
    TokenFault("closed in the answer", response(tokens).fault(.close, at: .responseBody)),
    TokenFault("reset in the answer", response(tokens).fault(.reset, at: .responseBody)),
    TokenFault("stalled before the request", .closure.fault(.stall, at: .requestStart), code: .timedOut),
    TokenFault("stalled before the answer", response(tokens).fault(.stall, at: .responseStart), code: .timedOut),
    TokenFault("stalled in the answer", response(tokens).fault(.stall, at: .responseBody)),
    TokenFault("no HTTP", .raw("220 mail.example ready\r\n"), code: .invalidResponse),
    TokenFault(
        "two lengths", .raw("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 99\r\n\r\n\(tokens)"),
        code: .invalidResponse),
    TokenFault("huge", response(#"{"access_token":""# + String(repeating: "a", count: 2 << 20) + "\"")),
    TokenFault("a page with 200", response("<html>SECRET</html>", headers: ["Content-Type": "text/html"]), .malformed),
    TokenFault("nothing with 200", response(""), .malformed),
    TokenFault("half of the JSON", response(#"{"access_token":"never","#), .malformed),
    TokenFault("a page with 503", response("<html>SECRET</html>", status: .serviceUnavailable)),
    TokenFault("a page with 404", response("<html>SECRET</html>", status: .notFound), .refused),
    TokenFault("a redirect", response("", status: .found, headers: ["Location": "/other"]), .refused),
]

private enum Kind: CaseIterable {
    case refresh, clientCredentials
}

/// The time while faults strike.
private final class Trouble: Sendable {
    private let isOver = Atomic(false)
    var isOn: Bool { !isOver.load(ordering: .sequentiallyConsistent) }
    func end() { isOver.store(true, ordering: .sequentiallyConsistent) }
}

/// A token endpoint and an API at one socket.
private final class TokenScene: Sendable {
    let refreshToken: String
    let oauth: HTTPAuthentication
    let chain: any HTTPLoader
    let store = OAuth2.MemoryTokenStore()
    /// Whether the faults strike that are queued.
    let trouble = Trouble()
    private let authorization: MockOAuth2Server
    var server: MockServer { authorization.server }

    /// - Parameter patience: how long a token request may take while faults strike, or nil for as long as users wait.
    init(_ kind: Kind, patience: Duration? = nil) async throws {
        let clock = TestClock()
        authorization = try await MockOAuth2Server.start(clientID: "app", clientSecret: "s3cret")
        refreshToken = authorization.issueTokens().refreshToken
        oauth = HTTPAuthentication.oauth2(
            client: OAuth2.Client(id: "app", secret: "s3cret"), tokenEndpoint: authorization.tokenEndpoint,
            grant: kind == .refresh ? .refreshToken(Secret(refreshToken)) : .clientCredentials(), store: store,
            allowedOrigins: [authorization.url], clock: clock, now: { Date(timeIntervalSince1970: 1_000_000) })
        let impatient = ModifyRequest { [trouble] in
            guard let patience, $0.path.string == "/token", trouble.isOn else { return }
            $0.timeout = patience
        }
        chain = Deadline(clock: clock) --> Authenticate(oauth) --> impatient --> HTTPClient.defaultTransport
    }

    var api: HTTPRequest { HTTPRequest(url: server.url.appendingPathComponent("me")) }

    /// The forms that arrived at the token endpoint.
    var forms: [[String: String]] {
        server.requests.filter { $0.path == "/token" }
            .map { AuthorizationServer.form(String(decoding: $0.body, as: UTF8.self)) }
    }

    /// Queues a fault for each of so many token requests, as long as faults strike.
    func enqueue(_ answer: MockServer.Answer, times: Int = 1) {
        let fits: @Sendable (MockServer.Request) -> Bool = { [trouble] in $0.path == "/token" && trouble.isOn }
        server.enqueue(answer.when(fits), times: times)
    }

    /// How many requests began, at least in part.
    var begun: Int { server.connections.reduce(0) { $0 + $1.requests } }
}

@Suite(.timeLimit(.minutes(2))) struct OAuth2FaultTests {
    @Test(arguments: faults, Kind.allCases)
    private func `a fault at the token endpoint fails all waiting requests once, and deletes no tokens`(
        fault: TokenFault, kind: Kind
    ) async throws {
        // A wait of half a minute is a short wait here, and only where a server does not respond.
        let scene = try await TokenScene(kind, patience: fault.isSilence ? .seconds(2) : nil)
        // One for each load: a load that begins after the others have failed asks again.
        scene.enqueue(fault.answer, times: 5)
        let (chain, api) = (scene.chain, scene.api)
        let loads = (0..<5).map { _ in Task { await failure { try await chain.load(api) } } }
        for load in loads {
            let error = try #require(await load.value)
            let failure = try #require(error.underlying as? HTTPAuthentication.Failure)
            #expect(error.code == .cannotAuthenticate && failure.reason == fault.reason)
            #expect(!error.mayHaveBeenSent)
            #if os(Linux)
                if let code = fault.code { #expect((failure.underlying as? HTTPError)?.code == code) }
            #endif
            for text in ["\(error)", "\(failure)", "\(failure.underlying as Any)"] {
                #expect(!text.contains("SECRET") && !text.contains("s3cret") && !text.contains(scene.refreshToken))
            }
        }
        scene.trouble.end()
        #expect((1...5).contains(scene.begun) && !scene.server.requests.contains { $0.path == "/me" })
        #expect(try await chain.load(api).status == .ok)
        #expect(scene.forms.last?["refresh_token"] == (kind == .refresh ? scene.refreshToken : nil))
        #expect((await scene.store.load()?.refreshToken != nil) == (kind == .refresh))
        await scene.server.stop()
    }

    @Test func `a complete response is used even if the connection is then reset`() async throws {
        let scene = try await TokenScene(.refresh)
        scene.enqueue(.closure.fault(.reset, at: .responseEnd))
        #expect(try await scene.chain.load(scene.api).status == .ok)
        #expect(await scene.store.load()?.refreshToken == "refresh-4")
        await scene.server.stop()
    }

    @Test func `tokens that a cancelled request has refreshed are stored for the next`() async throws {
        let scene = try await TokenScene(.refresh)
        let (arrived, answer) = (CredentialBell(), CredentialBell())
        let slow = ModifyRequest { request in
            guard request.path.string == "/token" else { return }
            arrived.ring()
            await answer.wait()
        }
        let chain = Authenticate(scene.oauth) --> slow --> HTTPClient.defaultTransport
        let api = scene.api
        let load = Task { await failure { try await chain.load(api) } }
        await arrived.wait()
        load.cancel()
        #expect(await load.value?.code == .cancelled)
        answer.ring()
        #expect(try await chain.load(api).status == .ok)
        #expect(scene.forms.count == 1)
        #expect(await scene.store.load()?.refreshToken == "refresh-4")
        await scene.server.stop()
    }

    @Test
    func `if a token request is cancelled below, the waiting requests are cancelled, and the next one sends another`()
        async throws
    {
        let scene = try await TokenScene(.refresh)
        let asked = Counter()
        let below = ModifyRequest { request in
            guard request.path.string == "/token", asked.next() == 1 else { return }
            throw HTTPError(.cancelled, request: request)
        }
        let chain = Authenticate(scene.oauth) --> below --> HTTPClient.defaultTransport
        let api = scene.api
        let error = await failure { try await chain.load(api) }
        #expect(error?.code == .cancelled)
        #expect((error?.underlying as? HTTPAuthentication.Failure)?.reason == .unavailable)
        #expect(try await chain.load(api).status == .ok)
        await scene.server.stop()
    }

    @Test func `a reset ends a token request that receives no response, and fails all waiting requests`() async throws {
        let scene = try await TokenScene(.refresh)
        // A separate transport: a reset cancels no requests of the shared one.
        let chain = Authenticate(scene.oauth) --> HTTPClient.makeTransport(TransportConfiguration())
        scene.enqueue(response(tokens).fault(.stall, at: .responseStart))
        let api = scene.api
        let load = Task { await failure { try await chain.load(api) } }
        try await scene.server.record { $0.requests.count == 1 }
        await chain.reset()
        let error = await load.value
        #expect(error?.code == .cancelled, "\(String(describing: error))")
        try await scene.server.record { $0.connections.first?.isOpen == false }
        #expect(!scene.server.requests.contains { $0.path == "/me" })
        await scene.server.stop()
    }
}
