// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
@testable import LetterheadSigning
import LetterheadTesting
import TestKit
import Testing

/// Signatures with the values of RFC 9421, appendix B.
@Suite struct MessageSignatureTests {
    private func signed(_ request: HTTPRequest, by signatures: MessageSignature) async throws -> HTTPRequest {
        try await signed(request, by: MessageSigner(signatures, now: { RFC9421.date }))
    }

    private func signed(_ request: HTTPRequest, by signer: MessageSigner) async throws -> HTTPRequest {
        var signed = request
        try await signer.sign(&signed, body: SignedBody(request, need: signer.bodyNeed(for: request)))
        return signed
    }

    private func verifier(
        _ pem: String, requiring components: [MessageComponent] = [], at date: Date = RFC9421.date
    ) throws -> MessageVerifier {
        let key = try SignatureKey(pem: Secret(pem))
        return MessageVerifier(requiring: components, now: { date }) { _ in key }
    }

    private func failure(
        _ request: HTTPRequest, _ verifier: MessageVerifier
    ) async -> HTTPAuthentication.Failure? {
        await #expect(throws: HTTPAuthentication.Failure.self) { try await verifier.verify(request) }
    }

    @Test func `the HMAC of B.2.5 is computed`() async throws {
        let key = try SignatureKey(jwk: Secret(RFC9421.sharedJWK))
        let signature = MessageSignature(
            key: key, keyID: "test-shared-secret", label: "sig-b25", components: ["date", "@authority", "content-type"])
        let headers = try await signed(RFC9421.request(), by: signature).headers
        #expect(
            headers["Signature-Input"]
                == #"sig-b25=("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret""#)
        #expect(headers["Signature"] == "sig-b25=:pxcQw6G3AjtMBQjwo8XzkZf/bws5LelbaMk5rGIGtE8=:")
    }

