// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadAsyncHTTPClient
import LetterheadTesting
import Testing

/// A response that ends early is never a success, wherever it ends.
@Suite(.timeLimit(.minutes(3)))
struct TruncationTests {
    private static let responses = [
        "HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nhello, world",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n7\r\n, world\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n3\r\nabc\r\n0\r\nX-T: 1\r\n\r\n",
    ]

    @Test(arguments: responses, [HTTPResponse.Delivery.buffered, .streamed])
    func `a response that ends before its last byte is an error`(
        text: String, delivery: HTTPResponse.Delivery
    ) async throws {
        let server = try await MockServer.start()
        let loader = AsyncHTTPClientLoader()
        let bytes = Data(text.utf8)
        for end in 0..<bytes.count { server.enqueue(.raw(bytes.prefix(end)).when { $0.path == "/\(end)" }) }
        for end in 0..<bytes.count {
            var request = HTTPRequest(url: server.url.appendingPathComponent("\(end)"))
            request.responseDelivery = delivery
            let sent = request
            let error = await #expect(throws: HTTPError.self, "after \(end) bytes") {
                try await loader.load(sent).body.data()
            }
            #expect([.invalidResponse, .connectionLost].contains(error?.code), "after \(end) bytes")
        }
        server.enqueue(.raw(bytes))
        #expect(try await loader.load(HTTPRequest(url: server.url)).body.data().count >= 3)
        await server.stop()
    }

    @Test func `without a length, the end of the connection is the end of the body`() async throws {
        let server = try await MockServer.start()
        server.enqueue(.raw("HTTP/1.0 200 OK\r\n\r\nhello"))
        let response = try await AsyncHTTPClientLoader().load(HTTPRequest(url: server.url))
        #expect(response.body.buffered == Data("hello".utf8))
        await server.stop()
    }
}
