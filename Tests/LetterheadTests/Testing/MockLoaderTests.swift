// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

private struct Odd: Error {}

private struct Unencodable: HTTPBody {
    func encode() throws -> Data { throw Odd() }
}

@Suite struct MockLoaderTests {
    private func status(_ mock: MockLoader) async throws -> HTTPStatus {
        try await mock.load(HTTPRequest.to("https://h/p")).status
    }

    @Test func `each response of the script is used once, in order`() async throws {
        let mock = MockLoader().then { HTTPResponse(request: $0, status: 1) }.then {
            HTTPResponse(request: $0, status: 2)
        }
        #expect(mock.unused == 2)
        #expect(try await status(mock) == 1)
        #expect(try await status(mock) == 2)
        #expect(mock.unused == 0)
    }

    #if Foundation || canImport(Darwin)
        @Test func `a handler for Foundation's types receives the whole body, and its error is the request's`()
            async throws
        {
            let mock = MockLoader.urlRequests { request in
                guard let url = request.url, let body = request.httpBody else {
                    throw URLError(.notConnectedToInternet)
                }
                let head = HTTPURLResponse(url: url, statusCode: 201, httpVersion: nil, headerFields: ["X": "1"])
                return (try #require(head), body)
            }
            var request = try HTTPRequest.to("https://h/p")
            #expect(await #expect(throws: HTTPError.self) { try await mock.load(request) }?.code == .cannotConnect)
            request.body = StreamBody(["a", "b"].map { Data($0.utf8) })
            let response = try await mock.load(request)
            #expect(response.status == .created && response.headers["X"] == "1")
            #expect(response.body.buffered == Data("ab".utf8))
        }
    #endif

    @Test func `after the script the default handler responds`() async throws {
        let mock = MockLoader { HTTPResponse(request: $0, status: 9) }.then { HTTPResponse(request: $0, status: 1) }
        #expect(try await status(mock) == 1)
        #expect(try await status(mock) == 9)
        #expect(try await status(mock) == 9)
    }

    @Test func `with no response left, the load fails with an error that names the request, without its secrets`()
        async throws
    {
        let mock = MockLoader()
        let error = try await #require(throws: HTTPError.self) {
            try await mock.load(HTTPRequest.to("https://h/marker?token=SECRET", method: .put))
        }
        #expect(error.code == .cannotConnect && error.message.contains("PUT") && error.message.contains("/marker"))
        #expect(!"\(error)".contains("SECRET"))
        #expect(mock.requests.count == 1)
    }

    @Test func `an error of a handler is thrown like an error of a transport`() async throws {
        let mock = MockLoader().then { _ in throw CancellationError() }.then {
            throw HTTPError(.connectionLost, request: $0)
        }
        #expect(try await #require(throws: HTTPError.self) { try await status(mock) }.code == .cancelled)
        #expect(try await #require(throws: HTTPError.self) { try await status(mock) }.code == .connectionLost)
    }

    @Test func `a handler can suspend, and can check whether its task is cancelled`() async throws {
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        let mock = MockLoader { request in
            start.finish()
            try await Task.sleep(for: .seconds(3600))
            return .ok(request)
        }
        let request = try HTTPRequest.to("https://h")
        let task = Task { try await mock.load(request) }
        for await _ in started {}
        task.cancel()
        #expect(await failure { try await task.value }?.code == .cancelled)
    }

    @Test func `a cancelled task receives no response, and uses none of the script`() async throws {
        let mock = MockLoader().then { .ok($0) }
        let request = try HTTPRequest.to("https://h")
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await mock.load(request)
        }
        let error = await #expect(throws: HTTPError.self) { try await task.value }
        #expect(error?.code == .cancelled && error?.mayHaveBeenSent == false && mock.unused == 1)
        #expect(mock.requests.isEmpty)
    }

    @Test func `a request that a transport would refuse is refused, and not recorded`() async throws {
        let mock = MockLoader { .ok($0) }
        let bad = try HTTPRequest.to("https://h").with { $0.headers = ["X": "a\r\nb"] }
        #expect(await failure { try await mock.load(bad) }?.code == .invalidRequest && mock.requests.isEmpty)
    }

    @Test func `a body that cannot be encoded fails as on a transport`() async throws {
        let mock = MockLoader { .ok($0) }
        let bad = try HTTPRequest.to("https://h").with { $0.body = Unencodable() }
        let error = await #expect(throws: HTTPError.self) { try await mock.load(bad) }
        #expect(error?.code == .invalidRequest)
        #expect(error?.underlying is Odd)
        #expect(mock.requests.isEmpty)
    }

    @Test func `the response limit applies to a buffered body`() async throws {
        let allowed = try HTTPRequest.to("https://h/p").with { $0.responseLimit = 5 }
        let limited = allowed.with { $0.responseLimit = 2 }
        let mock = MockLoader { request in
            let isStreamed = request[query: "streamed"] != nil
            return HTTPResponse(
                request: request, status: 200,
                body: isStreamed ? StreamedBody.of("hello", piecesOf: 2) : HTTPResponseBody(Data("hello".utf8)))
        }
        for query in [nil, "yes"] {
            var (allowed, limited) = (allowed, limited)
            (allowed[query: "streamed"], limited[query: "streamed"]) = (query, query)
            #expect(try await HTTPClient(transport: mock).send(allowed).body.buffered == Data("hello".utf8))
            let tooLarge = limited
            let error = await #expect(throws: HTTPError.self) { try await HTTPClient(transport: mock).send(tooLarge) }
            #expect(error?.code == .responseTooLarge && error?.response?.status == 200)
        }
    }

    @Test func `a buffered response has at most 64 MiB when no limit was set, even if the mock streams it`()
        async throws
    {
        let request = try HTTPRequest.to("https://h/p")
        for length in [nil, 65 << 20] {
            let count = Counter()
            let mock = MockLoader { request in
                let body = HTTPResponseBody(length: length) { count.next() > 65 ? nil : Data(count: 1 << 20) }
                return HTTPResponse(request: request, status: 200, body: body)
            }
            let error = await #expect(throws: HTTPError.self) {
                var total = 0
                do {
                    for try await chunk in try await HTTPClient(transport: mock).send(request).body {
                        total += chunk.count
                    }
                } catch {
                    #expect(total <= 64 << 20)
                    throw error
                }
            }
            #expect(error?.code == .responseTooLarge && error?.response?.status == 200)
        }
    }

    @Test func `an error of a buffered body is the error that a transport throws`() async throws {
        let mock = MockLoader { request in
            let body = HTTPResponseBody(length: nil) { throw HTTPError(.connectionLost, request: request) }
            return HTTPResponse(request: request, status: 200, body: body)
        }
        let request = try HTTPRequest.to("https://h/p").with { $0.responseLimit = 5 }
        let error = await #expect(throws: HTTPError.self) { try await mock.load(request) }
        #expect(error?.code == .connectionLost && error?.response?.status == 200)
    }
}
