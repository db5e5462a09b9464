// SPDX-License-Identifier: MIT
#if os(Linux)
    import Foundation
    import Letterhead
    import TestKit
    import Testing

    /// What the last attempt link decides about the headers that the library adds, as the bytes on the wire.
    @Suite(.bothCarriers, .timeLimit(.minutes(3)))
    struct OmittedHeadersTests {
        /// Keeps the requests that it received, with their bodies.
        private func server(_ heads: Heads) -> RawServer {
            RawServer { connection, _ in
                while let request = connection.readRequest() {
                    heads.add(request.head + String(decoding: request.body, as: UTF8.self))
                    connection.write("HTTP/1.1 204 No Content\r\n\r\n")
                }
            }
        }

        /// Sends JSON through an attempt link, and returns the heads that the server received.
        private func heads(
            _ change: @escaping @Sendable (inout HTTPRequest) -> Void
        ) async throws -> (heads: [String], error: HTTPError?) {
            let heads = Heads()
            let server = server(heads)
            let client = HTTPClient(attemptLinks: ModifyRequest(change))
            let request = HTTPRequest(method: .post, url: server.url("/a")).with { $0.body = JSONBody([1]) }
            do { try await client.send(request) } catch let error as HTTPError { return (heads.all, error) }
            return (heads.all, nil)
        }

        @Test func `an attempt link removes the headers that the library adds`() async throws {
            let sent = try await heads { $0.omittedHeaders = [.contentType, .acceptEncoding, .accept, .host] }
            #expect(sent.heads == ["POST /a HTTP/1.1\r\nContent-Length: 3\r\n\r\n[1]"])
        }

        @Test func `an attempt link replaces the headers that the library adds, also if they are omitted`()
            async throws
        {
            let sent = try await heads {
                $0.headers = ["Host": "other.test", "Content-Type": "a/b", "Accept-Encoding": "identity"]
                $0.omittedHeaders = [.contentType, .acceptEncoding, .accept, .host]
            }
            let lines = "Host: other.test\r\nContent-Type: a/b\r\nAccept-Encoding: identity\r\nContent-Length: 3\r\n"
            #expect(sent.heads == ["POST /a HTTP/1.1\r\n\(lines)\r\n[1]"])
        }

        @Test func `a template's modifier removes the Content-Type of an upload`() async throws {
            let heads = Heads()
            let server = server(heads)
            let template = TestEndpoint("a", answering: Void.self).with {
                $0.method = .put
                $0.body = DataBody(Data("x".utf8), contentType: "image/png")
            }
            let client = HTTPClient(environment: ServerEnvironment(baseURL: server.url()))
                .omittingHeader(.acceptEncoding).omittingHeader(.host)
            try await client.send(template.omittingHeader(.contentType))
            #expect(heads.all == ["PUT /a HTTP/1.1\r\nContent-Length: 1\r\n\r\nx"])
        }

        @Test func `a template cannot omit what frames the message`() async throws {
            let client = HTTPClient(environment: .of("http://127.0.0.1:1"))
            let error = await failure { try await client.send(TestEndpoint().omittingHeader(.contentLength)) }
            #expect(error?.code == .invalidRequest && error?.mayHaveBeenSent == false)
            #expect(error?.message == "the header Content-Length frames the message and cannot be omitted")
        }

        @Test(arguments: [HTTPHeaders.Name.contentLength, .transferEncoding])
        func `what frames the message cannot be omitted`(name: HTTPHeaders.Name) async throws {
            let sent = try await heads { $0.omittedHeaders = [name] }
            #expect(sent.error?.code == .invalidRequest && sent.heads.isEmpty)
            #expect(sent.error?.message == "the header \(name) frames the message and cannot be omitted")
        }
    }
#endif
