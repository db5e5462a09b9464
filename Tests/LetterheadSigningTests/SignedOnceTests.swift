// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadCaching
@testable import LetterheadSigning
import LetterheadTesting
import TestKit
import Testing

private let api = URL(string: "https://api.example.com") ?? URL(filePath: "/")

/// Signs each request with the next number.
private struct CountSignatures: LoaderLink {
    let count = Counter()

    func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        var request = request
        request.headers["X-Signature"] = "\(count.next())"
        return try await next.load(request)
    }
}

/// What a server may accept only once is not sent twice by what is below the authentication.
@Suite(.timeLimit(.minutes(2))) struct SignedOnceTests {
    private func signed(_ link: CountSignatures = CountSignatures()) -> Authenticate {
        Authenticate(.method("count", allowedOrigins: [api], link: link))
    }

    /// A loader that demands other signatures before it responds.
    private func demanding(_ count: Int) -> MockLoader {
        let left = SharedValue(count)
        return MockLoader { request in
            #expect(request.isSignedOnce)
            let isRefused = left.withLock { left in
                left -= 1
                return left >= 0
            }
            if isRefused { throw HTTPError(.signatureSpent, request: request, message: "again") }
            return HTTPResponse(request: request, status: .ok)
        }
    }

    @Test func `a request is signed again as often as a connection is replaced, and its loss is reported then`()
        async throws
    {
        let five = demanding(5)
        _ = try await (signed() --> five).load(HTTPRequest(url: api))
        #expect(five.requests.map { $0.headers["X-Signature"] } == (1...6).map { "\($0)" })
        let six = demanding(6)
        let error = await #expect(throws: HTTPError.self) { try await (signed() --> six).load(HTTPRequest(url: api)) }
        #expect(error?.code == .connectionLost && error?.message == "again" && six.requests.count == 6)
    }

    @Test func `a one-shot body is not sent again`() async throws {
        let mock = demanding(1)
        var request = HTTPRequest(method: .put, url: api)
        request.body = StreamBody(once: AsyncStream<Data> { $0.finish() })
        let (chain, sent) = (signed() --> mock, request)
        let error = await #expect(throws: HTTPError.self) { try await chain.load(sent) }
        #expect(error?.code == .connectionLost && mock.requests.count == 1)
    }

    @Test func `a POST that may have been processed is not signed and sent again`() async throws {
        let mock = demanding(1)
        let error = await #expect(throws: HTTPError.self) {
            try await (signed() --> mock).load(HTTPRequest(method: .post, url: api))
        }
        #expect(error?.code == .connectionLost && error?.mayHaveBeenSent == true && mock.requests.count == 1)
    }

    @Test func `a signature ends with its load, and nothing retries below it`() async throws {
        let mock = MockLoader { HTTPResponse(request: $0, status: .serviceUnavailable) }
        let retry = Retry(Backoff(.immediate, maximumRetries: 2))
        let client = HTTPClient(
            authentication: .method("count", allowedOrigins: [api], link: CountSignatures()), attemptLinks: retry,
            transport: mock)
        var request = HTTPRequest(url: api)
        request.acceptedStatuses = .any
        let response = try await client.send(request)
        _ = try await client.send(response.request)
        #expect(mock.requests.map { $0.headers["X-Signature"] } == ["1", "2"])
    }

    @Test func `the first of two signatures is also renewed`() async throws {
        let (outer, inner, mock) = (CountSignatures(), CountSignatures(), demanding(1))
        _ = try await (signed(outer) --> signed(inner) --> mock).load(HTTPRequest(url: api))
        #expect(outer.count.value == 2 && inner.count.value == 2)
    }

    @Test func `a fixed credential may be sent again`() async throws {
        for method in [HTTPAuthentication.bearer("t", allowedOrigins: [api]), .bearer { _ in "t" }] {
            let mock = MockLoader { HTTPResponse(request: $0, status: .ok) }
            _ = try await (Authenticate(method) --> mock).load(HTTPRequest(url: api))
            #expect(mock.requests.map(\.isSignedOnce) == [false])
        }
    }

    @Test func `a cache asks for another signature if a 304 confirms what it has not stored`() async throws {
        let mock = MockLoader { request in
            let isConditional = request.headers.contains(.ifNoneMatch)
            return HTTPResponse(
                request: request, status: isConditional ? 304 : 200,
                headers: ["ETag": isConditional ? "\"other\"" : "\"one\"", "Cache-Control": "no-cache"],
                body: HTTPResponseBody(Data((isConditional ? "" : "body").utf8)))
        }
        let chain = signed() --> ResponseCache(store: .memory(bytes: 1 << 20)) --> mock
        for _ in 1...2 {
            let response = try await chain.load(HTTPRequest(url: api))
            #expect(try await response.body.data() == Data("body".utf8))
        }
        #expect(mock.requests.map { $0.headers["X-Signature"] } == ["1", "2", "3"])
    }

    #if os(Linux)
        @Test func `a digest is not repeated on a connection that has ended, but computed again`() async throws {
            let counts = SharedValue([String]())
            // The first connection ends when it has received the second proof.
            let server = RawServer { connection, number in
                while let head = connection.readHead() {
                    guard let start = head.range(of: "nc=")?.upperBound else {
                        let challenge = #"WWW-Authenticate: Digest realm="r", qop="auth", nonce="n""#
                        connection.write("HTTP/1.1 401 Unauthorized\r\n\(challenge)\r\nContent-Length: 0\r\n\r\n")
                        continue
                    }
                    let count = String(head[start...].prefix(8))
                    counts.withLock { $0.append(count) }
                    if number == 0, count != "00000001" { return connection.close() }
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                }
            }
            let client = HTTPClient(
                authentication: .digest(user: "u", password: "p", allowedOrigins: [server.url()]),
                transport: HTTPClient.makeTransport(TransportConfiguration()))
            for _ in 1...2 { #expect(try await client.send(HTTPRequest(url: server.url())).status == 200) }
            #expect(counts.withLock { $0 } == ["00000001", "00000002", "00000003"])
            #expect(server.connectionCount >= 2)
        }
    #endif
}
