// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
@testable import LetterheadSigning
import LetterheadTesting
import TestKit
import Testing

/// Proofs with values from RFC 7616, from RFC 2617, or from another implementation.
@Suite struct DigestProofTests {
    struct Vector: Sendable, CustomTestStringConvertible {
        let testDescription: String
        var user = "Mufasa"
        var password: Secret = "Circle of Life"
        let challenges: [String]
        var clientNonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
        var url = "https://www.example.org/dir/index.html"
        var method: HTTPMethod?
        var body: String?
        /// What the credentials contain.
        let expected: [String]
        var unexpected: [String] = []
    }

    private static let rfc7616 =
        #" qop="auth, auth-int", nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", "#
        + #"opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS""#
    private static let other = "https://a.example/a%20b?q=%C3%A9&x"

    static let vectors =
        [
            Vector(
                testDescription: "RFC 7616, 3.9.1, MD5",
                challenges: [#"Digest realm="http-auth@example.org", algorithm=MD5,"# + rfc7616],
                expected: [
                    #"username="Mufasa""#, #"realm="http-auth@example.org""#, #"uri="/dir/index.html""#,
                    "algorithm=MD5", #"nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v""#, "nc=00000001",
                    "qop=auth", #"cnonce="f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ""#,
                    #"response="8ca523f5e9506fed4657c9700eebdbec""#,
                    #"opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS""#,
                ]),
            Vector(
                testDescription: "RFC 7616, 3.9.1, SHA-256, the stronger one of two challenges",
                challenges: [
                    #"Digest realm="http-auth@example.org", algorithm=MD5,"# + rfc7616,
                    #"Digest realm="http-auth@example.org", algorithm=SHA-256,"# + rfc7616,
                ],
                expected: [
                    "algorithm=SHA-256",
                    #"response="753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1""#,
                ]),
            Vector(
                testDescription: "RFC 2617, 3.5, without an algorithm", password: "Circle Of Life",
                challenges: [
                    #"Digest realm="testrealm@host.com", qop="auth,auth-int", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", "#
                        + #"opaque="5ccc069c403ebaf9f0171e9517f40e41""#
                ], clientNonce: "0a4f113b",
                expected: [#"response="6629fae49393a05397450978507c4ef1""#, #"cnonce="0a4f113b""#],
                unexpected: ["algorithm"]),
            Vector(
                testDescription: "RFC 2069, without protection", challenges: [#"Digest realm=r, nonce=n0nce"#],
                url: other,
                expected: [#"response="638035076283c784f71a1e6fede18fc2""#, #"uri="/a%20b?q=%C3%A9&x""#],
                unexpected: ["qop", "nc=", "cnonce"]),
            Vector(
                testDescription: "MD5-sess",
                challenges: [#"Digest realm=r, nonce=n0nce, qop=auth, algorithm=MD5-sess"#],
                url: other, expected: [#"response="e5af231e3ede18b02cd417d27af317fb""#, "algorithm=MD5-sess"]),
            Vector(
                testDescription: "SHA-256-sess, which is compared without case",
                challenges: [#"digest Realm=r, NONCE=n0nce, qop="AUTH", algorithm=sha-256-SESS"#], url: other,
                expected: [#"response="628472f6dc024d925c7b78bfdc31840c09baf16443ad9f2f916d47ff08de24e2""#]),
            Vector(
                testDescription: "auth-int with a body", challenges: [#"Digest realm=r, nonce=n0nce, qop="auth-int""#],
                url: other, body: "a=1&b=2",
                expected: [#"response="7da6bf59ddd6e752765dc49bd2e69e85""#, "qop=auth-int"]),
            Vector(
                testDescription: "auth-int without a body",
                challenges: [#"Digest realm=r, nonce=n0nce, qop="x, auth-int", algorithm="SHA-256""#], url: other,
                expected: [#"response="10467baf4c1aa591ff722d583ad48bf6b8c8eb21a240397b306730b541269803""#]),
            Vector(
                testDescription: "auth-int in a session",
                challenges: [#"Digest realm=r, nonce=n0nce, qop="auth-int", algorithm=SHA-256-sess"#], url: other,
                body: "a=1&b=2",
                expected: [#"response="6bf7f105be0ed10c532a8813fea9f68d14dda36885235b745f8cd7e3fe75ac22""#]),
            Vector(
                testDescription: "a hashed username", user: "J\u{E4}s\u{F8}n Doe", password: "Secret, or not?",
                challenges: [
                    #"Digest realm="api@example.org", qop="auth", algorithm=SHA-256, charset=UTF-8, userhash=true, "#
                        + #"nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK""#
                ], clientNonce: "NTg6RKcb9boFIAS3KrFK9BGeh+niz/sm", url: "https://api.example.org/doe.json",
                expected: [
                    #"username="5a1a8a47df5c298551b9b42ba9b05835174a5bd7d511ff7fe9191d8e946fc4e7""#, "userhash=true",
                    #"response="06d0c14162099f487a92ebceaf71097534ee5f90d858386449c337ab69f7f6b8""#,
                ]),
            // RFC 7616, 3.9.2 has other values, which belong to a truncated SHA-512.
            Vector(
                testDescription: "SHA-512-256, the strongest of two challenges", user: "J\u{E4}s\u{F8}n Doe",
                password: "Secret, or not?",
                challenges: [
                    #"Digest realm="api@example.org", algorithm=SHA-256, nonce="5TsQ""#,
                    #"Digest realm="api@example.org", qop="auth", algorithm=SHA-512-256, charset=UTF-8, userhash=true, "#
                        + #"nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK""#,
                ], clientNonce: "NTg6RKcb9boFIAS3KrFK9BGeh+niz/sm", url: "https://api.example.org/doe.json",
                expected: [
                    #"username="793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b""#,
                    "algorithm=SHA-512-256",
                    #"response="7a4e1192babbba02e91182d2895bfdbf7adafc6e48d4e517ca301974843d840c""#,
                ]),
            Vector(
                testDescription: "quotation marks and backslashes", user: #"q"uo\te"#, password: #"p"w"#,
                challenges: [#"Digest realm="re\"al\\m", nonce=n0nce, qop=auth, opaque="o\"""#],
                url: "https://a.example",
                expected: [
                    #"response="be8390dcd06dfc878ba03f330aae709f""#, #"username="q\"uo\\te""#, #"realm="re\"al\\m""#,
                    #"opaque="o\"""#, #"uri="/""#,
                ]),
        ] + composed

    /// What needs the characters of Unicode in their composed form.
    private static var composed: [Vector] {
        #if Foundation || canImport(Darwin)
            [
                Vector(
                    testDescription: "a decomposed username in the extended form", user: "Ja\u{308}s\u{F8}n Doe",
                    password: "Secret, or not?",
                    challenges: [
                        #"Digest realm="api@example.org", qop="auth", algorithm=SHA-256, charset=UTF-8, "#
                            + #"nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK""#
                    ], clientNonce: "NTg6RKcb9boFIAS3KrFK9BGeh+niz/sm", url: "https://api.example.org/doe.json",
                    expected: [
                        "username*=UTF-8''J%C3%A4s%C3%B8n%20Doe",
                        #"response="06d0c14162099f487a92ebceaf71097534ee5f90d858386449c337ab69f7f6b8""#,
                    ], unexpected: ["username=", "userhash"])
            ]
        #else
            []
        #endif
    }

    @Test(arguments: vectors + curlVectors)
    func `the proof for a challenge is the expected one`(vector: Vector) async throws {
        let clientNonce = try #require(Data(base64Encoded: vector.clientNonce))
        let digest = HTTPAuthentication.digest(user: vector.user, password: vector.password) { _ in Array(clientNonce) }
        let mock = MockLoader { request in
            guard request.headers[.authorization] == nil else { return .ok(request) }
            let fields = vector.challenges.map { HTTPHeaders.Field(.wwwAuthenticate, $0) }
            return HTTPResponse(request: request, status: 401, headers: HTTPHeaders(fields))
        }
        var request = try HTTPRequest(vector.url)
        request.authentication = digest
        if let body = vector.body { (request.method, request.body) = (.post, TextBody(body)) }
        if let method = vector.method { request.method = method }
        #expect(try await HTTPClient(transport: mock).send(request).status == .ok)
        let credentials = try #require(mock.requests.last?.headers[.authorization])
        let parameters = HTTPResponse(request: request, status: 401, headers: ["WWW-Authenticate": credentials])
        #expect(
            parameters.challenges.first?.hasScheme("Digest") == true, "the credentials have the form of a challenge")
        for text in vector.expected {
            #expect(("\(credentials),").contains(" \(text),"))
        }
        for text in vector.unexpected { #expect(!credentials.contains(text)) }
    }

    @Test(arguments: [
        "Basic realm=r", "Digest realm=r, nonce=n, algorithm=SHA3-256", "Digest realm=r, nonce=n, qop=other",
        "Digest nonce=n", "Digest realm=r", "Negotiate",
    ]) func `the 401 of a server with no challenge that can be met is returned`(challenge: String) async throws {
        let mock = MockLoader { HTTPResponse(request: $0, status: 401, headers: ["WWW-Authenticate": challenge]) }
        var request = try HTTPRequest("https://a.example/")
        request.authentication = .digest(user: "u", password: "p")
        let error = await failure { [request] in try await HTTPClient(transport: mock).send(request) }
        #expect(error?.code == .unacceptableStatus && error?.response?.status == 401)
        #expect(mock.requests.map { $0.headers[.authorization] } == [nil])
    }
}
