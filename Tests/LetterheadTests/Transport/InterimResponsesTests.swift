// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    @testable import Letterhead
    import TestKit
    import Testing

    /// Responses that precede the response (RFC 9110, 15.2).
    @Suite(.bothCarriers, .timeLimit(.minutes(1)))
    struct InterimResponsesTests {
        private static let response = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

        private static func earlyHints(_ number: Int) -> String {
            "HTTP/1.1 103 Early Hints\r\nLink: </\(number).css>; rel=preload\r\nLink: </\(number).js>\r\n\r\n"
        }

        /// A server that sends a text before its first response, and nothing before the next one.
        private func server(_ text: String) -> RawServer {
            RawServer { connection, _ in
                guard connection.readRequest() != nil, connection.write(text + Self.response) else { return }
                while connection.readRequest() != nil { connection.write(Self.response) }
            }
        }

        @Test(arguments: [HTTPResponse.Delivery.buffered, .streamed])
        func `interim responses are part of the response that they precede`(delivery: HTTPResponse.Delivery)
            async throws
        {
            let server = server(
                "HTTP/1.1 100 Continue\r\n\r\n" + Self.earlyHints(1) + "HTTP/1.1 102 Processing\r\nX-Step: 2\r\n\r\n"
                    + Self.earlyHints(2) + Self.earlyHints(3))
            let loader = Carrier.loader()
            let request = HTTPRequest(url: server.url()).with { $0.responseDelivery = delivery }
            let response = try await loader.load(request)
            #expect(response.status == 200 && response.interimResponses.map(\.status) == [100, 103, 102, 103, 103])
            #expect(response.interimResponses[0].headers.isEmpty)
            #expect(response.interimResponses[1].headers == ["Link": "</1.css>; rel=preload", "Link": "</1.js>"])
            #expect(response.interimResponses[2].headers["X-Step"] == "2")
            #expect(response.interimResponses[4].headers["Link"]?.hasPrefix("</3.css>") == true)
            #expect(try await response.body.data() == Data("ok".utf8))
            let next = try await loader.load(request)
            // The metrics of a streamed response are known at its end.
            #expect(try await next.body.data() == Data("ok".utf8))
            #expect(next.interimResponses.isEmpty && next.metrics.isReusedConnection)
        }

        @Test func `interim responses over HTTP/2 are part of the response, too`() async throws {
            let server = RawServer.http2(tls: nil) { connection, _, stream in
                connection.write(.earlyHints("</a.css>", on: stream))
                connection.write(.success(on: stream))
            }
            let configuration = TransportConfiguration().with {
                ($0.httpVersions, $0.proxy) = (.http2PriorKnowledge, .direct)
            }
            let response = try await Carrier.loader(configuration).load(HTTPRequest(url: server.url()))
            #expect(response.status == 200 && response.interimResponses.map(\.status) == [103])
            #expect(response.interimResponses.first?.headers == ["link": "</a.css>"])
        }

        @Test func `no more than 16 interim responses are kept`() async throws {
            let server = server((0..<40).map(Self.earlyHints).joined())
            let response = try await Carrier.loader().load(HTTPRequest(url: server.url()))
            #expect(response.status == 200 && response.interimResponses.count == 16)
            #expect(response.interimResponses.last?.headers["Link"]?.hasPrefix("</15.css>") == true)
        }

        @Test func `an endless series of interim responses ends at the limit of the head`() async throws {
            let server = RawServer { connection, _ in
                guard connection.readRequest() != nil else { return }
                while connection.write(Self.earlyHints(1)) {}
            }
            let configuration = TransportConfiguration().with { $0.maximumHeadSize = 10_000 }
            let error = await failure { try await Carrier.loader(configuration).load(HTTPRequest(url: server.url())) }
            #expect(error?.code == .responseTooLarge && error?.message.contains("maximumHeadSize") == true)
        }

        @Test(arguments: [
            "HTTP/1.1 103 Early Hints\r\nBad Name: x\r\n\r\n", "HTTP/1.1 103 Early Hints\r\nX: a\rb\r\n\r\n",
            "HTTP/1.1 103 Early Hints\r\n folded\r\n\r\n", "HTTP/2 103 Early Hints\r\n\r\n", "HTTP/1.1 10\r\n\r\n",
        ])
        func `a malformed interim response is an error`(text: String) async throws {
            let server = server(text)
            for delivery in [HTTPResponse.Delivery.buffered, .streamed] {
                let request = HTTPRequest(url: server.url()).with { $0.responseDelivery = delivery }
                let error = await #expect(throws: HTTPError.self) { try await Carrier.loader().load(request) }
                #expect(error?.code == .invalidResponse, "\(String(describing: error))")
            }
        }
    }
#endif
