// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
@testable import LetterheadSigning
import TestKit
import Testing

/// Messages whose signature is correct for a text that no signer may sign, or that says something else than it seems.
@Suite struct ForgedSignatureTests {
    private static let time = ";created=1618884473"

    private func message(
        _ input: String, over lines: String, _ change: (inout HTTPRequest) -> Void = { _ in }
    ) throws -> HTTPRequest {
        var request = try RFC9421.request()
        let code = HMAC.sha256(lines + "\"@signature-params\": " + input, key: [1])
        request.headers["Signature-Input"] = "s=" + input
        request.headers["Signature"] = "s=:\(Data(code).base64EncodedString()):"
        change(&request)
        return request
    }

    private func verify(_ request: HTTPRequest, requiring components: [MessageComponent] = []) async throws {
        try await MessageVerifier(requiring: components, now: { RFC9421.date }) { _ in try .hmac([1]) }.verify(request)
    }

    private func reason(
        _ request: HTTPRequest, requiring components: [MessageComponent] = []
    ) async -> HTTPAuthentication.Failure.Reason? {
        let failure = await #expect(throws: HTTPAuthentication.Failure.self) {
            try await verify(request, requiring: components)
        }
        return failure?.reason
    }

    @Test(arguments: [
        (#""@method";req"#, "POST"), (#""@method";key="x""#, "POST"), (#""@query-param""#, ""),
        ("content-type", "application/json"),
        (#""content-type";bs=1"#, "application/json"), (#""content-type";name="x""#, "application/json"),
        (#""@signature-params""#, ""), (#""@status""#, "200"), (#""Content-Type""#, "application/json"),
        (#""@Method""#, "POST"), (#""x";key=a"#, "1"), (#""x";sf="?1""#, "a=1"),
    ]) func `an identifier that doesn't fit is refused`(identifier: String, value: String) async throws {
        let request = try message("(\(identifier))" + Self.time, over: "\(identifier): \(value)\n") {
            $0.query.append("", "")
            $0.headers["X"] = "a=1"
        }
        #expect(await reason(request) == .malformed)
    }

    @Test func `a value can't contain another line`() async throws {
        let request = try message(#"("x")"# + Self.time, over: "\"x\": 1\n\"@method\": GET\n") {
            $0.headers["X"] = "1\n\"@method\": GET"
        }
        #expect(await reason(request) == .malformed)
    }

    @Test func `a component can't be covered twice, in any order of its parameters`() async throws {
        let line = #""signature";key="x";req"#
        let other = #""signature";req;key="x""#
        let request = try message("(\(line) \(other))" + Self.time, over: "")
        #expect(await reason(request) == .malformed)
    }

    @Test(arguments: [
        "created=soon", "created=1618884474.5", "created=?1", "created=\"1618884473\"", "expires=\"1618884474\"",
        "expires=soon", "keyid=k", "nonce=1", "tag=:AAAA:", "alg=hmac-sha256",
    ]) func `a parameter of a wrong type is malformed`(parameter: String) async throws {
        let request = try message(#"("@method")"# + Self.time + ";" + parameter, over: "\"@method\": POST\n")
        #expect(await reason(request) == .malformed)
    }

    @Test(arguments: ["9223372036854775808", "-9223372036854775808", "1e9", "0x1"])
    func `a time that isn't a structured integer is malformed`(time: String) async throws {
        let request = try message(#"("@method");created="# + time, over: "\"@method\": POST\n")
        #expect(await reason(request) == .malformed)
    }

    @Test(arguments: ["999999999999999", "-999999999999999"])
    func `a time far away is refused`(time: String) async throws {
        let request = try message(#"("@method");created="# + time, over: "\"@method\": POST\n")
        #expect(await reason(request) == .invalidSignature)
    }

    @Test func `the last of several inputs with one label counts`() async throws {
        let request = try message(#"("@method")"# + Self.time, over: "\"@method\": POST\n") {
            $0.headers.append("Signature-Input", #"s=("@path");created=1618884473"#)
        }
        #expect(await reason(request) == .invalidSignature)
    }

    @Test func `a member of a digest protects the body, too`() async throws {
        let line = #""content-digest";key="sha-256""#
        let digest = ":X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:"
        var request = try message("(\(line))" + Self.time, over: "\(line): \(digest)\n") {
            $0.headers["Content-Digest"] = "sha-256=" + digest
        }
        try await verify(request)
        request.body = TextBody("other")
        #expect(await reason(request) == .invalidSignature)
    }

    @Test(arguments: [
        (#"s=(  "@method"   "@path" );  created=1618884473"#, true),
        (#"s=("@path" "@method");created=1618884473"#, false),
    ]) func `an input's spaces don't matter, but its order does`(input: String, isValid: Bool) async throws {
        let lines = "\"@method\": POST\n\"@path\": /foo\n"
        let request = try message(#"("@method" "@path")"# + Self.time, over: lines) {
            $0.headers["Signature-Input"] = input
        }
        if isValid { try await verify(request) } else { #expect(await reason(request) == .invalidSignature) }
    }

    @Test func `an identifier's parameters may have any order`() async throws {
        let line = #""signature";req;key="sig1""#
        let input = "(\(line))" + Self.time
        let code = HMAC.sha256("\(line): :AAAA:\n\"@signature-params\": \(input)", key: [1])
        var request = try RFC9421.request()
        request.headers["Signature"] = "sig1=:AAAA:"
        let response = HTTPResponse(
            request: request, status: 200,
            headers: ["Signature-Input": "s=" + input, "Signature": "s=:\(Data(code).base64EncodedString()):"])
        let verifier = MessageVerifier(
            requiring: [.ofRequest(.member("sig1", of: "Signature"))], now: { RFC9421.date }
        ) { _ in try .hmac([1]) }
        #expect(try await verifier.verify(response).label == "s")
    }

    static let large: [(name: HTTPHeaders.Name, value: String)] = [
        ("Signature-Input", "s=(" + String(repeating: "\"a\" ", count: 250_000) + ")"),
        ("Signature-Input", String(repeating: "s=1,", count: 250_000) + "s=1"),
        ("Signature-Input", "s=" + String(repeating: "(", count: 1_000_000)),
        ("Signature", "s=:" + String(repeating: "A", count: 1_000_000) + ":"),
        ("Signature-Input", "s=(" + (1...101).map { "\"a\($0)\"" }.joined(separator: " ") + ");created=1618884473"),
        (
            "Signature-Input",
            ["a", "b"].map { label in
                "\(label)=(" + (1...51).map { "\"\(label)\($0)\"" }.joined(separator: " ") + ");created=1618884473"
            }.joined(separator: ", ")
        ),
        ("Signature-Input", (1...17).map { "s\($0)=();created=1618884473" }.joined(separator: ", ")),
    ]

    @Test(arguments: large.indices) func `large fields are refused before they cost much`(index: Int) async throws {
        let request = try message(#"("@method")"# + Self.time, over: "\"@method\": POST\n") {
            $0.headers[Self.large[index].name] = Self.large[index].value
        }
        #expect(await reason(request) == .malformed)
    }

    static let shared: [@Sendable (Int) -> MessageComponent] = [
        { .queryParameter("a\($0)") }, { .member("a\($0)", of: "x") }, { _ in .structured("x") },
    ]

    /// The query and a field are read once: the time doesn't depend on how many components of the signatures name them.
    @Test(arguments: shared.indices) func `components share what they parse`(index: Int) throws {
        var request = try RFC9421.request()
        let items = (0..<1_000).map { "a\($0)=\($0)" }
        request.query = QueryParameters(escaped: items.joined(separator: "&"))
        request.headers["X"] = items.joined(separator: ", ")
        func cost(_ count: Int) throws -> Double {
            try (0..<3).map { _ in
                var parts = MessageParts(request)
                return try threadTime {
                    for number in 0..<count {
                        _ = try MessageComponent.base([Self.shared[index](number)], parameters: "", in: &parts)
                    }
                }
            }.min() ?? 0
        }
        let (few, many) = (try cost(1), try cost(16))
        #expect(many < few * 4)
    }

    @Test(arguments: [
        ("md5=:AAAA:", "the digest uses none of the supported algorithms: sha-256, or sha-512 for a body in memory"),
        ("sha-256=:AAAA:", "the body doesn't match its digest"),
        ("md5=:AAAA:, sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:", nil),
    ]) func `a digest without a known algorithm says so`(digest: String, message: String?) async throws {
        let line = "\"content-digest\""
        let request = try self.message("(\(line))" + Self.time, over: "\(line): \(digest)\n") {
            $0.headers["Content-Digest"] = digest
        }
        guard let message else { return try await verify(request) }
        let failure = await #expect(throws: HTTPAuthentication.Failure.self) { try await verify(request) }
        #expect(failure?.message == message)
    }
}
