// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadOAuth
import LetterheadTesting
import TestKit
import Testing

@Suite struct SecretNameTests {
    static let secret = [
        "X-Access-Token", "PRIVATE-TOKEN", "X-Vault-Token", "X-Goog-Api-Key", "DPoP", "dpop", "auth_token", "jwt",
        "otp", "private_key", "privateKey", "X-JWT-Assertion", "jwtBody", "otpCode", "X-Auth", "X-Auth-Key",
        "x-functions-key", "Ocp-Apim-Subscription-Key", "X-Shopify-Access-Token", "X-CSRF-Token", "XSRF-TOKEN",
        "X-Hub-Signature-256", "X-Forwarded-Authorization", "Session-Id", "JSESSIONID", "APIKey", "myAPIKey",
        "user.apiKey", "OAuth2Token", "password1", "secret_2", "aws_secret_access_key", "X-Session", "device_code",
        "Cookie2", "X-Authtoken", "X-AUTHTOKEN", "authtoken", "csrftoken", "sessiontoken", "usertoken", "userpassword",
        "X-User-Auth", "X-Tableau-Auth", "X-Client-Key", "X-Api-Keys", "hapikey", "user_pass", "oauth_verifier",
        "tokens", "secrets", "passwords", "access_tokens", "accesstoken", "refreshtoken", "clientsecret", "X-Myapi-Key",
    ]

    /// Names that a query and a form may have.
    static let spellings = [
        "accessToken", "refreshToken", "clientSecret", "idToken", "codeVerifier", "API-Key", "user[password]",
        "user.password", "token[]", "a[0][secret]",
    ]

    static let shown = [
        "Accept", "Content-Type", "X-Request-Id", "Idempotency-Key", "Sec-WebSocket-Key", "WWW-Authenticate", "author",
        "country_code", "status_code", "max_tokens", "total_tokens", "maxOutputTokens", "x-ratelimit-remaining-tokens",
        "tokenizer", "tokenize", "bypass", "compass", "passes", "secretary", "authority", "authors", "keyboard",
        "keyword", "sort_key", "partitionKey", "session_count", "auth_type", "passenger", "sigma", "next", "ETag", "X-",
        "", "-_.[]", "designer", "encoded", "barcode", "page[size]",
    ]

    @Test func `a long name is searched in linear time`() {
        let factor = growth(of: 4_000) { count in
            _ = Redaction.standard.isSecret(parameter: String(repeating: "tokens-", count: count) + "max")
        }
        #expect(factor < 10)
    }

    @Test(arguments: secret + spellings)
    func `a name with a secret part is secret in headers and in queries, in every spelling`(name: String) {
        #expect(Redaction.standard.isSecret(parameter: name))
        expectRedacted(QueryParameters([.init(name, "SECRET"), .init("q", "marker")]), shows: "marker")
        if !name.contains("."), !Self.spellings.contains(name) {
            expectRedacted([HTTPHeaders.Name(name): "SECRET", "X": "marker"] as HTTPHeaders, shows: "marker")
        }
        expectRedacted(FormBody([name: "SECRET", "q": "marker"]), shows: "bytes")
        for body: any HTTPBody in [
            FormBody([name: "SECRET", "q": "marker"]),
            TextBody(#"{"\#(name)":"SECRET","q":"marker"}"#, contentType: .json),
        ] {
            // A log that asks for bodies.
            let log = Redaction.standard.body(of: HTTPRequest().with { $0.body = body })
            #expect(!log.contains("SECRET") && log.contains("marker"))
        }
        #expect(Redaction.standard.adding(headers: ["X-Other"]).isSecret(parameter: name))
    }

    @Test(arguments: shown) func `a name without a secret part is shown`(name: String) {
        #expect(!Redaction.standard.isSecret(parameter: name))
        let headers: HTTPHeaders = [HTTPHeaders.Name(name): "marker"]
        #expect("\(headers)".contains("marker"))
    }

    @Test func `a set of custom names does not match parts of names`() {
        let own = Redaction(headers: ["X-Own"], parameters: ["own"])
        #expect(own.isSecret(parameter: "own") && !own.isSecret(parameter: "auth_token"))
    }

    @Test(arguments: secret.filter { !$0.contains(".") }, [false, true])
    func `a secret header is removed when a redirect leads to another origin`(
        name: String, showsAll: Bool
    ) async throws {
        let mock = MockLoader.redirecting([
            "https://a.test/1": (302, "https://b.test/1"), "https://b.test/1": (302, "https://a.test/2"),
        ])
        var first = try HTTPRequest.to("https://a.test/1")
        first.headers = [HTTPHeaders.Name(name): "secret", "X-Other": "f"]
        if showsAll { first.redaction = Redaction(headers: [], parameters: []) }
        _ = try await (FollowRedirects() --> mock).load(first)
        #expect(mock.requests.map { $0.headers.map(\.value) } == [["secret", "f"], ["f"], ["f"]])
    }

    @Test(.timeLimit(.minutes(1)), arguments: ["a", "A", "a_", "Ab", "-"])
    func `a name of many kilobytes is checked quickly`(part: String) {
        #expect(!Redaction.standard.isSecret(parameter: String(repeating: part, count: 1 << 16)))
    }
}
