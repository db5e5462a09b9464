// SPDX-License-Identifier: MIT
import Letterhead
import Testing

@Suite struct HTTPChallengeTests {
    @Test(arguments: [
        (#"Basic realm="simple""#, [#"Basic realm=simple"#]),
        (
            #"Newauth realm="apps", type=1, title="Login to \"apps\"", Basic realm="simple""#,
            [#"Newauth realm=apps type=1 title=Login to "apps""#, "Basic realm=simple"]
        ),
        (#"Digest realm="a, Basic b=c", nonce="x\\y""#, [#"Digest realm=a, Basic b=c nonce=x\y"#]),
        ("Negotiate", ["Negotiate"]), ("Negotiate YII+/~._-==", ["Negotiate(YII+/~._-==)"]),
        ("Negotiate a , NTLM ,, Basic realm=x", ["Negotiate(a)", "NTLM", "Basic realm=x"]),
        ("NTLM\t,Negotiate", ["NTLM", "Negotiate"]), (",, Basic \t REALM \t=\t\"x\" , , a=b ,", ["Basic realm=x a=b"]),
        ("Bearer realm=https://a.example/t?x=1,service=\"s\"", ["Bearer realm=https://a.example/t?x=1 service=s"]),
        ("Digest nonce=YQ==, opaque=, algorithm=MD5", ["Digest nonce=YQ== opaque= algorithm=MD5"]),
        (#"Digest realm="a" nonce="b" Basic realm="c""#, ["Digest realm=a nonce=b", "Basic realm=c"]),
        (#"Basic realm="Über""#, ["Basic realm=Über"]), (#"Basic realm="x", realm="y""#, ["Basic realm=x realm=y"]),
        ("", []), (" ,\t,", []),
    ]) func `challenges are separated from parameters, tokens and the text of quoted strings`(
        field: String, expected: [String]
    ) { #expect(shown(fields: [field]) == expected) }

    @Test(arguments: [
        #"Digest realm="x"#, #"Digest realm="x\"#, #"Digest realm="x\""#, #"Digest a="b", realm="x"#,
        "Digest realm=a\"b", "Digest \"a\"", "Digest a=b, =c", "=a",
        #"Digest realm="my"realm""#, #"Digest realm="my"realm", nonce="n""#, #"Digest a=b, realm="x"nonce=n"#,
        #"Digest realm="x"é"#, "Digest=a", "Digest;a=b", "@", "Dig\u{E9}st a=b", "Digest a=\"\u{7F}\"",
    ]) func `a malformed challenge hides neither those before it nor those of other fields`(malformed: String) {
        #expect(
            shown(fields: [#"Basic realm="a", Negotiate a, "# + malformed, "Bearer a=b"])
                == ["Basic realm=a", "Negotiate(a)", "Bearer a=b"])
    }

    @Test func `schemes and names of parameters are compared without case`() throws {
        let response = response(401, ["WWW-Authenticate": "bEARER Scope=\"A\""])
        let challenge = try #require(response.challenges.first)
        #expect(challenge.hasScheme("Bearer") && !challenge.hasScheme("Bear"))
        #expect(challenge.scheme == "bEARER" && challenge["SCOPE"] == "A" && challenge["realm"] == nil)
        let same = self.response(401, ["WWW-Authenticate": "Bearer scope=A"]).challenges
        let other = self.response(401, ["WWW-Authenticate": "Bearer scope=a"]).challenges
        #expect(Set([challenge]) == Set(same) && same != other)
    }

    @Test func `the challenges of a proxy are those of a 407, and any other status has those of the server`() {
        let headers: HTTPHeaders = ["WWW-Authenticate": "Basic realm=a", "Proxy-Authenticate": "Basic realm=b"]
        #expect(response(407, headers).challenges.map { $0["realm"] } == ["b"])
        #expect(response(401, headers).challenges.map { $0["realm"] } == ["a"])
        #expect(response(200, headers).challenges.map { $0["realm"] } == ["a"])
        #expect(response(401, [:]).challenges.isEmpty)
    }

    private func response(_ status: HTTPStatus, _ headers: HTTPHeaders) -> HTTPResponse {
        HTTPResponse(request: HTTPRequest(), status: status, headers: headers)
    }

    private func shown(fields: [String]) -> [String] {
        let headers = HTTPHeaders(fields.map { HTTPHeaders.Field(.wwwAuthenticate, $0) })
        return response(401, headers).challenges.map { challenge in
            challenge.scheme + (challenge.token.map { "(\($0))" } ?? "")
                + challenge.parameters.map { " \($0.name)=\($0.value)" }.joined()
        }
    }
}
