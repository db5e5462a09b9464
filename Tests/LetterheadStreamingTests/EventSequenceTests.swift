// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadStreaming
import LetterheadTesting
import TestKit
import Testing

@Suite struct EventSequenceTests {
    private func client(_ mock: any HTTPLoader, retrying: Backoff = Backoff()) -> HTTPClient {
        HTTPClient(environment: .of("http://a.example"), retrying: retrying, transport: mock)
    }

    private func stream(_ request: HTTPRequest, _ text: String, type: String? = "text/event-stream") -> HTTPResponse {
        var response = HTTPResponse(request: request, status: .ok, body: StreamedBody.of(text))
        response.headers["Content-Type"] = type
        return response
    }

    @Test func `the request asks for an event stream, unless the template sets the headers itself`() async throws {
        let mock = MockLoader { stream($0, "data: a\n\n") }
        _ = try await client(mock).events(of: TestEndpoint()).all()
        #expect(mock.requests[0].headers["Accept"] == "text/event-stream")
        #expect(mock.requests[0].headers["Cache-Control"] == "no-cache")
        #expect(mock.requests[0].headers["Last-Event-ID"] == nil)
        let own = TestEndpoint().with {
            $0.headers = ["Accept": "*/*", "Cache-Control": "max-age=0", "Last-Event-ID": "7"]
        }
        _ = try await client(mock).events(of: own).all()
        #expect(mock.requests[1].headers["Accept"] == "*/*")
        #expect(mock.requests[1].headers["Cache-Control"] == "max-age=0")
        #expect(mock.requests[1].headers["Last-Event-ID"] == "7")
    }

    @Test func `nothing is sent before the first event is requested, and each iteration has its own connection`()
        async throws
    {
        let mock = MockLoader { stream($0, "data: a\n\n") }
        let events = client(mock).events(of: TestEndpoint())
        #expect(mock.requests.isEmpty)
        #expect(try await events.all().count == 1)
        #expect(try await events.all().count == 1)
        #expect(mock.requests.count == 2)
    }

    @Test(arguments: ["text/plain", "application/json", nil])
    func `another content type is an error that names both types`(type: String?) async throws {
        let mock = MockLoader { stream($0, "data: a\n\n", type: type) }
        let error = await #expect(throws: HTTPError.self) { try await client(mock).events(of: TestEndpoint()).all() }
        #expect(error?.code == .invalidResponse)
        #expect(error?.response?.status == .ok)
        #expect(error?.message.contains("text/event-stream") == true)
        #expect(error?.message.contains(type ?? "no Content-Type") == true)
    }

    @Test func `a status that is not accepted is an error, and a 204 has no events`() async throws {
        let refusing = MockLoader { HTTPResponse(request: $0, status: .forbidden) }
        let error = await failure { try await client(refusing).events(of: TestEndpoint()).all() }
        #expect(error?.code == .unacceptableStatus)
        let empty = MockLoader { HTTPResponse(request: $0, status: .noContent) }
        #expect(try await client(empty).events(of: TestEndpoint(), reconnecting: .whenClosed).all().isEmpty)
        #expect(empty.requests.count == 1)
    }

    @Test func `an event is decoded with the decoder of the client, and a failure names the event`() async throws {
        struct Name: Decodable, Equatable { var firstName: String }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let mock = MockLoader { stream($0, "event: add\ndata: {\"first_name\":\"Ada\"}\n\nevent: bad\ndata: {}\n\n") }
        let client = HTTPClient(environment: .of("http://a.example"), decoder: decoder, transport: mock)
        let events = try await client.events(of: TestEndpoint("names")).all()
        #expect(try events[0].decode(Name.self) == Name(firstName: "Ada"))
        let error = #expect(throws: HTTPError.self) { try events[1].decode(Name.self) }
        #expect(error?.code == .cannotDecodeResponse)
        #expect(error?.underlying is DecodingError)
        #expect(error?.description.contains("bad") == true)
        #expect(error?.description.contains("http://a.example/names") == true)
    }

    @Test func `the description of an event does not contain its data`() {
        let event = ServerSentEvent(event: "add", data: "secret", id: "12")
        #expect("\(event)" == "ServerSentEvent(add, 6 bytes, with id)")
        var dumped = ""
        dump(event, to: &dumped)
        #expect(!dumped.contains("secret"))
        #expect(event == ServerSentEvent(event: "add", data: "secret", id: "12"))
        #expect(event != ServerSentEvent(event: "add", data: "secret"))
    }
}
