// SPDX-License-Identifier: MIT
import Foundation
import HTTPTypes
import Letterhead
import LetterheadHTTPTypes
import Testing

struct HTTPTypesLoaderTests {
    /// Responds with the bytes it receives, in pieces.
    private let echo = HTTPTypesLoader { head, body in
        var pieces: [Data] = []
        for try await piece in body { pieces.append(piece) }
        var fields: HTTPFields = [:]
        fields[.contentLength] = head.headerFields[.contentLength]
        let name = HTTPField.Name("X-Target")
        if let name { fields[name] = head.path }
        let rest = Pieces(pieces)
        return HTTPTypesLoader.Reply(
            HTTPTypes.HTTPResponse(status: .ok, headerFields: fields),
            body: HTTPResponseBody(length: nil, pull: { await rest.next() }),
            trailers: { name.map { [$0: "end"] } ?? [:] })
    }

    private func request(_ path: RequestPath = "a") -> Letterhead.HTTPRequest {
        Letterhead.HTTPRequest(method: .post, host: "a.test", path: path)
    }

    @Test(arguments: [HTTPResponse.Delivery.buffered, .streamed])
    func `a body is sent and received in pieces`(delivery: Letterhead.HTTPResponse.Delivery) async throws {
        var request = request()
        request.body = StreamBody {
            AsyncStream { stream in
                for number in 0..<5 { stream.yield(Data(repeating: UInt8(number), count: 1000)) }
                stream.finish()
            }
        }
        request.responseDelivery = delivery
        let response = try await echo.load(request)
        #expect((response.body.buffered == nil) == (delivery == .streamed))
        #expect(try await response.body.data().count == 5000)
        #expect(response.headers[.contentLength] == nil && response.trailers["X-Target"] == "end")
    }

    @Test func `a known length is announced`() async throws {
        var request = request("a b")
        request.body = DataBody(Data(count: 7))
        let response = try await echo.load(request)
        #expect(response.headers[.contentLength] == "7" && response.headers["X-Target"] == "/a%20b")
    }

    @Test func `a client's links run above the loader`() async throws {
        let client = HTTPClient(environment: ServerEnvironment("https://a.test/v1"), transport: echo)
        let response = try await client.send(Endpoint<Letterhead.HTTPResponse>(.get, "users"))
        #expect(response.headers["X-Target"] == "/v1/users")
    }

    @Test func `a malformed request does not reach the closure`() async {
        let loader = HTTPTypesLoader { _, _ in throw Broken() }
        var request = request()
        request.headers["X-Bad"] = "a\nb"
        let malformed = request
        let error = await #expect(throws: HTTPError.self) { try await loader.load(malformed) }
        #expect(error?.code == .invalidRequest && error?.underlying == nil)
    }

    @Test func `an error of the closure is the underlying error`() async {
        let loader = HTTPTypesLoader { _, _ in throw Broken() }
        let error = await #expect(throws: HTTPError.self) { try await loader.load(request()) }
        #expect(error?.code == .unknown && error?.underlying is Broken)
    }

    @Test func `a response over its limit is an error`() async {
        var request = request()
        request.body = DataBody(Data(count: 100))
        request.responseLimit = 99
        let limited = request
        let error = await #expect(throws: HTTPError.self) { try await echo.load(limited) }
        #expect(error?.code == .responseTooLarge)
    }
}

extension HTTPTypesLoaderTests {
    private static let endless = HTTPTypesLoader { _, _ in
        try await Task.sleep(for: .seconds(600))
        return HTTPTypesLoader.Reply(HTTPTypes.HTTPResponse(status: .ok))
    }

    @Test func `a timeout cancels the closure`() async {
        var request = request()
        request.timeout = .milliseconds(20)
        let limited = request
        let error = await #expect(throws: HTTPError.self) { try await Self.endless.load(limited) }
        #expect(error?.code == .timedOut && error?.message.contains("timeout") == true)
    }

    @Test func `a deadline cancels the closure`() async {
        let client = HTTPClient(transport: Self.endless)
        let error = await #expect(throws: HTTPError.self) {
            var request = request()
            request.deadline = .milliseconds(20)
            try await client.send(request)
        }
        #expect(error?.code == .timedOut && error?.message.contains("deadline") == true)
    }

    @Test func `a cancelled task ends the load`() async {
        let (started, start) = AsyncStream<Void>.makeStream()
        let loader = HTTPTypesLoader { _, _ in
            start.yield()
            try await Task.sleep(for: .seconds(600))
            return HTTPTypesLoader.Reply(HTTPTypes.HTTPResponse(status: .ok))
        }
        var request = request()
        request.timeout = .seconds(300)
        let load = Task { [request] in try await loader.load(request) }
        for await _ in started { break }
        load.cancel()
        let error = await #expect(throws: HTTPError.self) { try await load.value }
        #expect(error?.code == .cancelled)
    }
}

private struct Broken: Error {}

/// The pieces of a body.
private actor Pieces {
    private var rest: ArraySlice<Data>

    init(_ pieces: [Data]) { rest = pieces[...] }

    func next() -> Data? { rest.popFirst() }
}
