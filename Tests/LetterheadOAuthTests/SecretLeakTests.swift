// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadOAuth
import LetterheadTesting
import Synchronization
import Testing

/// A way for a secret into the library: what is sent through it must be found in no text, while the harmless path of
/// the same request must be found in all of them, so that the search is known to work.
private struct Door: Sendable, CustomTestStringConvertible {
    let name: String
    let enter: @Sendable (String) async throws -> HTTPAuthentication
    var request: @Sendable (String) -> HTTPRequest = { _ in HTTPRequest(url: harmless) }
    var answer: @Sendable (String, HTTPRequest) -> HTTPResponse = { text, request in answered(request, text) }

    var testDescription: String { name }
}

/// The API accepts every request. The token endpoint returns the text as its tokens.
private func answered(_ request: HTTPRequest, _ text: String, status: HTTPStatus = .ok) -> HTTPResponse {
    guard request.host == "auth.example.com" else { return HTTPResponse(request: request, status: status) }
    let body = #"{"access_token":"\#(text)","refresh_token":"\#(text)","id_token":"\#(text)","token_type":"Bearer"}"#
    return HTTPResponse(
        request: request, status: .ok, headers: ["Content-Type": "application/json"],
        body: HTTPResponseBody(Data(body.utf8)))
}

private func refused(_ request: HTTPRequest, _ body: String) -> HTTPResponse {
    guard request.host == "auth.example.com" else { return HTTPResponse(request: request, status: .unauthorized) }
    return HTTPResponse(request: request, status: .badRequest, body: HTTPResponseBody(Data(body.utf8)))
}

private let harmless = AuthorizationServer.api.appendingPathComponent("HARMLESS")
private let redirect = URL(string: "https://app.example/callback") ?? URL(filePath: "/")
private let page = URL(string: "https://auth.example.com/authorize") ?? URL(filePath: "/")

private func code(_ text: String, error: Bool = false) -> OAuth2.Grant {
    .authorizationCode(endpoint: page, redirectURI: redirect) { url in
        var back = HTTPRequest(url: redirect)
        back.query["state"] = error ? text : HTTPRequest(url: url).query["state"]
        back.query["code"] = text
        return try back.url()
    }
}

private let doors: [Door] = [
    Door(name: "basic password") { .basic(username: "ada", password: Secret($0)) },
    Door(name: "bearer token") { .bearer(Secret($0)) },
    Door(name: "API key in a header") { .apiKey(Secret($0), header: "X-Own") },
    Door(name: "API key in the query") { .apiKey(Secret($0), queryName: "own") },
    Door(name: "API key in the query, answered in JSON") {
        .apiKey(Secret($0), queryName: "own")
    } answer: { text, request in
        HTTPResponse(
            request: request, status: .badRequest, headers: ["Content-Type": "application/json"],
            body: HTTPResponseBody(Data(#"{"own":"\#(text)"}"#.utf8)))
    },
    Door(name: "asked basic password") { text in
        .basic { _ in (username: "ada", password: Secret(text)) }
    },
    Door(name: "asked bearer token") { text in .bearer { _ in Secret(text) } },
    Door(name: "refused password") { .basic(username: "a:b", password: Secret($0)) },
    Door(name: "refused token") { .bearer(Secret("a b" + $0)) },
    Door(name: "token to plain http") {
        .bearer(Secret($0))
    } request: { _ in
        var request = HTTPRequest(url: harmless)
        request.scheme = "http"
        return request
    },
    Door(name: "client secret") {
        .testing(.clientCredentials(), client: OAuth2.Client(id: "app", secret: Secret($0)))
    },
    Door(name: "client secret in the form") {
        .testing(.clientCredentials(), client: OAuth2.Client(id: "app", secret: Secret($0), authentication: .form))
    },
    Door(name: "tokens of the server") { _ in .testing(.clientCredentials()) },
    Door(name: "given refresh token") { .testing(.refreshToken(Secret($0))) },
    Door(name: "stored tokens") {
        .testing(
            .storedTokens,
            store: OAuth2.MemoryTokenStore(OAuth2.Tokens(accessToken: Secret($0), refreshToken: Secret($0))))
    },
    Door(name: "authorization code") { .testing(code($0)) },
    Door(name: "foreign state") { .testing(code($0, error: true)) },
    Door(name: "secret in the server's refusal") {
        .testing(.refreshToken(Secret($0)))
    } answer: { text, request in
        refused(request, #"{"error":"\#(text)","error_description":"\#(text) is unknown"}"#)
    },
    Door(name: "secret in a page instead of an answer") {
        .testing(.refreshToken(Secret($0)))
    } answer: { text, request in
        refused(request, "<p>\(text)</p>")
    },
    Door(name: "token of another kind") {
        .testing(.refreshToken(Secret($0)))
    } answer: { text, request in
        HTTPResponse(
            request: request, status: .ok,
            body: HTTPResponseBody(Data(#"{"access_token":"\#(text)","token_type":"mac"}"#.utf8)))
    },
    Door(name: "token endpoint that breaks off") {
        .testing(.refreshToken(Secret($0)), client: OAuth2.Client(id: "app", secret: Secret($0), authentication: .form))
    } answer: { _, request in
        HTTPResponse(
            request: request, status: .ok,
            body: HTTPResponseBody(length: nil, pull: { throw HTTPError(.connectionLost, request: request) }))
    },
]

/// All texts that can be made of a value.
private func texts(_ value: Any) -> [String] {
    var dumped = ""
    dump(value, to: &dumped)
    return ["\(value)", String(reflecting: value), dumped, "\(Mirror(reflecting: value).children.map { "\($0)" })"]
}

@Suite struct SecretLeakTests {
    @Test(arguments: doors)
    private func `a secret of any source is in no text, and harmless values are`(door: Door) async throws {
        let log = Mutex<[String]>([])
        let write: @Sendable (String) -> Void = { line in log.withLock { $0.append(line) } }
        let authentication = try await door.enter("SECRET")
        let answer = door.answer
        let transport = MockLoader { request in answer("SECRET", request) }
        let request = door.request("SECRET")
        let home = ApplyEnvironment(ServerEnvironment(baseURL: try request.url()))
        let chain =
            PrintLoader(write: write) --> home --> Authenticate(authentication) --> PrintLoader(write: write)
            --> transport
        var outputs = ["request": texts(request)]
        for _ in 0..<2 {
            do {
                outputs["response", default: []] += texts(try await chain.load(request))
            } catch {
                outputs["error", default: []] += texts(error) + [error.localizedDescription]
                outputs["request of the error", default: []] += texts(error.request)
                if let response = error.response { outputs["response of the error", default: []] += texts(response) }
                outputs["link", default: []] += texts(error.underlying as Any)
            }
        }
        for sent in transport.requests {
            let parts: [Any] = [sent.headers, sent.query, sent.body] + Array(sent.headers) + Array(sent.query)
            outputs["link", default: []] += parts.flatMap(texts)
            outputs[sent.origin == request.origin ? "sent" : "link", default: []] += texts(sent)
        }
        outputs["log"] = log.withLock { $0 }
        outputs["link", default: []] += texts(authentication) + texts(chain)
        for (name, texts) in outputs {
            #expect(texts.filter(holdsSecret) == [], "\(name)")
            if name != "link" { #expect(texts.contains { $0.contains("HARMLESS") }, "\(name)") }
        }
    }
}

/// The secret, or what base64 makes of it at any of three places.
private func holdsSecret(_ text: String) -> Bool {
    ["SECRET", "U0VDUkVU", "NFQ1JFV", "TRUNSRV"].contains { text.contains($0) }
}
