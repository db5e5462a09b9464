// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    @testable import Letterhead
    import TestKit
    import Synchronization
    import Testing

    /// Bodies of requests that are pulled while they are sent.
    extension CurlLoaderStreamTests {
        @Test(arguments: [true, false], ["POST", "PUT"])
        func `a streamed request body arrives complete, with its length or in chunks`(isKnown: Bool, method: String)
            async throws
        {
            let (heads, pieces) = (Heads(), 100)
            let server = RawServer.echoing(heads)
            var request = HTTPRequest(method: HTTPMethod(method), url: server.url())
            let body = Pulled(pieces: pieces, size: 30_000, length: isKnown ? pieces * 30_000 : nil)
            request.body = body
            #expect(try await loader.load(request).body.data() == body.whole)
            let framing = isKnown ? "Content-Length: \(pieces * 30_000)" : "Transfer-Encoding: chunked"
            #expect(heads.all.count == 1 && heads.all[0].contains("\r\n\(framing)\r\n"))
            #expect(!heads.all[0].contains("Expect"))
        }

        @Test(arguments: [-1, 1])
        func `a body of another length than declared is an error, and never a complete request`(by: Int) async throws {
            let whole = ByteTally()
            let server = RawServer { connection, _ in
                while connection.readRequest() != nil {
                    whole.add(1)
                    connection.write("HTTP/1.1 204 No Content\r\n\r\n")
                }
            }
            var request = HTTPRequest(method: .post, url: server.url())
            request.body = Pulled(pieces: 3, size: 1000, length: 3000 + by)
            let error = await #expect(throws: HTTPError.self) { try await loader.load(request) }
            #expect(error?.code == .invalidRequest && error?.mayHaveBeenSent == true)
            #expect(error?.underlying is HTTPBodyError)
            #expect(whole.value == 0)
        }

        @Test func `the error of a body that throws is the error of the load`() async throws {
            let server = RawServer.answering("HTTP/1.1 204 No Content\r\n\r\n")
            var request = HTTPRequest(method: .post, url: server.url())
            request.body = Pulled(pieces: 3, size: 1000, length: nil, failing: 2)
            #expect(await failure { try await loader.load(request) }?.underlying is Pulled.Failure)
        }

        /// libcurl alone would follow each 417 with another request that expects the same (RFC 9110, 10.1.1).
        @Test(arguments: ["", "Connection: close\r\n"], [HTTPResponse.Delivery.buffered, .streamed])
        func `a request is sent again without Expect after 417, once`(field: String, delivery: HTTPResponse.Delivery)
            async throws
        {
            let heads = Heads()
            let server = refusingServer(field, heads)
            let response = try await loader.load(expecting(server, delivery))
            #expect(response.status == 417)
            #expect(try await response.body.data() == Data("no".utf8))
            #expect(heads.all.map { $0.contains("\r\nExpect: ") } == [true, false])
        }

        /// libcurl discards the body of a response that it would follow.
        @Test func `a request that can be sent only once fails after 417`() async throws {
            let heads = Heads()
            let server = refusingServer("", heads)
            var request = expecting(server, .buffered)
            request.body = Pulled(pieces: 3, size: 1000, length: 3000, isReplayable: false)
            let error = await #expect(throws: HTTPError.self) { try await loader.load(request) }
            #expect(error?.response?.status == 417 && heads.all.count == 1, "\(String(describing: error))")
        }

        private func expecting(_ server: RawServer, _ delivery: HTTPResponse.Delivery) -> HTTPRequest {
            var request = HTTPRequest(method: .post, url: server.url())
            request.body = Pulled(pieces: 3, size: 1000, length: 3000)
            request.headers[.expect] = "100-continue"
            request.responseDelivery = delivery
            return request
        }

        /// A server that refuses each request, and reads the bodies of those that don't wait for that.
        private func refusingServer(_ field: String, _ heads: Heads) -> RawServer {
            RawServer { connection, _ in
                while let head = connection.readHead() {
                    heads.add(head)
                    guard head.contains("\r\nExpect: ") || connection.skipBody(of: head) else { return }
                    connection.write("HTTP/1.1 417 Expectation Failed\r\n\(field)Content-Length: 2\r\n\r\nno")
                    if !field.isEmpty { return connection.close() }
                }
            }
        }

        @Test func `cancelling while the body is produced ends the body, too`() async throws {
            let server = RawServer.stalling()
            let (ended, begun) = (AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream())
            var request = HTTPRequest(method: .post, url: server.url())
            request.body = Endless(begun: begun.continuation, ended: ended.continuation)
            let task = Task { [request] in try await loader.load(request) }
            for await _ in begun.stream { break }
            task.cancel()
            #expect(await failure { try await task.value }?.code == .cancelled)
            for await _ in ended.stream { break }
        }

        @Test(arguments: [true, false])
        func `if a reused connection closes, only a replayable body is sent again`(isReplayable: Bool) async throws {
            let sums = Heads()
            let server = RawServer { connection, number in
                while let head = connection.readHead() {
                    if head.hasPrefix("PUT"), number == 0 {
                        // Part of the body is read, so that it is certain that part was sent.
                        _ = connection.read(1000)
                        return connection.close()
                    }
                    if head.hasPrefix("PUT"), let body = connection.read(300_000) { sums.add("\(body.hashValue)") }
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                }
            }
            _ = try await loader.load(HTTPRequest(url: server.url()))
            var request = HTTPRequest(method: .put, url: server.url())
            let body = Pulled(pieces: 10, size: 30_000, length: 300_000, isReplayable: isReplayable)
            request.body = body
            if isReplayable {
                // libcurl sends again or reports the loss, depending on the socket. A partial body never arrives.
                let status = try? await loader.load(request).status
                #expect(status == nil || sums.all == ["\(body.whole.hashValue)"])
            } else {
                #expect(await failure { try await loader.load(request) }?.code == .connectionLost && sums.all.isEmpty)
            }
        }
    }

    /// A body that is pulled in pieces, each filled with its number.
    private struct Pulled: HTTPBody {
        struct Failure: Error {}
        let pieces: Int
        let size: Int
        let length: Int?
        var isReplayable = true
        var failing = -1
        var contentLength: Int? { length }
        var whole: Data {
            Data((0..<pieces).flatMap { [UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: size) })
        }

        func chunks() -> BodyChunks {
            let next = ByteTally()
            return BodyChunks { [pieces, size, failing] in
                let number = next.value
                next.add(1)
                if number == failing { throw Failure() }
                return number < pieces ? Data(repeating: UInt8(truncatingIfNeeded: number), count: size) : nil
            }
        }
    }

    /// A body without its first piece, until its task is cancelled.
    private struct Endless: HTTPBody {
        let begun: AsyncStream<Void>.Continuation
        let ended: AsyncStream<Void>.Continuation

        func chunks() -> BodyChunks {
            BodyChunks {
                begun.yield()
                defer { ended.yield() }
                try await Task.sleep(for: .seconds(100))
                return nil
            }
        }
    }
#endif
