// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadOAuth
import LetterheadTesting
import Synchronization
import TestKit

/// An API and its authorization server, which respond with documents by their URLs.
///
/// A class, because a test and its chain must see one record.
final class Scene: HTTPLoader {
    struct Answer: Sendable {
        var status = HTTPStatus.ok
        var headers: HTTPHeaders = [:]
        var body = ""

        static func status(_ code: HTTPStatus, _ body: String = "") -> Answer { Answer(status: code, body: body) }
        static func json(_ body: String) -> Answer { Answer(body: body) }
        static func error(_ code: String) -> Answer { Answer(status: .badRequest, body: #"{"error":"\#(code)"}"#) }
    }

    private struct State {
        var requests: [HTTPRequest] = []
        /// The answers of a URL in order. The last one is given to all further requests.
        var answers: [String: [Answer]] = [:]
    }

    static let api = URL(string: "https://api.example.com/mcp") ?? URL(filePath: "/")
    static let device =
        #"{"device_code":"d3vice","user_code":"WDJB-MJHT","interval":1,"expires_in":600,"#
        + #""verification_uri":"https://auth.example.com/device"}"#
    static let tokens =
        #"{"access_token":"a1","refresh_token":"r1","token_type":"Bearer","expires_in":3600,"#
        + #""id_token":"i1","tenant":{"name":"t"}}"#

    private let state = Mutex(State())

    init(_ answers: [String: [Answer]] = [:]) {
        let usual: [String: [Answer]] = [
            "https://auth.example.com/device": [.json(Self.device)],
            "https://auth.example.com/token": [.json(Self.tokens)],
            "https://auth.example.com/revoke": [Answer()],
            "https://api.example.com/mcp": [Answer()],
        ]
        state.withLock { $0.answers = usual.merging(answers) { $1 } }
    }

    /// Sets the next answers of a URL.
    func answer(_ url: String, _ answers: Answer...) { state.withLock { $0.answers[url] = answers } }

    var requests: [HTTPRequest] { state.withLock { $0.requests } }
    var urls: [String] { requests.compactMap { try? $0.urlString() } }

    /// The forms that were sent to a path of the authorization server.
    func forms(_ path: String) -> [[String: String]] {
        requests.filter { $0.host == "auth.example.com" && $0.path.string == path }.map { request in
            let text = String(decoding: (try? request.body.encode()) ?? Data(), as: UTF8.self)
            let items = QueryParameters(escaped: text.replacing("+", with: "%20"))
            return Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
        }
    }

    func load(_ request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        try request.validate()
        let url = try request.urlString()
        let answer = state.withLock { state -> Answer in
            state.requests.append(request)
            guard var answers = state.answers[url], let answer = answers.first else { return .status(.notFound) }
            if answers.count > 1 { answers.removeFirst() }
            state.answers[url] = answers
            return answer
        }
        return HTTPResponse(
            request: request, status: answer.status, headers: answer.headers,
            body: .pieces(Data(answer.body.utf8)))
    }
}

extension HTTPResponseBody {
    /// A streamed body, which has no size before it is read.
    static func pieces(_ data: Data) -> HTTPResponseBody {
        let left = Mutex(data)
        return HTTPResponseBody(length: nil) {
            left.withLock { left in
                defer { left = left.dropFirst(1 << 16) }
                return left.isEmpty ? nil : Data(left.prefix(1 << 16))
            }
        }
    }
}

extension OAuth2.Server {
    /// The server of the scene.
    static var example: OAuth2.Server {
        func url(_ path: String) -> URL { URL(string: "https://auth.example.com/\(path)") ?? URL(filePath: "/") }
        return OAuth2.Server(
            tokenEndpoint: url("token"), authorizationEndpoint: url("authorize"),
            deviceAuthorizationEndpoint: url("device"), revocationEndpoint: url("revoke"), resource: Scene.api)
    }
}

extension OAuth2.Session {
    /// A session of the scene's server.
    static func testing(
        over scene: any HTTPLoader, signIn: OAuth2.SignIn = .deviceCode { _ in },
        client: OAuth2.Client = OAuth2.Client(id: "app"), server: OAuth2.Server = .example,
        store: any OAuth2.TokenStore = OAuth2.MemoryTokenStore(), clock: TestClock = TestClock(isAutomatic: true)
    ) throws -> OAuth2.Session {
        try OAuth2.Session(client: client, server: server, signIn: signIn, store: store, transport: scene, clock: clock)
    }
}

/// Runs an operation, and returns the failure of an authentication that it throws.
func authenticationFailure(_ operation: () async throws -> Void) async -> HTTPAuthentication.Failure? {
    do {
        try await operation()
        return nil
    } catch let error as HTTPError {
        return error.underlying as? HTTPAuthentication.Failure
    } catch {
        return error as? HTTPAuthentication.Failure
    }
}

/// Text of combining marks, which takes quadratic time to normalize.
func marks(_ count: Int) -> String { String(repeating: "\u{301}\u{316}", count: count) }

/// How many times as long an operation takes for four times the input: about 4 if the time is linear, 16 if it is
/// quadratic. The best of a few rounds, because a machine may be busy.
func growth(of size: Int, _ work: (_ size: Int) async throws -> Void) async rethrows -> Double {
    func cost(_ size: Int) async throws -> Duration {
        var best = Duration.seconds(1_000)
        for _ in 0..<3 {
            let start = ContinuousClock.now
            try await work(size)
            best = min(best, ContinuousClock.now - start)
        }
        return best
    }
    var best = Double.infinity
    for _ in 0..<8 where best > 8 {
        best = min(best, try await cost(4 * size) / max(try await cost(size), .milliseconds(1)))
    }
    return best
}
