// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
@testable import LetterheadSigning
import LetterheadTesting
import TestKit
import Testing

private let api = URL(string: "https://api.example.com") ?? URL(filePath: "/")

/// Signs the digest and the number of the signature.
private struct CountingSigner: RequestSigner {
    var need = SignedBody.Need.nothing
    var repeats = false
    let count = Counter()

    func bodyNeed(for request: HTTPRequest) -> SignedBody.Need { need }

    func sign(_ request: inout HTTPRequest, body: SignedBody) async throws {
        let number = count.next()
        if request.headers.contains("X-Signature") { throw PlainError(text: "signed twice") }
        let digest = body.digest.map(Hexadecimal.text) ?? "-"
        request.headers.setSecret("\(number) \(digest) \(body.length.map(String.init) ?? "-")", for: "X-Signature")
    }

    func signedHeaders(of request: HTTPRequest) -> [HTTPHeaders.Name] { ["X-Signature", .accept] }

    func signsAgain(after response: HTTPResponse) async -> Bool { repeats && response.status == .unauthorized }
}

private struct PlainError: LocalizedError {
    let text: String
    var errorDescription: String? { text }
}

@Suite struct RequestSignerTests {
    private func sent(
        _ signer: CountingSigner, body: (any HTTPBody)? = nil, _ statuses: [HTTPStatus] = [.ok]
    ) async throws -> (MockLoader, HTTPResponse) {
        let mock = MockLoader()
        for status in statuses { mock.then { HTTPResponse(request: $0, status: status) } }
        var request = HTTPRequest(method: .put, url: api)
        if let body { request.body = body }
        let (chain, prepared) = (Authenticate(.signing(by: signer, allowedOrigins: [api])) --> mock, request)
        return (mock, try await chain.load(prepared))
    }

    private static let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

    @Test(arguments: [
        (SignedBody.Need.nothing, "1 - -"), (.length, "1 - 3"), (.digest, "1 \(digest) 3"),
    ]) func `a signer receives what it needs of a body`(need: SignedBody.Need, value: String) async throws {
        let (mock, _) = try await sent(CountingSigner(need: need), body: DataBody(Data("abc".utf8), contentType: nil))
        #expect(mock.requests.map { $0.headers["X-Signature"] } == [value])
        #expect(mock.requests.map(\.isSignedOnce) == [true])
    }

    @Test func `a replayable stream's digest is read`() async throws {
        let stream = StreamBody {
            AsyncStream<Data> { stream in
                for text in ["a", "bc"] { stream.yield(Data(text.utf8)) }
                stream.finish()
            }
        }
        let (mock, _) = try await sent(CountingSigner(need: .digest), body: stream)
        #expect(mock.requests.map { $0.headers["X-Signature"] } == ["1 \(Self.digest) 3"])
    }

    @Test func `an empty body has a digest and a length`() async throws {
        let (mock, _) = try await sent(CountingSigner(need: .digest))
        let hash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        #expect(mock.requests.map { $0.headers["X-Signature"] } == ["1 \(hash) 0"])
    }

    @Test func `a request is signed again once, and from the beginning`() async throws {
        let (mock, response) = try await sent(CountingSigner(repeats: true), [401, 401])
        #expect(mock.requests.map { $0.headers["X-Signature"] } == ["1 - -", "2 - -"])
        #expect(response.status == .unauthorized)
    }

    @Test func `a one-shot body isn't sent again`() async throws {
        let stream = StreamBody(once: AsyncStream<Data> { $0.finish() })
        let (mock, response) = try await sent(CountingSigner(repeats: true), body: stream, [401])
        #expect(mock.requests.count == 1 && response.status == .unauthorized)
    }

    @Test func `each attempt and each hop within the origin is signed anew, and no hop to another origin`()
        async throws
    {
        let mock = MockLoader()
            .then { HTTPResponse(request: $0, status: .serviceUnavailable) }
            .then { HTTPResponse(request: $0, status: 307, headers: ["Location": "/next"]) }
            .then { HTTPResponse(request: $0, status: 307, headers: ["Location": "https://other.example/"]) }
            .then { HTTPResponse(request: $0, status: .ok) }
        let client = HTTPClient(
            authentication: .signing(by: CountingSigner(), allowedOrigins: [api]),
            retrying: Backoff(.immediate, maximumRetries: 1), transport: mock)
        _ = try await client.send(HTTPRequest(url: api))
        #expect(mock.requests.map { $0.headers["X-Signature"] } == ["1 - -", "2 - -", "3 - -", nil])
    }

    @Test func `a signed header that changes below is named after a refusal`() async throws {
        let mock = MockLoader { HTTPResponse(request: $0, status: .forbidden) }
        let change = ModifyRequest { $0.headers[.accept] = "text/plain" }
        let chain = Authenticate(.signing(by: CountingSigner(), allowedOrigins: [api])) --> change --> mock
        let error = await failure { try await chain.load(HTTPRequest(url: api)) }
        #expect(error?.code == .cannotAuthenticate && error?.response?.status == .forbidden)
        #expect(error?.message.contains("because the header Accept changed after signing") == true)
        #expect(error?.mayHaveBeenSent == true)
    }

    @Test func `a signer's error is the cause, and nothing is sent`() async throws {
        let mock = MockLoader { .ok($0) }
        let chain = Authenticate(.signing(by: CountingSigner(), allowedOrigins: [api])) --> mock
        var request = HTTPRequest(url: api)
        request.headers["X-Signature"] = "x"
        let error = await failure { [request] in try await chain.load(request) }
        #expect(error?.code == .cannotAuthenticate && error?.message == "signed twice")
        #expect(error?.mayHaveBeenSent == false && mock.requests.isEmpty)
    }
}
