// SPDX-License-Identifier: MIT
#if Foundation || canImport(Darwin)
    import Foundation
    import Testing

    @testable import Letterhead

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// What is made of a response of Foundation's.
    @Suite struct URLSessionResponseTests {
        private func head(_ headers: [String: String], status: Int = 200) throws -> HTTPURLResponse {
            let url = try #require(URL(string: "https://a.test"))
            return try #require(
                HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: headers))
        }

        private func headers(_ coding: String, to method: HTTPMethod = .get) throws -> HTTPHeaders {
            let request = HTTPRequest(method: method, url: try #require(URL(string: "https://a.test")))
            let head = try head(["Content-Encoding": coding, "Content-Length": "10", "X-Own": "1"])
            return HTTPResponse(head, to: request).headers
        }

        @Test(arguments: ["gzip", "x-gzip", "deflate", "br", "Identity", "GZIP, br"])
        func `the header of a coding that Foundation decompresses is removed`(coding: String) throws {
            let headers = try headers(coding)
            #expect(!headers.contains(.contentEncoding) && !headers.contains(.contentLength) && headers["X-Own"] == "1")
        }

        @Test(arguments: ["compress", "aes128gcm", "gzip, aes128gcm"])
        func `the header of any other coding is kept`(coding: String) throws {
            let headers = try headers(coding)
            #expect(headers[.contentEncoding] == coding && headers[.contentLength] == "10")
        }

        @Test func `the response to a HEAD has the headers of every coding`() throws {
            #expect(try headers("gzip", to: .head)[.contentEncoding] == "gzip")
        }

        @Test func `a length is known if Foundation does not decompress the body`() throws {
            #expect(try head(["Content-Length": "10"]).knownLength(of: .get) == 10)
            #expect(try head(["Content-Length": "10", "Content-Encoding": "gzip"]).knownLength(of: .get) == nil)
            #expect(try head([:]).knownLength(of: .get) == nil)
        }

        @Test func `a response that has no body has a length of zero`() throws {
            #expect(try head(["Content-Length": "10"]).knownLength(of: .head) == 0)
            for status in [204, 304] {
                #expect(try head(["Content-Length": "10"], status: status).knownLength(of: .get) == 0)
            }
        }
    }
#endif
