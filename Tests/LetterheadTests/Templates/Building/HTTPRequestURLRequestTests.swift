// SPDX-License-Identifier: MIT
#if Foundation || canImport(Darwin)
    import Foundation
    import Letterhead
    import LetterheadTesting
    import TestKit
    import Testing

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    private struct OnlyChunks: HTTPBody {
        func chunks() -> BodyChunks { BodyChunks { nil } }
    }

    @Suite struct HTTPRequestURLRequestTests {
        private func request(_ url: String = "https://h/p", _ change: (inout HTTPRequest) -> Void = { _ in }) throws
            -> HTTPRequest
        {
            HTTPRequest(url: try #require(URL(string: url))).with(change)
        }

        @Test(arguments: [
            "https://example.com/a%2Fb/?x=1&x=2&y&z=%2B+%20", "http://127.0.0.1:8080", "https://[::1]/a?b=c%26d",
            "https://example.com/%e2%82%ac", "https://EXAMPLE.com/a//b/./c?#f",
        ]) func `a URL is converted in both directions byte for byte`(url: String) throws {
            let urlRequest = try request(url).urlRequest()
            #expect(urlRequest.url?.absoluteString == url)
            #expect(try HTTPRequest(urlRequest).urlString() == url)
        }

        @Test(arguments: ["GET", "POST", "PURGE", "purge", "QUERY"])
        func `a method is converted in both directions`(method: String) throws {
            let urlRequest = try request { $0.method = HTTPMethod(method) }.urlRequest()
            #expect(urlRequest.httpMethod == method)
            #expect(try HTTPRequest(urlRequest).method.rawValue == method)
        }

        @Test func `Foundation writes a method that it knows in upper case`() throws {
            let urlRequest = try request { $0.method = "delete" }.urlRequest()
            #expect(urlRequest.httpMethod?.uppercased() == "DELETE")
        }

        @Test func `header values are converted in both directions, and those of one name are joined`() throws {
            let urlRequest = try request {
                $0.headers = [
                    "X-One": "1", "Accept": "a", "accept": "b", "Cookie": "a=1", "Cookie": "b=2", "Set-Cookie": "c=3",
                    "Set-Cookie": "d=4",
                ]
            }.urlRequest()
            #expect(urlRequest.allHTTPHeaderFields?.count == 4)
            #expect(urlRequest.value(forHTTPHeaderField: "accept") == "a, b")
            #expect(urlRequest.value(forHTTPHeaderField: "Cookie") == "a=1; b=2")
            #expect(urlRequest.value(forHTTPHeaderField: "Set-Cookie") == "c=3, d=4")
            let back = try HTTPRequest(urlRequest)
            #expect(back.headers["x-one"] == "1" && back.headers["Accept"] == "a, b")
        }

        @Test func `a body and its media type are converted in both directions`() throws {
            let urlRequest = try request { ($0.method, $0.body) = (.post, TextBody("é")) }.urlRequest()
            #expect(urlRequest.httpBody == Data("é".utf8))
            #expect(urlRequest.value(forHTTPHeaderField: "Content-Type") == "text/plain; charset=utf-8")
            let back = try HTTPRequest(urlRequest)
            #expect(try back.body.encode() == Data("é".utf8))
            #expect(back.framedHeaders()[.contentType] == "text/plain; charset=utf-8")
        }

        @Test func `without a body the request has neither body nor media type`() throws {
            let urlRequest = try request().urlRequest()
            #expect(urlRequest.httpBody == nil && urlRequest.allHTTPHeaderFields?.isEmpty != false)
            #expect(try HTTPRequest(urlRequest).body.isEmpty)
        }

        @Test(arguments: [.milliseconds(1500), .seconds(1), .seconds(3600)] as [Duration])
        func `the idle timeout is converted in both directions`(timeout: Duration) throws {
            let urlRequest = try request { $0.idleTimeout = timeout }.urlRequest()
            #expect(urlRequest.timeoutInterval == timeout / .seconds(1))
            let back = try HTTPRequest(urlRequest)
            #expect(back.idleTimeout == timeout && back.timeout == nil)
        }

        @Test func `the limit of an attempt has no counterpart in Foundation`() throws {
            let urlRequest = try request { $0.timeout = .seconds(5) }.urlRequest()
            #expect(urlRequest.timeoutInterval == 60)
            #expect(try HTTPRequest(urlRequest).timeout == nil)
        }

        @Test(arguments: [Double.infinity, .greatestFiniteMagnitude, 1e19])
        func `an infinite timeout of Foundation becomes the longest Duration`(seconds: Double) throws {
            var urlRequest = try request().urlRequest()
            urlRequest.timeoutInterval = seconds
            #expect(try #require(HTTPRequest(urlRequest).idleTimeout) > .seconds(86_400 * 365))
        }

        @Test func `a timeout that is not a number is refused`() throws {
            var urlRequest = try request().urlRequest()
            urlRequest.timeoutInterval = .nan
            let error = #expect(throws: HTTPError.self) { try HTTPRequest(urlRequest) }
            #expect(error?.code == .invalidRequest && error?.message.contains("timeout") == true)
        }

        @Test func `Foundation's default timeout does not become a timeout of the request`() async throws {
            let back = try HTTPRequest(request().urlRequest())
            #expect(back.idleTimeout == nil)
            let mock = MockLoader { .ok($0) }
            try await HTTPClient(transport: mock).idleTimeout(.seconds(5)).send(back)
            #expect(mock.requests.first?.idleTimeout == .seconds(5))
        }

        @Test func `options and the identity are not part of the URL request`() throws {
            enum Tenant: HTTPRequestOption { static let defaultOptionValue = "none" }
            let original = try request { $0[option: Tenant.self] = "acme" }
            let back = try HTTPRequest(original.urlRequest())
            #expect(back[option: Tenant.self] == "none" && back.id != original.id)
        }

        @Test func `the request's own environment is applied first`() throws {
            var request = HTTPRequest()
            request.path = "a"
            request.serverEnvironment = .of("https://env/api", headers: ["X": "1"])
            let urlRequest = try request.urlRequest()
            #expect(urlRequest.url?.absoluteString == "https://env/api/a")
            #expect(urlRequest.value(forHTTPHeaderField: "X") == "1")
        }

        @Test func `a body that is not in memory or cannot be encoded is refused, and its value is not in the error`()
            throws
        {
            let chunks = try #require(throws: HTTPError.self) { try request { $0.body = OnlyChunks() }.urlRequest() }
            #expect(chunks.code == .invalidRequest && chunks.underlying is HTTPBodyError)
            let unencodable = try request { $0.body = UnencodableBody() }
            let error = try #require(throws: HTTPError.self) { try unencodable.urlRequest() }
            #expect(error.code == .invalidRequest && error.underlying is EncodingError)
            #expect(!"\(error)".contains("SECRET"))
        }

        @Test func `an invalid request and a URLRequest without URL are refused`() throws {
            #expect(throws: HTTPError.self) { try request { $0.headers = ["X": "a\r\nb"] }.urlRequest() }
            #expect(throws: HTTPError.self) { try HTTPRequest().urlRequest() }
            var urlRequest = URLRequest(url: try #require(URL(string: "https://h")))
            urlRequest.url = nil
            let error = #expect(throws: HTTPError.self) { try HTTPRequest(urlRequest) }
            #expect(error?.code == .invalidRequest && error?.message.contains("URL") == true)
        }

        @Test func `a body stream is sent once, with the length of the Content-Length`() async throws {
            var urlRequest = URLRequest(url: try #require(URL(string: "https://h")))
            urlRequest.httpBodyStream = InputStream(data: Data("four".utf8))
            urlRequest.setValue("4", forHTTPHeaderField: "Content-Length")
            let request = try HTTPRequest(urlRequest)
            #expect(request.body.contentLength == 4 && !request.body.isReplayable && request.headers.isEmpty)
            #expect(try await request.urlRequest(readingBodyUpTo: 4).httpBody == Data("four".utf8))
            urlRequest.setValue("-1", forHTTPHeaderField: "Content-Length")
            #expect(throws: HTTPError.self) { try HTTPRequest(urlRequest) }
        }

        @Test func `a body that is read into memory keeps its headers, and one over the limit is refused`() async throws
        {
            let request = try request {
                $0.method = .put
                $0.body = StreamBody(["ab", "cd"].map { Data($0.utf8) }, contentType: "text/plain")
            }
            let urlRequest = try await request.urlRequest(readingBodyUpTo: 4)
            #expect(urlRequest.httpBody == Data("abcd".utf8))
            #expect(urlRequest.value(forHTTPHeaderField: "Content-Type") == "text/plain")
            let error = try #require(
                await #expect(throws: HTTPError.self) { try await request.urlRequest(readingBodyUpTo: 3) })
            #expect(error.code == .invalidRequest && error.underlying as? HTTPBodyError == .tooLarge(limit: 3))
        }

        @Test func `a request without changes in its URLRequest stays as it is`() throws {
            enum Tenant: HTTPRequestOption { static let defaultOptionValue = "none" }
            var request = try request("https://h/a%2Fb?x=1&y") {
                $0.method = .post
                $0.headers = ["X-One": "1", "accept": "a", "Accept": "b"]
                $0.headers.setSecret("s", for: "X-Key")
                $0.body = JSONBody(["a": 1])
                $0.idleTimeout = .seconds(60)
                $0[option: Tenant.self] = "acme"
            }
            let before = request
            try request.update(from: request.urlRequest())
            #expect(request.id == before.id && request[option: Tenant.self] == "acme")
            #expect(request.headers == before.headers && request.headers.last?.isSecret == true)
            #expect(try request.urlString() == before.urlString() && request.idleTimeout == .seconds(60))
            #expect(
                request.omittedHeaders.isEmpty && request.body.additionalHeaders[.contentType] == "application/json")
        }

        @Test func `what a middleware changes in the URLRequest is taken, and the rest of the request stays`() throws {
            var request = try request("https://h/p") {
                $0.headers = ["X-Old": "1", "X-Many": "a", "X-Many": "b"]
                $0.headers.setSecret("old", for: "X-Key")
                $0.body = TextBody("old")
            }
            let id = request.id
            var urlRequest = try request.urlRequest()
            urlRequest.url = URL(string: "http://other:8080/q?z=1")
            urlRequest.httpMethod = "PUT"
            urlRequest.timeoutInterval = 5
            urlRequest.httpBody = Data("new".utf8)
            urlRequest.setValue(nil, forHTTPHeaderField: "X-Old")
            urlRequest.setValue("new", forHTTPHeaderField: "X-Key")
            try request.update(from: urlRequest)
            #expect(request.id == id && request.method == .put && request.idleTimeout == .seconds(5))
            #expect(try request.urlString() == "http://other:8080/q?z=1")
            #expect(try request.body.encode() == Data("new".utf8))
            #expect(request.headers.values(for: "X-Many") == ["a", "b"] && !request.headers.contains("X-Old"))
            #expect(request.omittedHeaders == ["X-Old"] && request.headers["X-Key"] == "new")
            #expect(request.headers.first { $0.name == "X-Key" }?.isSecret == true)
            #expect(request.framedHeaders()[.contentType] == "text/plain; charset=utf-8")
        }

        @Test func `removed bytes remove the body, and a streamed body stays`() throws {
            var (posted, streamed) = (
                try request { $0.body = TextBody("x") }, try request { $0.body = StreamBody([Data([1])]) }
            )
            var urlRequest = try posted.urlRequest()
            urlRequest.httpBody = nil
            try posted.update(from: urlRequest)
            #expect(posted.body.isEmpty)
            urlRequest.setValue("1", forHTTPHeaderField: "X")
            try streamed.update(from: urlRequest)
            #expect(streamed.body is StreamBody && streamed.headers["X"] == "1")
            urlRequest.url = nil
            #expect(throws: HTTPError.self) { try streamed.update(from: urlRequest) }
        }

        @Test func `a Content-Length that fits the body is replaced, and any other is refused`() throws {
            var urlRequest = URLRequest(url: try #require(URL(string: "https://h")))
            urlRequest.httpMethod = "POST"
            urlRequest.httpBody = Data("four".utf8)
            urlRequest.allHTTPHeaderFields = ["Content-Length": "4", "X": "1"]
            let request = try HTTPRequest(urlRequest)
            #expect(request.headers == ["X": "1"])
            #expect(throws: Never.self) { try request.validate() }
            urlRequest.allHTTPHeaderFields = ["Content-Length": "5"]
            let error = #expect(throws: HTTPError.self) { try HTTPRequest(urlRequest) }
            #expect(error?.code == .invalidRequest && error?.message.contains("Content-Length") == true)
        }
    }
#endif
