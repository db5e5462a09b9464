// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    @testable import Letterhead
    import TestKit
    import Testing

    /// What becomes of a request if its body is pulled while the server responds early, or not at all.
    @Suite(.bothCarriers, .timeLimit(.minutes(3)))
    struct StreamedUploadTests {
        /// A body that arrives in pieces, so that libcurl is paused and resumed all the time.
        private struct Pieces: HTTPBody {
            let count: Int
            var contentLength: Int? { nil }

            func chunks() -> BodyChunks {
                let sent = Counter()
                return BodyChunks { [count] in
                    let isThere = sent.next() <= count
                    await Task.yield()
                    return isThere ? Data(count: 3000) : nil
                }
            }
        }

        private func request(_ server: RawServer, method: HTTPMethod = .put) -> HTTPRequest {
            HTTPRequest(method: method, url: server.url()).with { $0.body = Pieces(count: 60) }
        }

        @Test func `a connection that is reset during the upload is lost, and the request may be retried`() async throws
        {
            let server = RawServer { connection, _ in
                _ = connection.readHead()
                _ = connection.read(Int.random(in: 0...60_000))
                connection.reset()
            }
            let loader = Carrier.loader()
            for _ in 0..<40 {
                let error = await #expect(throws: HTTPError.self) { try await loader.load(request(server)) }
                #expect(error?.code == .connectionLost, "\(String(describing: error))")
            }
        }

        @Test(arguments: [401, 413])
        func `a complete response before the end of the request body is returned`(status: Int) async throws {
            let server = RawServer { connection, _ in
                guard connection.readHead() != nil, connection.read(Int.random(in: 0...20_000)) != nil else { return }
                connection.write("HTTP/1.1 \(status) Early\r\nContent-Length: 5\r\nConnection: close\r\n\r\nearly")
                _ = connection.waitForEnd()
            }
            let loader = Carrier.loader()
            for _ in 0..<40 {
                let response = try await loader.load(request(server, method: .post))
                #expect(response.status == HTTPStatus(status))
                #expect(try await response.body.data() == Data("early".utf8))
            }
        }

        @Test func `a malformed response during the upload is the server's fault, not the request's`() async throws {
            let server = RawServer { connection, _ in
                guard connection.readHead() != nil, connection.read(Int.random(in: 0...20_000)) != nil else { return }
                connection.write("HTTP/1.1 200 OK\r\nX-Frame\r-Options: v\r\n\r\n")
                _ = connection.waitForEnd()
            }
            let loader = Carrier.loader()
            for _ in 0..<20 {
                let error = await #expect(throws: HTTPError.self) { try await loader.load(request(server)) }
                #expect(error?.code == .invalidResponse, "\(String(describing: error))")
            }
        }
    }
#endif
