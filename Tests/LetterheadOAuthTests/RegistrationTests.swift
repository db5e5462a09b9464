// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadOAuth
import LetterheadTesting
import Testing

@Suite struct RegistrationTests {
    private let callback = URL(string: "http://127.0.0.1/callback") ?? URL(filePath: "/")

    private func server(_ endpoint: JSONValue? = "https://auth.example.com/register") throws -> OAuth2.Server {
        var metadata: [String: JSONValue] = [:]
        metadata["registration_endpoint"] = endpoint
        return OAuth2.Server(
            tokenEndpoint: try #require(URL(string: "https://auth.example.com/token")), metadata: metadata)
    }

    private func mock(_ status: HTTPStatus, _ json: String) -> MockLoader {
        MockLoader { request in
            HTTPResponse(
                request: request, status: status, headers: ["Content-Type": "application/json"],
                body: HTTPResponseBody(Data(json.utf8)))
        }
    }

    @Test func `an app is registered with its name and callbacks, and metadata replace the defaults`() async throws {
        let mock = mock(201, #"{"client_id": "abc", "redirect_uris": ["http://127.0.0.1/callback"]}"#)
        let registration = try await server().register(
            "App", redirectURIs: [callback], metadata: ["scope": "read", "response_types": ["code", "none"]],
            initialAccessToken: "initial", over: mock)
        #expect(registration.client == OAuth2.Client(id: "abc") && registration.secretExpiresAt == nil)
        #expect(registration.members["redirect_uris"] == ["http://127.0.0.1/callback"])
        let request = try #require(mock.requests.first)
        #expect(request.method == .post && request.headers[.authorization] == "Bearer initial" && request.isSecret)
        let body = try JSONDecoder().decode(JSONValue.self, from: try request.body.encode())
        let expected: JSONValue = [
            "client_name": "App", "redirect_uris": ["http://127.0.0.1/callback"], "response_types": ["code", "none"],
            "grant_types": ["authorization_code", "refresh_token"], "token_endpoint_auth_method": "none",
            "scope": "read",
        ]
        #expect(body == expected)
    }

    @Test(
        arguments: [
            (#""token_endpoint_auth_method": "none", "client_secret": "s""#, nil, nil, nil),
            (#""client_secret": "s", "client_secret_expires_at": 0"#, "s", .basic, nil),
            (
                #""token_endpoint_auth_method": "client_secret_post", "client_secret": "s", "client_secret_expires_at": 9"#,
                "s", .form, 9
            ),
            (#""client_secret": """#, nil, nil, nil),
        ] as [(String, Secret?, OAuth2.Client.Authentication?, TimeInterval?)])
    func `the method of the response decides where the secret is sent`(
        members: String, secret: Secret?, method: OAuth2.Client.Authentication?, end: TimeInterval?
    ) async throws {
        let registration = try await server().register(
            "App", redirectURIs: [callback], over: mock(200, #"{"client_id": "abc", "# + members + "}"))
        #expect(registration.client == OAuth2.Client(id: "abc", secret: secret, authentication: method ?? .basic))
        #expect(registration.secretExpiresAt == end.map { Date(timeIntervalSince1970: $0) })
        var dumped = ""
        dump(registration, to: &dumped)
        #expect("\(registration)" == #"Registration("abc")"# && !dumped.contains("secret"))
    }

    @Test(
        arguments: [
            (
                400, #"{"error": "invalid_redirect_uri", "error_description": "no initial"}"#, .refused,
                "invalid_redirect_uri"
            ),
            (401, #"{"error": "invalid_token"}"#, .refused, "invalid_token"),
            (403, "<html>", .refused, "no error code"),
            (503, "", .unavailable, "503"), (201, "{}", .malformed, "contains no client_id"),
            (201, #"{"client_id": 7}"#, .malformed, "client_id in the response"),
            (201, #"{"client_id": "a\nb"}"#, .malformed, "contains no client_id"),
            (
                201, #"{"client_id": "a", "token_endpoint_auth_method": "tls_client_auth"}"#, .malformed,
                "other than none"
            ),
            (
                201, #"{"client_id": "a", "token_endpoint_auth_method": "client_secret_post"}"#, .malformed,
                "without its"
            ),
            (201, "[]", .malformed, "contains no client_id"),
        ] as [(HTTPStatus, String, HTTPAuthentication.Failure.Reason, String)])
    func `a refusal or a malformed response is an error that tells what was wrong`(
        status: HTTPStatus, json: String, reason: HTTPAuthentication.Failure.Reason, text: String
    ) async throws {
        let failure = try await #require(throws: HTTPAuthentication.Failure.self) {
            _ = try await server().register(
                "App", redirectURIs: [callback], initialAccessToken: "initial", over: mock(status, json))
        }
        #expect(failure.reason == reason && failure.message.contains(text), "\(failure)")
        #expect(!failure.message.contains("no initial"))
    }

    @Test func `what cannot be registered is refused before anything is sent`() async throws {
        let mock = mock(201, #"{"client_id": "abc"}"#)
        let fragment = try #require(URL(string: "app:/callback#here"))
        let rows: [(JSONValue?, [URL], Secret?, String)] = [
            (nil, [callback], nil, "no registration_endpoint"), (7, [callback], nil, "no registration_endpoint"),
            ("http://auth.example.com/register", [callback], nil, "no registration_endpoint with https"),
            ("https://auth.example.com/register", [], nil, "redirectURIs must contain"),
            ("https://auth.example.com/register", [fragment], nil, "without a fragment"),
            ("https://auth.example.com/register", [callback], "a b", "the initial access token"),
        ]
        for (endpoint, callbacks, token, text) in rows {
            let failure = try await #require(throws: HTTPAuthentication.Failure.self) {
                _ = try await server(endpoint).register(
                    "App", redirectURIs: callbacks, initialAccessToken: token, over: mock)
            }
            #expect(failure.reason == .misconfigured && failure.message.contains(text), "\(failure)")
        }
        #expect(mock.requests.isEmpty)
    }
}
