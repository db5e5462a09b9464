// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadOAuth
@testable import LetterheadSigning
import LetterheadTesting
import TestKit
import Testing

private let api = URL(string: "https://api.example.com") ?? URL(filePath: "/")
private let endpoint = URL(string: "https://auth.example.com/token") ?? URL(filePath: "/")

@Suite struct DPoPTests {
    private struct Proof {
        let header, claims: [String: JSONValue]
        let isValid: Bool

        init(_ request: HTTPRequest, key: SignatureKey) throws {
            let parts = try #require(request.headers["DPoP"]).split(separator: ".").map(String.init)
            try #require(parts.count == 3)
            func bytes(_ index: Int) throws -> [UInt8] { try #require(Base64URL.bytes(parts[index])) }
            header = try JSONDecoder().decode([String: JSONValue].self, from: Data(bytes(0)))
            claims = try JSONDecoder().decode([String: JSONValue].self, from: Data(bytes(1)))
            isValid = try key.verifies(bytes(2), of: Array("\(parts[0]).\(parts[1])".utf8))
        }
    }

    private func dpop(_ key: SignatureKey) -> DPoP {
        DPoP(
            key: key, now: { Date(timeIntervalSince1970: 1_562_262_616) }, random: { [UInt8](repeating: 1, count: $0) })
    }

