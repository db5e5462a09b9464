// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadRelay
import LetterheadTesting
import TestKit
import Testing

/// Errors of the far end, of the closure, and of a malformed answer.
extension RelayTests {
    @Test(arguments: Kind.allCases) func `an error of the far end keeps its code, message and safety`(kind: Kind) async
    {
        let error = await failure { try await kind.relay(to: RelayServer(Self.unreachable)).load(request()) }
        #expect(error?.code == .cannotConnect && error?.mayHaveBeenSent == false)
        #expect(error?.message == "at the other end of the relay: nothing is there")
    }

    @Test func `an error of the far end keeps its response`() async {
        let far = MockLoader { request in
            HTTPResponse(request: request, status: 418, headers: ["X-A": "1"], body: HTTPResponseBody(Data("tea".utf8)))
        }
        let server = RelayServer(HTTPClient(transport: far))
        let error = await failure { try await HTTPClient(transport: Relay { await server.answer($0) }).send(request()) }
        #expect(error?.code == .unacceptableStatus && error?.response?.status == 418)
        #expect(error?.response?.body.buffered == Data("tea".utf8) && error?.response?.headers["X-A"] == "1")
    }

    @Test func `an error of the closure is a lost connection, and its own HTTPError is kept`() async {
        struct Offline: Error {}
        let lost = await #expect(throws: HTTPError.self) { try await Relay { _ in throw Offline() }.load(request()) }
        #expect(lost?.code == .connectionLost && lost?.mayHaveBeenSent == true && lost?.underlying is Offline)
        let sent = request()
        let own = await #expect(throws: HTTPError.self) {
            try await Relay { _ in throw HTTPError(.cannotConnect, request: sent, mayHaveBeenSent: false) }.load(sent)
        }
        #expect(own?.code == .cannotConnect && own?.mayHaveBeenSent == false)
    }

    @Test(
        arguments: [
            CancellationError(), URLError(.badURL), URLError(.cancelled), HTTPBodyError.alreadyRead,
            HTTPBodyError.tooLarge(limit: 1),
            EncodingError.invalidValue(1, .init(codingPath: [], debugDescription: "")),
            DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "")),
        ] as [any Error])
    func `an error of any type is a lost connection, after which the request may have been sent`(thrown: any Error)
        async
    {
        let lost = await #expect(throws: HTTPError.self) { try await Relay { _ in throw thrown }.load(request()) }
        #expect(lost?.code == .connectionLost && lost?.mayHaveBeenSent == true)
    }

    @Test(arguments: [
        "", "\n", "{}\n", "{\"letterhead\":2}\n", "{\"letterhead\":1}\n", "nothing",
        "{\"letterhead\":1,\"reset\":true}\n",
        "{\"letterhead\":1,\"length\":5,\"response\":{\"status\":200,\"headers\":[]}}\nfour",
        "{\"letterhead\":1,\"length\":-1,\"response\":{\"status\":200,\"headers\":[]}}\n",
        "{\"letterhead\":1,\"response\":{\"status\":200,\"headers\":[]}}\nmore",
        "{\"letterhead\":1,\"response\":{\"status\":7,\"headers\":[]}}\n",
        "{\"letterhead\":1,\"response\":{\"status\":200,\"headers\":[[\"a\"]]}}\n",
        "{\"letterhead\":1,\"response\":{\"status\":200,\"headers\":[[\"a\",\"b\\r\\nc: d\"]]}}\n",
        "{\"letterhead\":1,\"response\":{\"status\":200,\"headers\":[],\"sentTo\":{\"path\":\"a?b\",\"query\":\"\"}}}\n",
        "{\"letterhead\":1,\"response\":{\"status\":200,\"headers\":[],\"respondingServer\":\"nowhere\"}}\n",
        "{\"letterhead\":1,\"response\":{\"status\":1e99,\"headers\":[]}}\n",
    ])
    func `a malformed answer is an invalid response`(answer: String) async {
        for relay in [Relay { _ in Data(answer.utf8) }, Relay.streaming { _ in AsyncStream(of: Data(answer.utf8)) }] {
            let error = await #expect(throws: HTTPError.self) { try await relay.load(request()) }
            #expect(error?.code == .invalidResponse, "\(String(describing: error))")
        }
    }

    @Test func `a head that is too long is refused without being parsed`() async {
        let head = Data(repeating: UInt8(ascii: "["), count: 2 << 20) + Data("\n".utf8)
        let error = await #expect(throws: HTTPError.self) { try await Relay { _ in head }.load(request()) }
        #expect(error?.code == .invalidResponse && error?.message.contains("contain no line feed") == true)
    }
}