    @Test(arguments: [true, false]) func `the Ed25519 signature of B.2.6 is computed and verified`(isPEM: Bool)
        async throws
    {
        let key = try isPEM ? SignatureKey(pem: Secret(RFC9421.edPrivate)) : SignatureKey(jwk: Secret(RFC9421.edJWK))
        let signature = MessageSignature(
            key: key, keyID: "test-key-ed25519", label: "sig-b26",
            components: ["date", "@method", "@path", "@authority", "content-type", "content-length"])
        let request = try await signed(RFC9421.request(), by: signature)
        #expect(
            request.headers["Signature"]
                == "sig-b26=:wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==:")
        let claims = try await verifier(RFC9421.edPublic).verify(request)
        #expect(claims.label == "sig-b26" && claims.keyID == "test-key-ed25519" && claims.created == RFC9421.date)
    }

    @Test func `the response of B.2.4 is verified`() async throws {
        let claims = try await verifier(RFC9421.p256Public, requiring: ["@status", "content-digest"])
            .verify(RFC9421.response())
        #expect(claims.label == "sig-b24" && claims.keyID == "test-key-ecc-p256")
    }

    @Test func `the response of 2.4 is verified, which covers its request`() async throws {
        let claims = try await verifier(RFC9421.p256Public, requiring: [.ofRequest("@path"), "content-digest"])
            .verify(RFC9421.boundResponse())
        #expect(claims.label == "reqres")
        var response = try RFC9421.boundResponse()
        response.request.path = "/bar"
        let (verifier, changed) = (try verifier(RFC9421.p256Public), response)
        let failure = await #expect(throws: HTTPAuthentication.Failure.self) { try await verifier.verify(changed) }
        #expect(failure?.reason == .invalidSignature)
    }

    @Test func `a client accepts only signed responses with a verifier among its validators`() async throws {
        let mock = MockLoader()
            .then { request in
                var response = try RFC9421.response()
                response.request = request
                return response
            }
            .then { HTTPResponse(request: $0, status: .ok) }
        let client = HTTPClient(validators: [try verifier(RFC9421.p256Public)], transport: mock)
        #expect(try await client.send(HTTPRequest("https://example.com/")).status == .ok)
        let error = await TestKit.failure { try await client.send(HTTPRequest("https://example.com/")) }
        #expect(error?.code == .validationFailed)
        #expect((error?.underlying as? HTTPAuthentication.Failure)?.reason == .missingSignature)
    }

    @Test func `the proxy's signature of B.3 is verified`() async throws {
        #expect(try await verifier(RFC9421.p256Public).verify(RFC9421.proxied()).label == "ttrp")
    }

    static let harmless: [@Sendable (inout HTTPRequest) -> Void] = [
        { _ in }, { $0.headers["Accept-Language"] = "en-US,en;q=0.5" }, { $0.query["param"] = "added" },
        { $0.headers["Accept"] = "application/json, */*" }, { $0.headers["Date"] = nil },
    ]

    @Test(arguments: harmless.indices) func `a transformation of B.4 keeps the signature valid`(index: Int) async throws
    {
        var request = try RFC9421.transformed()
        Self.harmless[index](&request)
        #expect(try await verifier(RFC9421.edPublic).verify(request).label == "transform")
    }

    static let harmful: [@Sendable (inout HTTPRequest) -> Void] = [
        { $0.method = .post }, { $0.headers["Host"] = "example.com" }, { $0.path = "/other" },
        { $0.headers["Accept"] = "*/*, application/json" }, { $0.headers["Accept"] = "application/json" },
        { $0.headers["Signature"] = "transform=:AAAA:" }, { $0.headers["Signature"] = "other=:AAAA:" },
        { $0.headers["Signature"] = "transform" },
        { $0.headers["Signature-Input"] = #"transform=("@method" "x-none");created=1618884473"# },
        { $0.headers["Signature-Input"] = #"transform=("@method" "@method");created=1618884473"# },
        { $0.headers["Signature-Input"] = #"transform=("@method";tr);created=1618884473"# },
        { $0.headers["Signature-Input"] = #"transform=("@method""# },
        { $0.headers["Signature-Input"] = #"transform=("@method" "@path" "@authority" "accept")"# },
    ]

    @Test(arguments: harmful.indices) func `another change, and malformed fields, are refused`(index: Int) async throws
    {
        var request = try RFC9421.transformed()
        Self.harmful[index](&request)
        let failure = await failure(request, try verifier(RFC9421.edPublic))
        #expect(failure?.reason == .invalidSignature || failure?.reason == .malformed)
    }

    @Test func `a signature must cover what is required`() async throws {
        let failure = await failure(
            try RFC9421.transformed(), try verifier(RFC9421.edPublic, requiring: ["@method", "date"]))
        #expect(failure?.message == #"the signature doesn't cover "date""#)
    }

    @Test(arguments: [-61.0, 361]) func `a signature from the future or the past is refused`(age: Double) async throws {
        let verifier = try verifier(RFC9421.edPublic, at: RFC9421.date.addingTimeInterval(age))
        #expect(await failure(try RFC9421.transformed(), verifier)?.reason == .invalidSignature)
    }

    @Test func `the lifetime ends before the greatest age`() async throws {
        let key = try SignatureKey(pem: Secret(RFC9421.edPrivate))
        let request = try await signed(
            RFC9421.request(), by: MessageSignature(key: key, components: ["@method"], lifetime: .seconds(60)))
        let late = try verifier(RFC9421.edPublic, at: RFC9421.date.addingTimeInterval(60))
        #expect(await failure(request, late)?.reason == .invalidSignature)
        try await verifier(RFC9421.edPublic, at: RFC9421.date.addingTimeInterval(59)).verify(request)
    }

    @Test func `a missing digest is added, and all parameters are written`() async throws {
        var request = try RFC9421.request()
        request.headers["Content-Digest"] = nil
        let signature = MessageSignature(
            key: try SignatureKey(pem: Secret(RFC9421.p256Private)), keyID: "k", lifetime: .seconds(60), tag: "app",
            nonce: { "n" }, namesAlgorithm: true)
        let sent = try await signed(request, by: signature)
        #expect(sent.headers["Content-Digest"] == "sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:")
        let parameters =
            #";created=1618884473;expires=1618884533;keyid="k";alg="ecdsa-p256-sha256";nonce="n";tag="app""#
        #expect(sent.headers["Signature-Input"] == #"sig1=("@method" "@target-uri" "content-digest")"# + parameters)
        let claims = try await verifier(RFC9421.p256Public, requiring: ["content-digest"]).verify(sent)
        #expect(claims.nonce == "n" && claims.tag == "app" && claims.algorithm == "ecdsa-p256-sha256")
    }

    @Test func `without a body, a digest isn't covered`() async throws {
        let signature = MessageSignature(key: try .hmac([1]))
        let sent = try await signed(HTTPRequest("https://example.org/"), by: signature)
        #expect(sent.headers["Signature-Input"] == #"sig1=("@method" "@target-uri");created=1618884473"#)
        #expect(sent.headers["Content-Digest"] == nil)
    }

    @Test func `a second signature covers the first`() async throws {
        let first = MessageSignature(key: try SignatureKey(pem: Secret(RFC9421.edPrivate)), keyID: "one", label: "a")
        let second = MessageSignature(
            key: try .hmac([1]), keyID: "two", label: "b", components: [.member("a", of: "signature")])
        let signer = MessageSigner(first, second, now: { RFC9421.date })
        let sent = try await signed(RFC9421.request(), by: signer)
        let verifier = MessageVerifier(requiring: [.member("a", of: "Signature")], now: { RFC9421.date }) { claims in
            claims.keyID == "two" ? try .hmac([1]) : nil
        }
        #expect(try await verifier.verify(sent).label == "b")
    }

    @Test func `two signatures can't have one label`() async throws {
        let signer = MessageSigner(
            MessageSignature(key: try .hmac([1])), MessageSignature(key: try .hmac([2])), now: { RFC9421.date })
        let failure = await #expect(throws: HTTPAuthentication.Failure.self) {
            try await signed(RFC9421.request(), by: signer)
        }
        #expect(failure?.message == "the message already has a signature with the label sig1")
    }

    @Test(
        arguments: [
            ("@method", "POST"), ("@target-uri", "https://example.com/foo?param=Value&Pet=dog"),
            ("@authority", "example.com"), ("@scheme", "https"), ("@request-target", "/foo?param=Value&Pet=dog"),
            ("@path", "/foo"), ("@query", "?param=Value&Pet=dog"), ("content-length", "18"), ("host", "example.com"),
            ("content-type", "application/json"), ("@status", nil), ("x-none", nil),
        ] as [(MessageComponent, String?)])
    func `a component has its value`(component: MessageComponent, value: String?) throws {
        #expect(component.value(in: try RFC9421.request(), nil) == value)
    }

    @Test(
        arguments: [("a", "1"), ("b", "2;x=1;y=2"), ("c", "(a b c)"), ("d", "?1"), ("e", nil)] as [(String, String?)])
    func `a dictionary's member is serialized as in RFC 9421, 2.1.2`(key: String, value: String?) throws {
        var request = try RFC9421.request()
        request.headers["Example-Dict"] = "a=1,    b=2;x=1;y=2,   c=(a   b    c), d"
        #expect(MessageComponent.member(key, of: "Example-Dict").value(in: request, nil) == value)
    }

    @Test(
        arguments: [
            ("https://Example.com", nil, "example.com"), ("https://example.com", "Example.com:443", "example.com"),
            ("http://example.com:8080", nil, "example.com:8080"), ("http://[::1]:80", nil, "[::1]"),
        ] as [(String, String?, String)])
    func `an authority has no default port`(url: String, host: String?, value: String) throws {
        var request = try HTTPRequest(url)
        request.headers[.host] = host
        #expect(MessageComponent("@authority").value(in: request, nil) == value)
        #expect(MessageComponent("@target-uri").value(in: request, nil)?.hasSuffix("://\(value)/") == true)
    }

    @Test(arguments: [(HTTPMethod.get, nil), (.post, "0")] as [(HTTPMethod, String?)])
    func `a length is covered only if it is sent`(method: HTTPMethod, value: String?) throws {
        let request = try HTTPRequest(method: method, "https://example.com/")
        #expect(MessageComponent("content-length").value(in: request, nil) == value)
    }

    @Test func `query parameters are escaped as in RFC 9421, 2.2.8`() throws {
        let request = try HTTPRequest(
            "https://www.example.com/parameters?var=this%20is%20a%20big%0Amultiline%20value&"
                + "bar=with+plus+whitespace&fa%C3%A7ade%22%3A%20=something&twice=1&twice=2")
        #expect(
            MessageComponent.queryParameter("var").value(in: request, nil) == "this%20is%20a%20big%0Amultiline%20value")
        #expect(MessageComponent.queryParameter("bar").value(in: request, nil) == "with%20plus%20whitespace")
        let odd = MessageComponent.queryParameter("fa\u{E7}ade\": ")
        #expect(
            odd.text == #""@query-param";name="fa%C3%A7ade%22%3A%20""# && odd.value(in: request, nil) == "something")
        #expect(MessageComponent.queryParameter("twice").value(in: request, nil) == nil)
    }

    @Test func `a response's signature covers its request`() throws {
        let component = MessageComponent.ofRequest(.queryParameter("Pet"))
        #expect(component.text == #""@query-param";name="Pet";req"#)
        let response = try RFC9421.response()
        #expect(component.value(in: response.request, response) == "dog")
        #expect(MessageComponent("@status").value(in: response.request, response) == "200")
        #expect(MessageComponent("@method").value(in: response.request, response) == nil)
    }
}

@Suite struct SignatureKeyTests {
    @Test func `PEM and JWK contain the same keys`() throws {
        let p256 = try SignatureKey(jwk: Secret(RFC9421.p256JWK))
        #expect(try SignatureKey(pem: Secret(RFC9421.p256Public)).publicJWK == p256.publicJWK)
        #expect(try SignatureKey(pem: Secret(RFC9421.p256Private)).publicJWK == p256.publicJWK)
        let ed = try SignatureKey(jwk: Secret(RFC9421.edJWK))
        #expect(try SignatureKey(pem: Secret(RFC9421.edPublic)).publicJWK == ed.publicJWK)
        #expect(try SignatureKey.hmac([1]).publicJWK == nil)
    }

    @Test func `a name in a JWK has at most 30 consecutive combining characters`() throws {
        func key(_ count: Int) throws -> SignatureKey {
            let name = "a" + String(repeating: "\u{301}", count: count)
            return try SignatureKey(jwk: Secret(#"{"kty":"oct","k":"AQ","\#(name)":1}"#))
        }
        _ = try key(30)
        #expect(throws: HTTPAuthentication.Failure.self) { try key(31) }
    }

    @Test func `a key in PKCS #8 is the same as in the older form of OpenSSL`() throws {
        let key = try SignatureKey(
            pem: """
                -----BEGIN PRIVATE KEY-----
                MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgUpuF81l+kOxbjf7T
                4mNSv0r5tN67Gim7rnf6EFpcYDuhRANCAASohVhlUsKs9kcYeM/XsJNbT/4P0t/D
                QSSOoXvEHgWK8DHOJzfS0wzgYX6FHoPGHvVnnRUYZ2V2SQNdkKdM2ehd
                -----END PRIVATE KEY-----
                """)
        #expect(try key.publicJWK == SignatureKey(pem: Secret(RFC9421.p256Private)).publicJWK)
    }

    /// RFC 8410, 10.3.
    @Test func `a key with attributes and its public key is read`() throws {
        let key = try SignatureKey(
            pem: """
                -----BEGIN PRIVATE KEY-----
                MHICAQEwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC
                oB8wHQYKKoZIhvcNAQkJFDEPDA1DdXJkbGUgQ2hhaXJzgSEAGb9ECWmEzf6FQbrB
                Z9w7lshQhqowtrbLDFw4rXAxZuE=
                -----END PRIVATE KEY-----
                """)
        #expect(
            key.publicJWK == #"{"crv":"Ed25519","kty":"OKP","x":"Gb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE"}"#)
    }

    /// RFC 8037, A.3.
    @Test func `a thumbprint is the one of the RFC`() throws {
        let key = try SignatureKey(
            jwk: #"{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#)
        #expect(key.thumbprint == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k")
    }

    @Test(arguments: [SignatureKey.Algorithm.hmacSHA256, .ed25519, .ecdsaP256SHA256])
    func `a new key signs and verifies`(algorithm: SignatureKey.Algorithm) async throws {
        let key = try SignatureKey.generated(algorithm)
        let signature = try await key.sign([1, 2, 3])
        #expect(signature.count == (algorithm == .hmacSHA256 ? 32 : 64))
        #expect(try key.verifies(signature, of: [1, 2, 3]))
        #expect(try !key.verifies(signature, of: [1, 2]))
        #expect(try !key.verifies([], of: [1, 2, 3]))
    }

    @Test func `a public key can't sign, unless a closure does`() async throws {
        let key = try SignatureKey(pem: Secret(RFC9421.edPublic))
        await #expect(throws: HTTPAuthentication.Failure.self) { try await key.sign([1]) }
        let hardware = try SignatureKey(pem: Secret(RFC9421.edPrivate))
        let signature = try await key.signing { try await hardware.sign($0) }.sign([1])
        #expect(try key.verifies(signature, of: [1]))
    }

    private static let compressed = """
        -----BEGIN PUBLIC KEY-----
        MDkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDIgADqIVYZVLCrPZHGHjP17CTW0/+D9Lf
        w0EkjqF7xB4FivA=
        -----END PUBLIC KEY-----
        """

    @Test(arguments: [
        "", "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----",
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMAA=\n-----END ENCRYPTED PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nMIL//w==\n-----END PRIVATE KEY-----",
        RFC9421.p256Public.replacingOccurrences(of: "noXQ==", with: "noXA=="),
        RFC9421.edPublic.replacingOccurrences(of: "MCowBQYDK2Vw", with: "MCowBQYDK2Vv"), compressed,
        RFC9421.edPublic.replacingOccurrences(of: "BEGIN PUBLIC", with: "BEGIN PRIVATE"),
    ]) func `malformed PEM is refused`(text: String) {
        #expect(throws: HTTPAuthentication.Failure.self) { try SignatureKey(pem: Secret(text)) }
    }

    @Test(arguments: [
        "", "{}", "[]", #"{"kty":"RSA","n":"AQAB","e":"AQAB"}"#, #"{"kty":"oct","k":""}"#, #"{"kty":"OKP"}"#,
        #"{"kty":"OKP","crv":"Ed25519","x":"AAAA"}"#, #"{"kty":"EC","crv":"P-256","x":"AAAA"}"#,
        p256(d: [UInt8](repeating: 0, count: 32)), p256(d: order), p256(d: [UInt8](repeating: 0xFF, count: 32)),
    ]) func `a malformed JSON Web Key is refused`(text: String) {
        #expect(throws: HTTPAuthentication.Failure.self) { try SignatureKey(jwk: Secret(text)) }
    }

    private static let order = Array(Data(base64Encoded: "/////wAAAAD//////////7zm+q2nF56E87nKwvxjJVE=") ?? Data())

    private static func p256(d: [UInt8]) -> String {
        #"{"kty":"EC","crv":"P-256","x":"","y":"","d":"\#(RandomBytes.base64URL(d))"}"#
    }

    @Test func `the largest and the smallest private key of P-256 are read`() async throws {
        for d in [Self.order.dropLast() + [0x50], [UInt8](repeating: 0, count: 31) + [1]] {
            let key = try SignatureKey(jwk: Secret(Self.p256(d: Array(d))))
            #expect(try await key.verifies(key.sign([1]), of: [1]) && key.publicJWK?.contains("P-256") == true)
        }
    }

    /// The 8 points whose order divides 8, and all ways to write them.
    @Test(arguments: [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0000000000000000000000000000000000000000000000000000000000000080",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000080",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
    ]) func `a public key of small order is refused`(text: String) throws {
        let bytes = stride(from: 0, to: 64, by: 2).compactMap { UInt8(text.dropFirst($0).prefix(2), radix: 16) }
        let x = RandomBytes.base64URL(bytes)
        let error = #expect(throws: HTTPAuthentication.Failure.self) {
            try SignatureKey(jwk: Secret(#"{"kty":"OKP","crv":"Ed25519","x":"\#(x)"}"#))
        }
        #expect(error?.message == "the public key has a small order, so one signature would fit many messages")
    }

    @Test func `an empty shared secret is refused`() {
        #expect(throws: HTTPAuthentication.Failure.self) { try SignatureKey.hmac([]) }
    }

    @Test func `a private key isn't printed`() throws {
        let key = try SignatureKey(jwk: Secret(RFC9421.edJWK))
        var text = "\(key)"
        dump(key, to: &text)
        #expect(text.hasPrefix("SignatureKey(ed25519)") && !text.contains("n4Ni") && text.utf8.count < 200)
    }
}

@Suite struct HashTests {
    private func digits(_ bytes: [UInt8]) -> String { Hexadecimal.text(bytes) }

    @Test(arguments: [
        (3, "d6f644b19812e97b5d871658d6d3400ecd4787faeb9b8990c1e7608288664be7"),
        (111, "fa9121c7b32b9e01733d034cfc78cbf67f926c7ed83e82200ef8681819692176"),
        (112, "c01d080efd492776a1c43bd23dd99d0a2e626d481e16782e75d54c2503b5dc32"),
        (240, "4c296d90c61052a62ffb1dd196f1b7b09373b1f93e71836baebf89690546b759"),
    ]) func `SHA-512 pads around the end of a block`(count: Int, hash: String) {
        #expect(digits(SHA512Hash.hash([UInt8](repeating: 97, count: count))).hasPrefix(hash))
    }

    /// FIPS 180-4's examples.
    @Test func `SHA-512-256 has the values of its examples`() {
        #expect(
            digits(SHA512Hash.shortHash(Array("abc".utf8)))
                == "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23")
    }

    /// RFC 4231, 4.3 and 4.7.
    @Test func `HMAC has the values of RFC 4231`() {
        #expect(
            digits(HMAC.sha256("what do ya want for nothing?", key: Array("Jefe".utf8)))
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        let text = "Test Using Larger Than Block-Size Key - Hash Key First"
        #expect(
            digits(HMAC.sha256(text, key: [UInt8](repeating: 0xAA, count: 131)))
                == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
    }
}
