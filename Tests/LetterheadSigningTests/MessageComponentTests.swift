// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
@testable import LetterheadSigning
import TestKit
import Testing

/// Fields as components, with the values of RFC 9421, 2.1.
@Suite struct MessageComponentTests {
    private func request(_ name: HTTPHeaders.Name, _ lines: String...) throws -> HTTPRequest {
        var request = try HTTPRequest("https://www.example.com/")
        for line in lines { request.headers.append(name, line) }
        return request
    }

    @Test func `a structured field is serialized strictly as in 2.1.1`() throws {
        let request = try request("Example-Dict", "a=1,    b=2;x=1;y=2,   c=(a   b   c)")
        let component = MessageComponent.structured("Example-Dict")
        #expect(component.text == #""example-dict";sf"#)
        #expect(component.value(in: request, nil) == "a=1, b=2;x=1;y=2, c=(a b c)")
        #expect(
            MessageComponent("example-dict").value(in: request, nil) == "a=1,    b=2;x=1;y=2,   c=(a   b   c)")
    }

    @Test(
        arguments: [
            ("a , b;q=0.50 ,\t(c  d);x", "a, b;q=0.5, (c d);x"), ("a=?1, b=?1;x=?1, c=?0", "a, b;x, c=?0"),
            ("007", "7"), ("-0", "0"), ("1.0", "1.0"), ("-12.250;a", "-12.25;a"), ("@1659578233", "@1659578233"),
            (#""a\"b" ;x="y""#, nil), (#""a\"b"; x="y""#, #""a\"b";x="y""#), (":aGk=:", ":aGk=:"),
            ("text/html;q=1.0, */*:a", "text/html;q=1.0, */*:a"), ("a, a", "a, a"), ("()", "()"), ("", nil),
            ("a,", nil), ("a b", nil), ("(a", nil), ("a=", nil), (#""a"#, nil), (":a", nil), ("a;", nil), ("1=2", nil),
            ("A=2", nil), ("a=?10", nil), ("a=1, b=2;y, a=3", "a=3, b=2;y"), ("a;x=1;y;x=2", "a;x=2;y"), ("a=1e1", nil),
            ("a=0xA", nil), ("1.", nil), ("1.2345", nil), ("1.2.3", nil), ("-inf", nil), ("1234567890123456", nil),
            ("123456789012345", "123456789012345"), ("?2", nil), ("/x", nil), ("a;X=1", nil), (":a b!:", nil),
            (#"("a""b")"#, nil), (#"a=1, "x""#, nil),
        ] as [(String, String?)])
    func `any structured field has one form`(line: String, value: String?) throws {
        #expect(try MessageComponent.structured("x-a").value(in: request("X-A", line), nil) == value)
    }

    @Test(arguments: 0..<8 as Range<UInt64>) func `the strict form of a strict form is the same`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var count = 0
        for _ in 0..<2_000 {
            let text = (0..<Int.random(in: 1...8, using: &random)).compactMap { _ in
                ["a", "b=", "1", "0.50", ";", "=", ",", " ", "(", ")", ":aGk=:", "\"x\"", "?1", "-", "@"].randomElement(
                    using: &random)
            }.joined()
            guard let strict = StructuredValue.strict([text]) else { continue }
            count += 1
            #expect(StructuredValue.strict([strict]) == strict, "\(text)")
        }
        #expect(count > 100)
    }

    @Test func `the lines of a structured field are joined`() throws {
        #expect(try MessageComponent.structured("x-a").value(in: request("X-A", "a=1", " b = 2"), nil) == nil)
        #expect(try MessageComponent.structured("x-a").value(in: request("X-A", "a=1", "b"), nil) == "a=1, b")
    }

    @Test func `each line is wrapped as in 2.1.3`() throws {
        let component = MessageComponent.binaryWrapped("Example-Header")
        #expect(component.text == #""example-header";bs"#)
        let lines = try request("Example-Header", "value, with, lots", "of, commas")
        #expect(component.value(in: lines, nil) == ":dmFsdWUsIHdpdGgsIGxvdHM=:, :b2YsIGNvbW1hcw==:")
        #expect(MessageComponent("example-header").value(in: lines, nil) == "value, with, lots, of, commas")
        let line = try request("Example-Header", "value, with, lots, of, commas")
        #expect(component.value(in: line, nil) == ":dmFsdWUsIHdpdGgsIGxvdHMsIG9mLCBjb21tYXM=:")
        #expect(try component.value(in: request("Other", "a"), nil) == nil)
    }

    private func response(trailers: HTTPHeaders) throws -> HTTPResponse {
        var response = HTTPResponse(
            request: try HTTPRequest("https://www.example.com/"), status: 200, headers: ["Trailer": "Expires"],
            body: HTTPResponseBody(Data("HTTPMessageSignatures".utf8)))
        response.trailers = trailers
        return response
    }

    @Test func `a trailer is covered as in 2.1.4`() throws {
        let response = try response(trailers: ["Expires": "Wed, 9 Nov 2022 07:28:00 GMT"])
        let components: [MessageComponent] = ["@status", "trailer", .trailer("expires")]
        let base = try MessageComponent.base(components, parameters: "()", of: response.request, response)
        let expected = """
            "@status": 200
            "trailer": Expires
            "expires";tr: Wed, 9 Nov 2022 07:28:00 GMT
            "@signature-params": ()
            """
        #expect(String(decoding: base, as: UTF8.self) == expected)
        #expect(MessageComponent("expires").value(in: response.request, response) == nil)
        #expect(MessageComponent.trailer("trailer").value(in: response.request, response) == nil)
        #expect(MessageComponent.trailer("expires").value(in: response.request, nil) == nil)
        #expect(MessageComponent.ofRequest(.trailer("expires")).value(in: response.request, response) == nil)
    }

    @Test(arguments: [true, false]) func `a digest in the trailers is compared with the body`(isRight: Bool)
        async throws
    {
        let digest = isRight ? "YYpGwjeNpFzgjb/SFKBOX11xFuzQSCAoGIfRRTBHlkQ=" : "AAAA"
        var response = try response(trailers: ["Content-Digest": "sha-256=:\(digest):"])
        let input = #"("content-digest";tr);created=1618884473"#
        let base = try MessageComponent.base(
            [.trailer("content-digest")], parameters: input, of: response.request, response)
        let signature = Data(HMAC.sha256(base, key: [1])).base64EncodedString()
        response.headers["Signature-Input"] = "a=" + input
        response.headers["Signature"] = "a=:\(signature):"
        let verifier = MessageVerifier(
            requiring: [.trailer("content-digest")], now: { RFC9421.date }
        ) { _ in try .hmac([1]) }
        let sent = response
        if isRight {
            try await verifier.verify(sent)
        } else {
            let failure = await #expect(throws: HTTPAuthentication.Failure.self) { try await verifier.verify(sent) }
            #expect(failure?.message == "the body doesn't match its digest")
        }
    }

    @Test(arguments: [
        #"("@method";sf)"#, #"("@path";bs)"#, #"("@method";tr)"#, #"("x-a";bs;sf)"#, #"("x-a";bs;key="a")"#,
        #"("x-a";sf=?0)"#, #"("x-a";sf=1)"#, #"("x-a";xx)"#,
    ]) func `an identifier that contradicts itself is refused`(input: String) async throws {
        var request = try request("X-A", "a")
        request.headers["Signature-Input"] = "a=\(input);created=1618884473"
        request.headers["Signature"] = "a=:AAAA:"
        let (sent, verifier) = (request, MessageVerifier(requiring: [], now: { RFC9421.date }) { _ in try .hmac([1]) })
        let failure = await #expect(throws: HTTPAuthentication.Failure.self) { try await verifier.verify(sent) }
        #expect(failure?.reason == .malformed)
    }

    @Test(arguments: [MessageComponent.structured("@method"), .binaryWrapped("@path"), .trailer("@status")])
    func `a part of a message isn't signed as a field`(component: MessageComponent) throws {
        #expect(component.value(in: try request("X-A", "a"), nil) == nil)
    }

    @Test func `a signed request with every form is verified`() async throws {
        var request = try request("X-A", "a,  b=01")
        request.headers.append("Set-Cookie", "a=1, 2")
        let signature = MessageSignature(
            key: try .hmac([1]),
            components: [.structured("x-a"), .member("b", of: "x-a"), .binaryWrapped("set-cookie")])
        try await MessageSigner(signature, now: { RFC9421.date }).sign(&request, body: SignedBody())
        #expect(
            request.headers["Signature-Input"]
                == #"sig1=("x-a";sf "x-a";key="b" "set-cookie";bs);created=1618884473"#)
        let verifier = MessageVerifier(
            requiring: [.structured("x-a"), .binaryWrapped("set-cookie")], now: { RFC9421.date }
        ) { _ in try .hmac([1]) }
        request.headers["X-A"] = "a, b=1"
        try await verifier.verify(request)
        request.headers["Set-Cookie"] = "a=1,  2"
        let changed = request
        await #expect(throws: HTTPAuthentication.Failure.self) { try await verifier.verify(changed) }
    }
}

extension MessageComponent {
    func value(in request: HTTPRequest, _ response: HTTPResponse?) -> String? {
        var parts = MessageParts(request, response)
        return value(in: &parts)
    }

    static func base(
        _ components: [MessageComponent], parameters: String, of request: HTTPRequest, _ response: HTTPResponse? = nil
    ) throws -> [UInt8] {
        var parts = MessageParts(request, response)
        return try base(components, parameters: parameters, in: &parts)
    }
}
