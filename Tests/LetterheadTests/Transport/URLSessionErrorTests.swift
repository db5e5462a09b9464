// SPDX-License-Identifier: MIT
#if Foundation || canImport(Darwin)
    import Foundation
    import Testing

    @testable import Letterhead

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// The mapping of Foundation's codes that have several meanings.
    @Suite struct URLSessionErrorTests {
        private func head(_ headers: [String: String]) throws -> HTTPURLResponse {
            let url = try #require(URL(string: "https://a.test"))
            return try #require(
                HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: headers))
        }

        private func error(
            _ code: URLError.Code, _ method: HTTPMethod = .get, head: HTTPURLResponse? = nil, received: Int = 0
        ) throws -> HTTPError {
            let request = HTTPRequest(method: method, url: try #require(URL(string: "https://a.test")))
            return HTTPError(endOf: request, URLError(code), head: head, receivedBytes: received)
        }

        @Test func `a connection that is lost before the head is connectionLost, and the request may have been sent`()
            throws
        {
            let error = try error(.networkConnectionLost)
            #expect(error.code == .connectionLost && error.mayHaveBeenSent && error.response == nil)
            #expect((error.underlying as? URLError)?.code == .networkConnectionLost)
        }

        @Test(arguments: [URLError.Code.networkConnectionLost, .unknown])
        func `a body with fewer bytes than its length is an invalid response`(code: URLError.Code) throws {
            let error = try error(code, head: head(["Content-Length": "10"]), received: 9)
            #expect(error.code == .invalidResponse && error.response?.status == .ok)
            #expect(error.message == "the body ended after 9 of 10 bytes")
        }

        @Test(arguments: [[:], ["Content-Length": "10", "Content-Encoding": "gzip"]])
        func `a body without a known length that is truncated is connectionLost`(headers: [String: String]) throws {
            #expect(try error(.networkConnectionLost, head: head(headers), received: 9).code == .connectionLost)
            #expect(try error(.unknown, head: head(headers), received: 9).code == .unknown)
        }

        @Test func `a lost connection after the head of a response to a HEAD is connectionLost`() throws {
            let error = try error(.networkConnectionLost, .head, head: head(["Content-Length": "10"]))
            #expect(error.code == .connectionLost)
        }

        @Test func `any other code is mapped by the table`() throws {
            #expect(try error(.cannotConnectToHost).code == .cannotConnect)
            #expect(try error(.timedOut, head: head(["Content-Length": "10"])).code == .timedOut)
        }
    }
#endif
