// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    @testable import Letterhead
    import TestKit
    import Synchronization
    import Testing

    /// Responses that are malformed, too large or never arrive.
    extension CurlLoaderTests {
        @Test(
            "What is not a whole response is an error that says what happened",
            arguments: [
                ("", HTTPError.Code.connectionLost), ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n", .invalidResponse),
                ("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nshort", .invalidResponse),
                ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshor", .invalidResponse),
                ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n", .invalidResponse),
                ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nshort\r\n", .invalidResponse),
                ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", .invalidResponse),
                ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nno gzip", .invalidResponse),
                ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nlength", .invalidResponse),
                ("HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\nlength", .invalidResponse),
                ("HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\nfive!", .invalidResponse),
                ("HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\nfive!", .invalidResponse),
                ("HTTP/1.1 200 OK\r\nX Y: 1\r\nContent-Length: 0\r\n\r\n", .invalidResponse),
                ("HTTP/1.1 200 OK\r\nX: a\u{0}b\r\nContent-Length: 0\r\n\r\n", .invalidResponse),
                ("HTTP/1.1 200 OK\r\nno colon\r\nContent-Length: 0\r\n\r\n", .invalidResponse),
                ("Good morning\r\n\r\n", .invalidResponse), ("\u{0}\u{1}\u{2}\u{3}", .invalidResponse),
                ("HTTP/7.0 200 OK\r\nContent-Length: 0\r\n\r\n", .invalidResponse),
                ("HTTP/1.1 abc OK\r\nContent-Length: 0\r\n\r\n", .invalidResponse),
            ])
        func faults(bytes: String, code: HTTPError.Code) async throws {
            let server = RawServer.answering(bytes, closing: true)
            let error = await #expect(throws: HTTPError.self) { try await loader.load(HTTPRequest(url: server.url())) }
            #expect(error?.code == code, "\(String(describing: error))")
            #expect(error?.mayHaveBeenSent == true)
        }

        @Test func `a reset in the body is a lost connection, and the error contains the head`() async throws {
            let isTime = DispatchSemaphore(value: 0)
            let server = RawServer { connection, _ in
                _ = connection.readHead()
                connection.write("HTTP/1.1 200 OK\r\nX-Seen: 1\r\nContent-Length: 20\r\n\r\nshort")
                isTime.wait()
                connection.reset()
            }
            let task = Task { try await loader.load(HTTPRequest(url: server.url())) }
            await until { server.connectionCount == 1 }
            // A reset may overtake what was sent, and a load that is not streamed reports nothing before its end.
            await waitForTimeout(of: .milliseconds(50))
            isTime.signal()
            let error = await #expect(throws: HTTPError.self) { try await task.value }
            #expect(error?.code == .connectionLost)
            #expect(error?.response?.headers["X-Seen"] == "1")
        }

        @Test func `a body of unknown length after many headers is sent, or refused if libcurl would not frame it`()
            async throws
        {
            let server = RawServer.answering("HTTP/1.1 204 No Content\r\n\r\n")
            let isFramed = !CurlQuirks.losesFraming || Carrier.current == .direct
            for (size, isSent) in [(32 << 10, isFramed), (1 << 10, true)] {
                var request = HTTPRequest(method: .post, url: server.url())
                request.headers["X-Large"] = String(repeating: "x", count: size)
                request.body = StreamBody([Data("piece".utf8)])
                let error = await failure { try await loader.load(request) }
                #expect(isSent ? error == nil : error?.code == .invalidRequest && error?.mayHaveBeenSent == false)
                #expect(isSent || error?.message.contains("libcurl 8.7") == true)
            }
        }

        @Test func `a body over the limit is an error, and a body at the limit is not`() async throws {
            let server = RawServer.answering(
                "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + String(repeating: "x", count: 1000))
            var request = HTTPRequest(url: server.url())
            request.responseLimit = 1000
            #expect(try await loader.load(request).body.data().count == 1000)
            request.responseLimit = 999
            #expect(await failure { try await loader.load(request) }?.code == .responseTooLarge)
        }

        @Test(arguments: ["identity", "x-unknown"])
        func `a body that isn't decoded has the same limit with a content coding`(coding: String) async throws {
            let server = RawServer.answering(
                "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: 11\r\n\r\nhello world")
            var request = HTTPRequest(url: server.url())
            request.responseLimit = 10
            #expect(await failure { try await loader.load(request) }?.code == .responseTooLarge)
            request.responseLimit = 11
            #expect(try await loader.load(request).body.data() == Data("hello world".utf8))
        }

        @Test func `a body whose length is over the limit is not read`() async throws {
            let server = RawServer.stalling(after: "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nh")
            let request = HTTPRequest(url: server.url()).with { $0.responseLimit = 10 }
            #expect(await failure { try await loader.load(request) }?.code == .responseTooLarge)
        }
    }
#endif
