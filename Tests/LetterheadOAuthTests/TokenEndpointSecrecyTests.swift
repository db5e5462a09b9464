// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadOAuth
import LetterheadTesting
import Synchronization
import TestKit
import Testing

/// Nothing of what goes to a token endpoint, or comes from it, is in any text, not even what seems harmless, except the
/// description of an error, without the values that were sent.
@Suite struct TokenEndpointSecrecyTests {
    private static let page = URL(string: "https://auth.example.com/authorize") ?? URL(filePath: "/")
    private static let redirect = URL(string: "https://app.example/callback") ?? URL(filePath: "/")

    private static let grants: [String: OAuth2.Grant] = [
        "refresh": .refreshToken("r0"), "client credentials": .clientCredentials(scope: ["HARMLESS"]),
        "code": .authorizationCode(endpoint: page, redirectURI: redirect) { url in
            var back = HTTPRequest(url: redirect)
            back.query = ["state": HTTPRequest(url: url).query["state"], "code": "c0"]
            return try back.url()
        },
    ]

    @Test(
        arguments: grants.keys.sorted(),
        [
            (200, #"{"access_token":"a1","token_type":"Bearer","note":"HARMLESS"}"#), (200, "HARMLESS"),
            (400, #"{"error":"invalid_grant","error_description":"HARMLESS"}"#), (401, #"{"error":"HARMLESS"}"#),
            (503, "<p>HARMLESS</p>"),
        ])
    func `no text contains a body of the token endpoint`(grant: String, answer: (Int, String)) async throws {
        let log = Mutex<[String]>([])
        let mock = MockLoader { request in
            guard request.host == "auth.example.com" else { return HTTPResponse(request: request, status: .ok) }
            #expect(request.isSecret)
            return HTTPResponse(
                request: request, status: HTTPStatus(answer.0), headers: ["Content-Type": "application/json"],
                body: HTTPResponseBody(Data(answer.1.utf8)))
        }
        let authentication = HTTPAuthentication.testing(
            try #require(Self.grants[grant]), parameters: ["audience": "HARMLESS"])
        let write: @Sendable (String) -> Void = { line in log.withLock { $0.append(line) } }
        let chain =
            Authenticate(authentication) --> PrintLoader(write: write) --> ModifyRequest { write("\($0)") }
            --> ModifyResponse { write("\($0)") } --> mock
        let error = await failure { try await chain.load(HTTPRequest(url: AuthorizationServer.api)) }
        var texts = log.withLock { $0 }
        #expect(texts.contains { $0.contains("auth.example.com/token") })
        if let error {
            texts += ["\(error)", String(reflecting: error.underlying as Any), error.bodyExcerpt ?? ""]
            if let underlying = error.underlying as? HTTPAuthentication.Failure {
                texts.append("\(underlying.underlying as Any)")
            }
        }
        for text in texts { #expect(!text.contains("HARMLESS") && !text.contains("grant_type")) }
    }

    @Test(arguments: [
        ("the refresh token has expired", #": "the refresh token has expired""#),
        ("Invalid refresh token: r0", #": "Invalid refresh token: <redacted>""#),
        ("token 4f8a9c2b7d1e3f5a6b8c is revoked", #": "token <redacted> is revoked""#),
    ])
    func `the description of a refusal is in the error, without tokens`(sent: String, shown: String) async throws {
        let mock = MockLoader { request in
            HTTPResponse(
                request: request, status: 400,
                body: HTTPResponseBody(
                    Data(#"{"error":"invalid_grant","error_description":"\#(sent)"}"#.utf8)))
        }
        let chain = Authenticate(.testing(.refreshToken("r0"))) --> mock
        let error = try #require(await failure { try await chain.load(HTTPRequest(url: AuthorizationServer.api)) })
        #expect("\(error)".hasSuffix("400 Bad Request and invalid_grant\(shown)"), "\(error)")
    }

    @Test func `an error with a response of the token endpoint has no excerpt of its body`() async throws {
        var request = HTTPRequest(method: .post, url: AuthorizationServer.endpoint)
        request.isSecret = true
        let response = HTTPResponse(
            request: request, status: 400, headers: ["Content-Type": "text/plain"],
            body: HTTPResponseBody(Data("HARMLESS".utf8)))
        let error = HTTPError(.unacceptableStatus, request: request, response: response)
        #expect(error.bodyExcerpt == nil)
        #expect(!"\(error)\(response)".contains("HARMLESS"))
    }
}
