// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

/// Requests without a template.
@Suite struct PlainRequestTests {
    private let text = #"{"author_name":"ada"}"#
    private let snake: JSONDecoder

    init() {
        snake = JSONDecoder()
        snake.keyDecodingStrategy = .convertFromSnakeCase
    }

    private struct Post: Codable, Sendable, Equatable {
        var authorName: String
    }

    private func client(
        _ body: String, status: HTTPStatus = 200, decoder: any HTTPBodyDecoder = JSONDecoder()
    ) -> HTTPClient {
        let mock = MockLoader { request in
            HTTPResponse(request: request, status: status, body: HTTPResponseBody(Data(body.utf8)))
        }
        return HTTPClient(decoder: decoder, transport: mock)
    }

    private let request = HTTPRequest(url: URL(string: "https://h.test/a") ?? URL(filePath: "/"))

    @Test func `a response is decoded by the decoder of the client, or by that of the request`() async throws {
        #expect(try await client(text, decoder: snake).send(request).decode(Post.self) == Post(authorName: "ada"))
        var own = request
        own.decoder = snake
        #expect(try await client(text).send(own).decode(Post.self) == Post(authorName: "ada"))
        let response = try await client("text").send(request)
        #expect(try await response.decode(String.self) == "text")
        #expect(try await response.decode(Data.self) == Data("text".utf8))
        #expect(try await client("").send(request).decode(Post?.self) == nil)
        #expect(try await client("[1,{}]").send(request).decode(JSONValue.self) == [1, [:]])
    }

    @Test func `a client in the chain of another client does not change the decoder`() async throws {
        let inner = client(text)
        let outer = HTTPClient(decoder: snake, transport: AnyLoader { try await inner.send($0) })
        #expect(try await outer.send(request).decode(Post.self) == Post(authorName: "ada"))
        let template = TestEndpoint("a", answering: Post.self).with { $0.baseURL = URL(string: "https://h.test") }
        #expect(try await outer.send(template) == Post(authorName: "ada"))
    }

    @Test func `a request that is sent again keeps the decoder of its client`() async throws {
        let earlier = try await client(text, decoder: snake).send(request)
        let alone = MockLoader { [text] in .ok($0, body: Data(text.utf8)) }
        #expect(try await alone.load(earlier.request).decode(Post.self) == Post(authorName: "ada"))
        let moved = try HTTPRequest("https://mirror.test/").with { $0.options = earlier.request.options }
        #expect(try await alone.load(moved).decode(Post.self) == Post(authorName: "ada"))
    }

    @Test func `a plain request is streamed, and its stream can be decoded once`() async throws {
        let mock = MockLoader { request in
            #expect(request.responseDelivery == .streamed)
            return HTTPResponse(request: request, status: 200, body: StreamedBody.of("7"))
        }
        let response = try await HTTPClient(transport: mock).stream(request)
        #expect(response.body.buffered == nil)
        #expect(try await response.decode(Int.self) == 7)
        await #expect(throws: HTTPError.self) { try await response.decode(Int.self) }
        let error = try await #require(throws: HTTPError.self) { try await client("no", status: 404).stream(request) }
        #expect(error.code == .unacceptableStatus && error.bodyExcerpt == "no")
    }

    @Test func `a stream over the limit is too large, and not a document that can't be decoded`() async throws {
        // One piece more than the 64 MiB that are decoded at most.
        let (piece, count) = (Data(count: 1 << 20), Counter())
        let body = HTTPResponseBody(length: nil, pull: { count.next() > 65 ? nil : piece })
        let response = HTTPResponse(request: HTTPRequest(), status: 200, body: body)
        let error = await #expect(throws: HTTPError.self) { try await response.decode(Data.self) }
        #expect(error?.code == .responseTooLarge)
    }

    @Test(arguments: [
        ("https://h.test/a", "h.test"), ("https://h.test:8443/a", "h.test:8443"), ("http://[::1]:80", "[::1]:80"),
        ("https://ada:secret@h.test/", "h.test"),
    ])
    func `the authority is the host with the port that is set`(url: String, authority: String) throws {
        #expect(try HTTPRequest(url).authority == authority)
        #expect(HTTPRequest().authority == nil)
    }
}
