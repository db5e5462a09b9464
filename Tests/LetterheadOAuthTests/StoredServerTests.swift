// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadOAuth
import LetterheadTesting
import TestKit
import Testing

private let issuer = "https://auth.example.com/t/1"

/// Servers that a program has stored.
@Suite(.timeLimit(.minutes(1))) struct StoredServerTests {
    private let scene = Scene([
        "https://auth.example.com/.well-known/oauth-authorization-server/t/1": [
            .json(
                #"{"issuer":"https://auth.example.com/t/1","token_endpoint":"https://auth.example.com/token","#
                    + #""authorization_endpoint":"https://auth.example.com/authorize","#
                    + #""device_authorization_endpoint":"https://auth.example.com/device","#
                    + #""revocation_endpoint":"https://auth.example.com/revoke","#
                    + #""authorization_response_iss_parameter_supported":true,"other":[1,null]}"#)
        ],
        "https://api.example.com/.well-known/oauth-protected-resource/mcp": [
            .json(
                #"{"resource":"https://api.example.com/mcp","scopes_supported":["read","write"],"#
                    + #""authorization_servers":["https://auth.example.com/t/1"]}"#)
        ],
    ])

    /// The server as JSON, to change it.
    private func stored(_ server: OAuth2.Server) throws -> JSONValue {
        try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(server))
    }

    private func read(_ document: JSONValue) throws -> OAuth2.Server {
        try JSONDecoder().decode(OAuth2.Server.self, from: JSONEncoder().encode(document))
    }

    @Test func `a discovered server is equal after it was stored`() async throws {
        for server in [
            try await OAuth2.discovered(from: Scene.api, over: scene),
            try await OAuth2.discovered(from: Scene.api, issuer: issuer, over: scene),
            try await OAuth2.discovered(issuer: issuer, over: scene),
        ] {
            #expect(try read(stored(server)) == server)
        }
    }

    @Test func `a server that you create yourself is equal after it was stored`() throws {
        let token = try #require(URL(string: "http://localhost:8080/token"))
        for server in [OAuth2.Server(tokenEndpoint: token), OAuth2.Server(tokenEndpoint: token, scope: ["read write"])]
        {
            #expect(try read(stored(server)) == server)
        }
    }

    @Test func `a stored server that only the API has named gets no secret`() async throws {
        let server = try read(stored(try await OAuth2.discovered(from: Scene.api, over: scene)))
        let client = OAuth2.Client(id: "app", secret: "s3cret")
        let failure = #expect(throws: HTTPAuthentication.Failure.self) {
            try OAuth2.Session(client: client, server: server, signIn: .deviceCode { _ in }, transport: scene)
        }
        #expect(failure?.reason == .misconfigured)
    }

    @Test(
        arguments: [
            "tokenEndpoint", "authorizationEndpoint", "deviceAuthorizationEndpoint", "revocationEndpoint", "resource",
        ], ["http://auth.example.com/x", "ftp://localhost/x", "https://ada@auth.example.com/x"])
    func `a stored URL that discovery would refuse is refused`(member: String, url: String) async throws {
        var document = try stored(try await OAuth2.discovered(from: Scene.api, over: scene))
        document[member] = .string(url)
        let error = #expect(throws: DecodingError.self) { try read(document) }
        guard case .dataCorrupted(let context)? = error else {
            Issue.record("the error names no value")
            return
        }
        #expect(context.codingPath.map(\.stringValue) == [member])
        #expect(context.debugDescription == "the URL does not use https, or has a user part")
    }

    @Test(arguments: ["tokenEndpoint", "authorizationEndpoint"])
    func `an endpoint on this machine needs an issuer on this machine`(member: String) async throws {
        var document = try stored(try await OAuth2.discovered(issuer: issuer, over: scene))
        document[member] = "http://127.0.0.1/x"
        #expect(throws: DecodingError.self) { try read(document) }
        document["issuer"] = "http://localhost/t"
        #expect(throws: Never.self) { try read(document) }
    }

    @Test(arguments: [
        "http://auth.example.com/t/1", "https://auth.example.com/?t", "https://auth.example.com/#t", "/t",
    ])
    func `a stored issuer that discovery would refuse is refused`(other: String) async throws {
        var document = try stored(try await OAuth2.discovered(issuer: issuer, over: scene))
        document["issuer"] = .string(other)
        #expect(throws: DecodingError.self) { try read(document) }
    }

    @Test func `a stored server without its token endpoint, or without its origin, is refused`() async throws {
        for member in ["tokenEndpoint", "isNamedByResource"] {
            var document = try stored(try await OAuth2.discovered(issuer: issuer, over: scene))
            document.removeValue(forName: member)
            #expect(throws: DecodingError.self) { try read(document) }
        }
    }
}
