// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    import Letterhead
    import TestKit
    import Synchronization
    import Testing

    @testable import Letterhead

    /// What a server may send to crash the process, or to deliver a response to the wrong caller.
    @Suite(.bothCarriers, .timeLimit(.minutes(3)))
    struct HostileServerTests {
        private let trusting = TransportConfiguration.trusting

        /// A separate program. Its freed memory is overwritten, so that a use of it is detected.
        @Test(arguments: ["folds", "claims"])
        func `hostile heads on reused connections neither crash nor mix up responses`(name: String) async throws {
            let (status, output) = try await ChildProcess.run(
                ofPackage: "transport-stress", [name, "2000"], seconds: 60,
                environment: ["MALLOC_PERTURB_": "165", "MALLOC_CHECK_": "3"])
            #expect(status == 0 && output.contains("ok: "), "\(output)")
        }

        @Test(arguments: [false, true])
        func `a status line that claims HTTP/2 is refused if HTTP/2 was not negotiated`(isSecure: Bool) async throws {
            let tls = isSecure ? RawTLS() : nil
            let server = RawServer(tls: tls) { connection, _ in
                while connection.readRequest() != nil {
                    connection.write("HTTP/2.0 200 OK\r\nContent-Length: 2\r\n\r\nok")
                }
            }
            let loader = Carrier.loader(trusting)
            for number in 1...3 {
                let error = await failure(of: server, .buffered, over: loader)
                #expect(error?.code == .invalidResponse && error?.message.contains("claims HTTP/2") == true)
                #expect(server.connectionCount == number, "the connection was used again")
            }
        }

        @Test func `a socket of -1 is not watched`() throws {
            let wake = try #require(CurlMailbox(TransportConfiguration()))
            let poller = try #require(SocketPoller(wakeDescriptor: wake.wakeDescriptor))
            poller.watch(-1, for: [.reading, .writing])
            poller.keep(-1)
            poller.unwatch(-1)
            poller.forget(-1)
            #expect(poller.wait(nanoseconds: 0) == 0)
        }

        @Test(arguments: [
            ("HTTP/1.1 200 OK\r\n X-Two: v\r\nContent-Length: 0\r\n\r\n", HTTPError.Code.invalidResponse),
            ("HTTP/1.1 200 OK\r\nX-Frame\r-Options: v\r\nContent-Length: 0\r\n\r\n", .invalidResponse),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nno colon\r\n\r\n", .invalidResponse),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX\r-Y: 1\r\n\r\n", .invalidResponse),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
                .invalidResponse
            ),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 00\r\n\r\n0\r\n\r\n", .invalidResponse),
            ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok", .invalidResponse),
            ("HTTP/1.1 2000 OK\r\nContent-Length: 0\r\n\r\n", .invalidResponse),
            ("HTTP/2 2000 OK\r\nContent-Length: 0\r\n\r\n", .invalidResponse),
            ("HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n", .invalidResponse),
        ])
        func `a malformed head is an invalid response, and its connection is closed`(
            text: String, code: HTTPError.Code
        ) async throws {
            let server = RawServer.answering(text)
            let loader = Carrier.loader()
            for (number, delivery) in [HTTPResponse.Delivery.buffered, .streamed].enumerated() {
                let error = await failure(of: server, delivery, over: loader)
                #expect(error?.code == code, "\(String(describing: error))")
                if !text.contains("chunked\r\n\r\n0\r\n") { #expect(server.connectionCount == number + 1) }
            }
        }

        private func failure(
            of server: RawServer, _ delivery: HTTPResponse.Delivery, over loader: CurlLoader
        ) async -> HTTPError? {
            let request = HTTPRequest(url: server.url()).with { $0.responseDelivery = delivery }
            return await TestKit.failure { try await loader.load(request).body.data() }
        }

        @Test func `a header line is read up to the limit of its carrier, and is too large above it`() async throws {
            let isDirect = Carrier.current == .direct
            let code = isDirect ? nil : HTTPError.Code.responseTooLarge
            let reason = isDirect ? "maximumHeadSize" : "libcurl accepts"
            for (size, code) in [(100_000, nil), (120_000, code), (240_000, code), (300_000, .responseTooLarge)] {
                let server = RawServer.answering(
                    "HTTP/1.1 200 OK\r\nX-A: \(String(repeating: "a", count: size))\r\nContent-Length: 2\r\n\r\nok")
                do {
                    let response = try await Carrier.loader().load(HTTPRequest(url: server.url()))
                    #expect(code == nil && response.headers["X-A"]?.utf8.count == size)
                } catch {
                    #expect(error.code == code && error.message.contains(reason), "\(error)")
                }
            }
        }
    }
#endif
