// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
@testable import LetterheadSigning
import LetterheadTesting
import Synchronization
import TestKit
import Testing

private let api = URL(string: "https://api.example.com/me") ?? URL(filePath: "/")

/// A server that requires a digest, accepts each count of a nonce once, and forgets its nonces on demand.
///
/// A class, because the test and the chain must see one server.
private final class DigestServer: HTTPLoader {
    struct State {
        var password = "secret"
        var nonces: [String: Set<String>] = [:]
        var issued = 0
        var sendsStale = true
        /// Whether a path that the user may not read receives a challenge with the current nonce.
        var repeatsNonce = false
        /// The statuses of the next responses to proofs, of a gateway in front of the server.
        var troubles: [HTTPStatus] = []
        /// Whether each response announces the next nonce.
        var announces = false
        /// What was sent: the nonce and its count, or `-`.
        var log: [String] = []
    }

    let state = Mutex(State())

    var log: [String] { state.withLock { $0.log } }

    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        state.withLock { answer(request, &$0) }
    }

    func reset() async {}

    private func answer(_ request: HTTPRequest, _ state: inout State) -> HTTPResponse {
        let header = request.headers[.authorization].map { HTTPHeaders.Field(.wwwAuthenticate, $0) }
        let sent = HTTPResponse(request: request, status: 401, headers: HTTPHeaders(header.map { [$0] } ?? []))
        guard let proof = sent.challenges.first, let nonce = proof["nonce"], let count = proof["nc"] else {
            state.log.append("-")
            return challenge(request, &state)
        }
        state.log.append("\(nonce) \(count)")
        if !state.troubles.isEmpty { return HTTPResponse(request: request, status: state.troubles.removeFirst()) }
        let key = md5("ada:r:\(state.password)")
        let text =
            "\(key):\(nonce):\(count):\(proof["cnonce"] ?? ""):auth:\(md5("\(request.method):\(request.target)"))"
        guard proof["response"] == md5(text) else { return challenge(request, &state) }
        guard state.nonces[nonce]?.insert(count).inserted == true else {
            return challenge(request, &state, isStale: state.sendsStale)
        }
        if state.repeatsNonce, request.target.hasSuffix("/secret") {
            let text = "Digest realm=r, qop=auth, nonce=\(nonce)"
            return HTTPResponse(request: request, status: 401, headers: ["WWW-Authenticate": text])
        }
        guard state.announces else { return HTTPResponse(request: request, status: .ok) }
        let next = issue(&state)
        return HTTPResponse(
            request: request, status: .ok, headers: ["Authentication-Info": "qop=auth, nextnonce=\"\(next)\""])
    }

    private func challenge(_ request: HTTPRequest, _ state: inout State, isStale: Bool = false) -> HTTPResponse {
        let text = "Digest realm=r, qop=auth, nonce=\(issue(&state))\(isStale ? ", stale=TRUE" : "")"
        return HTTPResponse(request: request, status: 401, headers: ["WWW-Authenticate": text])
    }

    private func issue(_ state: inout State) -> String {
        state.issued += 1
        state.nonces["n\(state.issued)"] = []
        return "n\(state.issued)"
    }

    private func md5(_ text: String) -> String {
        MD5Hash.hash(Array(text.utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

@Suite(.timeLimit(.minutes(3))) struct DigestTests {
    private let server = DigestServer()

    private func client(_ password: Secret = "secret") -> HTTPClient {
        HTTPClient(
            environment: ServerEnvironment(baseURL: api), authentication: .digest(user: "ada", password: password),
            transport: server)
    }

    private func status(_ client: HTTPClient, _ path: RequestPath = "a") async throws -> HTTPStatus {
        try await client.send(Get<HTTPResponse>(path).accepting([200, 401])).status
    }

    @Test func `after the first challenge, requests are signed at once, with rising counts`() async throws {
        let client = client()
        for path in ["a", "b?", "c"] as [RequestPath] { #expect(try await status(client, path) == .ok) }
        #expect(server.log == ["-", "n1 00000001", "n1 00000002", "n1 00000003"])
    }

    @Test func `concurrent requests share a nonce, each with its own count`() async throws {
        let client = client()
        _ = try await status(client)
        try await withThrowingTaskGroup(of: HTTPStatus.self) { group in
            for _ in 1...50 { group.addTask { try await self.status(client) } }
            for try await status in group { #expect(status == .ok) }
        }
        #expect(Set(server.log.dropFirst()).count == 51 && server.log.count == 52)
        #expect(server.log.dropFirst().allSatisfy { $0.hasPrefix("n1 ") })
    }

    @Test func `many concurrent first requests need a challenge each, and then share a nonce`() async throws {
        let client = client()
        try await withThrowingTaskGroup(of: HTTPStatus.self) { group in
            for _ in 1...20 { group.addTask { try await self.status(client) } }
            for try await status in group { #expect(status == .ok) }
        }
        let signed = server.log.filter { $0 != "-" }
        #expect(signed.count == 20 && Set(signed.map { $0.prefix(3) }).count == 1)
    }

    @Test(arguments: [true, false])
    func `an expired nonce is replaced within the request, also by a server that does not call it stale`(
        sendsStale: Bool
    ) async throws {
        let client = client()
        _ = try await status(client)
        server.state.withLock { ($0.nonces, $0.sendsStale) = ([:], sendsStale) }
        #expect(try await status(client) == .ok)
        #expect(server.log == ["-", "n1 00000001", "n1 00000002", "n2 00000001"])
    }

    @Test func `servers that accept each nonce once are no reason to stop`() async throws {
        let client = client()
        for _ in 1...30 {
            #expect(try await status(client) == .ok)
            server.state.withLock { $0.nonces = [:] }
        }
        #expect(server.log.count == 60)
    }

    @Test func `the nonce that a response announces is used for the next request`() async throws {
        server.state.withLock { $0.announces = true }
        let client = client()
        for _ in 1...3 { _ = try await status(client) }
        #expect(server.log == ["-", "n1 00000001", "n2 00000001", "n3 00000001"])
    }

    @Test func `a wrong password is sent once for each request, and the 401 is returned`() async throws {
        let client = client("wrong")
        for _ in 1...2 { #expect(try await status(client) == 401) }
        #expect(server.log == ["-", "n1 00000001", "-", "n3 00000001"])
        server.state.withLock { $0.password = "wrong" }
        for _ in 1...2 { #expect(try await status(client) == .ok) }
        #expect(Array(server.log.dropFirst(4)) == ["-", "n5 00000001", "n5 00000002"])
    }

    @Test func `an error of a gateway says nothing about the password`() async throws {
        server.state.withLock { $0.troubles = [.serviceUnavailable] }
        let client = client("wrong")
        #expect(try await client.send(Get<HTTPResponse>("a").accepting([503]).maximumRetries(0)).status == 503)
        #expect(try await status(client) == .unauthorized)
        // The challenge of the 401 begins no new session, because the password was never accepted.
        #expect(server.log == ["-", "n1 00000001", "n1 00000002"])
    }

    @Test func `a refused path that repeats the nonce uses no count twice`() async throws {
        server.state.withLock { $0.repeatsNonce = true }
        let client = client()
        #expect(try await status(client, "a") == .ok)
        #expect(try await status(client, "secret") == .unauthorized)
        #expect(try await status(client, "b") == .ok)
        #expect(Set(server.log).count == server.log.count)
    }

    @Test func `a one-shot body is not sent for a challenge, and is signed at once after another request`()
        async throws
    {
        let client = client()
        let post = Post<HTTPResponse>("a").body(OneShot())
        let error = await #expect(throws: HTTPError.self) { try await client.send(post) }
        #expect(error?.code == .cannotAuthenticate && error?.mayHaveBeenSent == false)
        #expect(error?.message.contains("can be sent only once") == true)
        #expect(server.log.isEmpty)
        _ = try await status(client)
        #expect(try await client.send(post).status == .ok)
        #expect(server.log == ["-", "n1 00000001", "n1 00000002"])
    }

    @Test func `a body that is not in memory cannot be part of a proof`() async throws {
        let mock = MockLoader {
            HTTPResponse(
                request: $0, status: 401, headers: ["WWW-Authenticate": "Digest realm=r, nonce=n, qop=auth-int"])
        }
        let client = HTTPClient(
            environment: ServerEnvironment(baseURL: api), authentication: .digest(user: "u", password: "p"),
            transport: mock)
        let body = StreamBody([Data("a".utf8)])
        let error = await #expect(throws: HTTPError.self) { try await client.send(Post<HTTPResponse>("a").body(body)) }
        #expect(error?.code == .cannotAuthenticate && error?.message.contains("auth-int") == true)
    }

    @Test(arguments: ["http", "https"], [#"algorithm=MD5, qop=auth"#, "algorithm=SHA-256"])
    func `over plain http, a challenge that is weaker than an accepted one is not answered`(
        scheme: String, weaker: String
    ) async throws {
        let isWeak = Mutex(false)
        let mock = MockLoader { request in
            let parameters = isWeak.withLock { $0 } ? weaker : "algorithm=SHA-256, qop=auth"
            let proof = request.headers[.authorization] ?? ""
            if !isWeak.withLock({ $0 }), proof.contains("SHA-256") { return .ok(request) }
            if isWeak.withLock({ $0 }), proof.contains("nonce=\"w\"") { return .ok(request) }
            let challenge = "Digest realm=r, stale=true, nonce=\(proof.isEmpty ? "s" : "w"), \(parameters)"
            return HTTPResponse(request: request, status: 401, headers: ["WWW-Authenticate": challenge])
        }
        let url = try #require(URL(string: "\(scheme)://api.example.com"))
        let client = HTTPClient(
            environment: ServerEnvironment(baseURL: url),
            authentication: .digest(user: "ada", password: "p", allowedOrigins: [url]), transport: mock)
        #expect(try await status(client) == .ok)
        isWeak.withLock { $0 = true }
        for _ in 1...2 { #expect(try await status(client) == (scheme == "http" ? 401 : .ok)) }
        isWeak.withLock { $0 = false }
        #expect(try await status(client) == .ok)
        let proofs = mock.requests.compactMap { $0.headers[.authorization] }
        #expect(proofs.allSatisfy { $0.contains("algorithm=SHA-256") && $0.contains("qop=auth") } == (scheme == "http"))
    }

    @Test func `over plain http, the strength of an accepted challenge outlives its session, until a reset`()
        async throws
    {
        let challenges = Mutex<[String]>([])
        let mock = MockLoader { request in
            guard let next = challenges.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return .ok(request) }
            let challenge = "Digest realm=r, nonce=\(next)"
            return HTTPResponse(request: request, status: 401, headers: ["WWW-Authenticate": challenge])
        }
        let url = try #require(URL(string: "http://api.example.com"))
        let client = HTTPClient(
            environment: ServerEnvironment(baseURL: url),
            authentication: .digest(user: "ada", password: "p", allowedOrigins: [url]), transport: mock)
        func status(after new: String...) async throws -> HTTPStatus {
            challenges.withLock { $0 = new }
            return try await self.status(client)
        }
        let strong = "algorithm=SHA-256, qop=auth"
        #expect(try await status(after: "a, \(strong)") == .ok)
        // The second challenge refuses a password that the new session has not seen accepted, and ends that session.
        #expect(try await status(after: "b, \(strong)", "c, \(strong)") == 401)
        for _ in 1...2 { #expect(try await status(after: "w") == 401) }
        #expect(try await status(after: "d, \(strong)") == .ok)
        await client.reset()
        #expect(try await status(after: "e") == .ok)
        let nonces = mock.requests.compactMap { request in
            "abcdew".first { request.headers[.authorization]?.contains("nonce=\"\($0)\"") == true }
        }
        #expect(nonces == ["a", "a", "b", "d", "e"])
    }

    @Test func `a reset forgets the nonce`() async throws {
        let client = client()
        _ = try await status(client)
        await client.reset()
        _ = try await status(client)
        #expect(server.log == ["-", "n1 00000001", "-", "n2 00000001"])
    }

    private func log(of authentication: HTTPAuthentication, at urls: [URL]) async -> [String] {
        server.state.withLock { $0 = DigestServer.State() }
        for url in urls {
            var request = HTTPRequest(url: url)
            request.authentication = authentication
            _ = try? await HTTPClient(transport: server).send(request)
        }
        return server.log
    }

    @Test func `a password belongs to its origins, each of which has its own nonce`() async throws {
        let other = try #require(URL(string: "https://other.example.com"))
        let bound = HTTPAuthentication.digest(user: "ada", password: "secret")
        #expect(await log(of: bound, at: [api, other, api]) == ["-", "n1 00000001", "n1 00000002"])
        let named = HTTPAuthentication.digest(user: "ada", password: "secret", allowedOrigins: [api, other])
        #expect(
            await log(of: named, at: [api, other, api]) == ["-", "n1 00000001", "-", "n2 00000001", "n1 00000002"])
        let plain = try #require(URL(string: "http://api.example.com"))
        #expect(await log(of: .digest(user: "ada", password: "secret"), at: [plain]) == [])
    }

    @Test(arguments: [("a\nb", "p"), ("a", "p\u{0}")])
    func `a control character in the username or the password is refused before anything is sent`(
        user: String, password: String
    ) async throws {
        let client = HTTPClient(
            environment: ServerEnvironment(baseURL: api),
            authentication: .digest(user: user, password: Secret(password)), transport: server)
        let error = await #expect(throws: HTTPError.self) { try await client.send(Get<HTTPResponse>("a")) }
        #expect(error?.code == .invalidRequest && server.log.isEmpty)
    }

    @Test func `no text contains the password or the proof`() async throws {
        let client = client("wrong-password")
        var text = "\(client)"
        dump(HTTPAuthentication.digest(user: "ada", password: "wrong-password"), to: &text)
        let error = await #expect(throws: HTTPError.self) { try await client.send(Get<HTTPResponse>("a")) }
        let failed = try #require(error)
        text += "\(failed) \(failed.request) \(String(describing: failed.response))"
        dump(failed, to: &text)
        let proof = try #require(failed.response?.request.headers[.authorization])
        #expect(!text.contains("wrong-password") && !text.contains(proof))
        #expect(failed.response?.request.headers[.authorization]?.contains("wrong-password") == false)
    }
}

struct OneShot: HTTPBody {
    var isReplayable: Bool { false }
    func encode() throws -> Data { Data("once".utf8) }
}
