// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadOAuth
import LetterheadTesting
import TestKit
import Testing

@Suite struct MockOAuth2ServerTests {
    private let callback = URL(string: "app.test:/callback") ?? URL(filePath: "/")

    private func client(_ server: MockOAuth2Server, _ grant: OAuth2.Grant, secret: Secret? = nil) -> HTTPClient {
        HTTPClient(
            environment: ServerEnvironment(baseURL: server.url),
            authentication: .oauth2(
                client: OAuth2.Client(id: "client", secret: secret), tokenEndpoint: server.tokenEndpoint, grant: grant,
                allowedOrigins: [server.url]))
    }

    private func form(_ server: MockOAuth2Server, _ path: String, _ fields: [String: String]) async throws -> JSONValue
    {
        var request = HTTPRequest(method: .post, url: server.url.appending(path: path))
        request.body = FormBody(fields.sorted { $0.key < $1.key }.map { URLQueryItem(name: $0.key, value: $0.value) })
        return try await JSONDecoder().decode(
            JSONValue.self, from: HTTPClient.defaultTransport.load(request).body.data())
    }

    @Test func `client credentials sign requests, and a revoked token is replaced`() async throws {
        let server = try await MockOAuth2Server.start(clientSecret: "shh") { _ in try .json(Person.ada) }
        let client = client(server, .clientCredentials(), secret: "shh")
        #expect(try await client.send(GetPerson(login: "ada")) == .ada)
        server.revokeAccessTokens()
        #expect(try await client.send(GetPerson(login: "ada")) == .ada)
        #expect(server.server.requests.filter { $0.path == "/token" }.count == 2)
        await server.stop()
    }

    @Test func `a person signs in with PKCE, and a refresh token is rotated`() async throws {
        let server = try await MockOAuth2Server.start { _ in try .json(Person.ada) }
        let client = client(
            server,
            .authorizationCode(endpoint: server.authorizationEndpoint, redirectURI: callback) { url in
                try await server.signIn(url)
            })
        #expect(try await client.send(GetPerson(login: "ada")) == .ada)
        for _ in 0..<2 {
            server.revokeAccessTokens()
            #expect(try await client.send(GetPerson(login: "ada")) == .ada)
        }
        let forms = server.server.requests.filter { $0.path == "/token" }.map {
            String(decoding: $0.body, as: UTF8.self).removingPercentEncoding ?? ""
        }
        #expect(forms.count == 3 && forms[0].contains("grant_type=authorization_code"))
        #expect(forms[1].contains("refresh_token=refresh-3") && forms[2].contains("refresh_token=refresh-5"))
        await server.stop()
    }

    @Test func `a person can refuse, and a wrong verifier gets no tokens`() async throws {
        let server = try await MockOAuth2Server.start()
        let refusing = client(
            server,
            .authorizationCode(endpoint: server.authorizationEndpoint, redirectURI: callback) { url in
                try await server.signIn(url, isAllowed: false)
            })
        let error = try await #require(throws: HTTPError.self) { _ = try await refusing.send(GetPerson(login: "a")) }
        #expect(error.code == .cannotAuthenticate)
        var page = HTTPRequest(url: server.authorizationEndpoint)
        for (name, value) in [
            ("response_type", "code"), ("client_id", "client"), ("redirect_uri", "app.test:/callback"),
            ("code_challenge", "x"), ("code_challenge_method", "S256"), ("state", "s"),
        ] { page.query[name] = value }
        let code = HTTPRequest(url: try await server.signIn(page.url())).query["code"]
        let answer = try await form(
            server, "token",
            [
                "grant_type": "authorization_code", "client_id": "client", "redirect_uri": "app.test:/callback",
                "code_verifier": "wrong", "code": code ?? "",
            ])
        #expect(answer["error"] == "invalid_grant")
        await server.stop()
    }

    @Test func `a refresh token that is used twice revokes the sign-in`() async throws {
        let server = try await MockOAuth2Server.start()
        let device = try await form(server, "device", ["client_id": "client", "scope": "read"])
        let code = try #require(device["device_code"].string)
        let user = try #require(device["user_code"].string)
        let poll = [
            "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "client_id": "client", "device_code": code,
        ]
        #expect(try await form(server, "token", poll)["error"] == "authorization_pending")
        server.approveDevice(userCode: user)
        let tokens = try await form(server, "token", poll)
        #expect(tokens["scope"] == "read")
        let refresh = try #require(tokens["refresh_token"].string)
        let again = ["grant_type": "refresh_token", "client_id": "client", "refresh_token": refresh]
        let rotated = try await form(server, "token", again)
        let second = try #require(rotated["refresh_token"].string)
        #expect(try await form(server, "token", again)["error"] == "invalid_grant")
        let revoked = ["grant_type": "refresh_token", "client_id": "client", "refresh_token": second]
        #expect(try await form(server, "token", revoked)["error"] == "invalid_grant")
        await server.stop()
    }
}