    /// A server whose responses demand a nonce for each host.
    private func server(type: String = "DPoP") -> MockLoader {
        MockLoader { request in
            let isToken = request.host == "auth.example.com"
            let nonce = "nonce-" + (request.host ?? "")
            let sent = request.headers["DPoP"].map { String($0.split(separator: ".")[1]) } ?? ""
            guard String(decoding: Base64URL.bytes(sent) ?? [], as: UTF8.self).contains(nonce) else {
                return HTTPResponse(
                    request: request, status: isToken ? 400 : 401,
                    headers: ["DPoP-Nonce": nonce, "WWW-Authenticate": #"DPoP error="use_dpop_nonce""#],
                    body: HTTPResponseBody(Data(#"{"error":"use_dpop_nonce"}"#.utf8)))
            }
            let token = #"{"access_token":"token","token_type":"\#(type)","expires_in":3600}"#
            return HTTPResponse(
                request: request, status: .ok, headers: ["Content-Type": "application/json"],
                body: HTTPResponseBody(Data((isToken ? token : "{}").utf8)))
        }
    }

    private func oauth(_ key: SignatureKey) -> HTTPAuthentication {
        .oauth2(
            client: OAuth2.Client(id: "app", secret: "secret"), tokenEndpoint: endpoint, grant: .clientCredentials(),
            allowedOrigins: [api], dpop: dpop(key))
    }

    @Test(arguments: [SignatureKey.Algorithm.ecdsaP256SHA256, .ed25519])
    func `a proof names the request and the key`(algorithm: SignatureKey.Algorithm) async throws {
        let key = try SignatureKey.generated(algorithm)
        var request = try HTTPRequest(method: .post, "https://Resource.example.org/protected%20resource?q=1#f")
        request.headers[.authorization] = "DPoP Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU"
        try await dpop(key).sign(&request, body: SignedBody())
        let proof = try Proof(request, key: key)
        #expect(proof.isValid)
        #expect(proof.header["typ"] == "dpop+jwt" && proof.header["jwk"]?["kty"].string != nil)
        #expect(proof.header["alg"]?.string == (algorithm == .ed25519 ? "EdDSA" : "ES256"))
        #expect(proof.claims["htm"] == "POST" && proof.claims["iat"]?.int == 1_562_262_616)
        #expect(proof.claims["htu"] == "https://Resource.example.org/protected%20resource")
        // RFC 9449, 7.1.
        #expect(proof.claims["ath"] == "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo")
        #expect(proof.claims["jti"]?.string?.isEmpty == false && proof.claims["nonce"] == nil)
    }

    @Test func `tokens and resources get a proof, with the nonce of their origin and one repeat`() async throws {
        let (key, server) = (try SignatureKey.generated(.ecdsaP256SHA256), server())
        let client = HTTPClient(authentication: oauth(key), transport: server)
        for _ in 1...2 { _ = try await client.send(HTTPRequest(url: api)) }
        let proofs = try server.requests.map { try Proof($0, key: key) }
        #expect(proofs.map { $0.claims["htm"]?.string } == ["POST", "POST", "GET", "GET", "GET"])
        #expect(
            proofs.map { $0.claims["nonce"]?.string } == [
                nil, "nonce-auth.example.com", nil, "nonce-api.example.com", "nonce-api.example.com",
            ])
        #expect(
            proofs.allSatisfy(\.isValid) && proofs.map { $0.claims["ath"] != nil } == [false, false, true, true, true])
        #expect(server.requests.last?.headers[.authorization] == "DPoP token")
    }

    @Test func `a bearer token isn't accepted for a key`() async throws {
        let key = try SignatureKey.generated(.ecdsaP256SHA256)
        let client = HTTPClient(authentication: oauth(key), transport: server(type: "Bearer"))
        let error = await failure { try await client.send(HTTPRequest(url: api)) }
        #expect(error?.code == .cannotAuthenticate)
        #expect((error?.underlying as? HTTPAuthentication.Failure)?.reason == .malformed)
    }

    @Test func `a request keeps its own authentication`() async throws {
        let key = try SignatureKey.generated(.ecdsaP256SHA256)
        let (method, server) = (oauth(key), server())
        var request = HTTPRequest(url: api)
        request.authentication = method
        let response = try await HTTPClient(transport: server).send(request)
        #expect(response.request.authentication == method)
    }

    @Test func `a repeated demand for the same nonce is returned`() async throws {
        let mock = MockLoader {
            HTTPResponse(
                request: $0, status: 401,
                headers: ["DPoP-Nonce": "n", "WWW-Authenticate": #"DPoP error="use_dpop_nonce""#])
        }
        let chain = dpop(try SignatureKey.generated(.ed25519)) --> mock
        #expect(try await chain.load(HTTPRequest(url: api)).status == 401 && mock.requests.count == 2)
        #expect(try await chain.load(HTTPRequest(url: api)).status == 401 && mock.requests.count == 3)
    }

    @Test func `each of two concurrent requests without the nonce is repeated`() async throws {
        let dpop = dpop(try SignatureKey.generated(.ed25519))
        for _ in 1...2 {
            var request = HTTPRequest(url: api)
            // The proof was made before the other response arrived.
            try await self.dpop(.generated(.ed25519)).sign(&request, body: SignedBody())
            let response = HTTPResponse(
                request: request, status: 401,
                headers: ["DPoP-Nonce": "n", "WWW-Authenticate": #"DPoP error="use_dpop_nonce""#])
            #expect(await dpop.signsAgain(after: response))
        }
    }

    @Test(arguments: ["", "a b", "é", String(repeating: "n", count: 1_025)])
    func `a malformed nonce isn't kept`(nonce: String) async throws {
        let key = try SignatureKey.generated(.ed25519)
        let (dpop, request) = (dpop(key), HTTPRequest(url: api))
        let response = HTTPResponse(
            request: request, status: 401,
            headers: ["DPoP-Nonce": nonce, "WWW-Authenticate": #"DPoP error="use_dpop_nonce""#])
        #expect(await !dpop.signsAgain(after: response))
        var signed = request
        try await dpop.sign(&signed, body: SignedBody())
        #expect(try Proof(signed, key: key).claims["nonce"] == nil)
    }

    @Test func `a shared secret can't prove anything`() async throws {
        let mock = MockLoader { .ok($0) }
        let error = await failure { try await (dpop(try .hmac([1])) --> mock).load(HTTPRequest(url: api)) }
        #expect(error?.code == .cannotAuthenticate && mock.requests.isEmpty)
    }
}
