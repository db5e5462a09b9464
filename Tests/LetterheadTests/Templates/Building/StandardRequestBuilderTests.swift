// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

#if Foundation && canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite struct StandardRequestBuilderTests {
    private func request(_ change: (inout TestEndpoint<HTTPResponse>) -> Void) throws -> HTTPRequest {
        try StandardRequestBuilder(TestEndpoint("a").with(change)).request()
    }

    @Test(
        arguments: [
            ("https://h/v1", "people", "https://h/v1/people"), ("https://h/v1/", "people", "https://h/v1/people"),
            ("https://h/v1", "/people", "https://h/people"), ("https://h/v1/", "/people", "https://h/people"),
            ("https://h", "people", "https://h/people"), ("https://h/v1", "", "https://h/v1"),
            ("https://h/v1", "people/", "https://h/v1/people/"),
        ] as [(String, RequestPath, String)])
    func `a relative path follows the base URL's with exactly one slash, and an absolute one replaces it`(
        base: String, path: RequestPath, url: String
    ) throws {
        let request = try request { ($0.baseURL, $0.path) = (URL(string: base), path) }
        #expect(try request.urlString() == url)
    }

    @Test func `parameters of a GET are in the query, followed by the base URL's own items`() throws {
        let request = try request {
            $0.baseURL = URL(string: "https://h/v1?key=k&a=ignored")
            $0.query = ["q": "1"]
            $0.parameters = ["a": 1, "b": ["x", "y"]]
        }
        #expect(request.target == "/v1/a?q=1&a=1&b=x&b=y&key=k" && request.body.isEmpty)
    }

    @Test func `parameters of a HEAD are in the query`() throws {
        let request = try request { ($0.method, $0.parameters) = (.head, ["a": 1]) }
        #expect(request.query.escaped == "a=1")
    }

    @Test(arguments: [.post, .put, .patch, .delete, "PURGE"] as [HTTPMethod])
    func `parameters of any other method are a JSON body`(method: HTTPMethod) throws {
        let request = try request { ($0.method, $0.parameters) = (method, ["a": 1]) }
        #expect(try request.body.encode() == Data(#"{"a":1}"#.utf8))
        #expect(request.query.isEmpty && request.framedHeaders()[.contentType]?.hasPrefix("application/json") == true)
    }

    @Test func `parameters and a body are an error where one can be sent, and the error names the template`() throws {
        let error = #expect(throws: HTTPError.self) {
            try request { ($0.method, $0.parameters, $0.body) = (.post, ["password": "SECRET"], TextBody("SECRET")) }
        }
        #expect(error?.code == .invalidRequest && error?.message.contains("Endpoint") == true)
        #expect(!"\(try #require(error))".contains("SECRET"))
    }

    @Test func `a GET may have parameters and a body`() throws {
        let request = try request { ($0.parameters, $0.body) = (["a": 1], TextBody("t")) }
        #expect(request.query.escaped == "a=1")
        #expect(try request.body.encode() == Data("t".utf8))
    }

    @Test func `building twice creates two equal requests`() throws {
        let builder = StandardRequestBuilder(TestEndpoint("a").header("X", "1").query("q", 1))
        let first = try builder.request()
        let second = try builder.request()
        #expect(first.id != second.id && first.headers == second.headers && first.target == second.target)
    }

    @Test func `the environment of the template completes the request`() throws {
        let environment = ServerEnvironment("https://h.test/v2?key=1", headers: ["X": "environment", "Y": "y"])
        let template = TestEndpoint("a/\(1)").header("X", "template").environment(environment)
        let request = try StandardRequestBuilder(template).request()
        #expect(try request.urlString() == "https://h.test/v2/a/1?key=1" && request.path.route == "a/{}")
        #expect(request.headers["X"] == "template" && request.headers["Y"] == "y")
        #expect(try MultipartRequestBuilder(template, parts: []).request().host == "h.test")
        #expect(try StandardRequestBuilder(TestEndpoint("a").environment(nil)).request().host == nil)
        let refused = StandardRequestBuilder(TestEndpoint("a").environment(ServerEnvironment("h.test")))
        let error = #expect(throws: HTTPError.self) { try refused.request() }
        #expect(error?.code == .invalidRequest && error?.message.contains("the environment is refused") == true)
    }

    @Test func `a client's settings take precedence over the environment of the template`() async throws {
        let mock = MockLoader { .ok($0) }
        let client = HTTPClient(transport: mock).header("X", "client")
        let environment = ServerEnvironment("https://h.test", headers: ["X": "environment"])
        try await client.send(TestEndpoint("a").environment(environment))
        #expect(mock.requests.first?.headers["X"] == "client")
    }

    @Test func `an optional body of another type is refused if it has a value`() throws {
        struct Raw: RequestTemplate {
            var path: RequestPath { "a" }
            var method: HTTPMethod { .post }
            var body: Data?
        }
        #expect(try StandardRequestBuilder(Raw(body: nil)).request().body.isEmpty)
        let error = #expect(throws: HTTPError.self) { try StandardRequestBuilder(Raw(body: Data([1]))).request() }
        #expect(error?.code == .invalidRequest && error?.message.contains("HTTPBody") == true)
    }
}

@Suite struct MultipartRequestBuilderTests {
    @Test func `parts replace the template's body, and nothing else`() throws {
        let template = TestEndpoint("a").with {
            $0.method = .put
            $0.headers = ["X": "1"]
            $0.query = ["q": 1]
            $0.body = TextBody("the old body")
        }
        let request = try MultipartRequestBuilder(template, parts: [.text("v", name: "n")]).request()
        #expect(request.method == .put && request.target == "/a?q=1" && request.headers == ["X": "1"])
        let text = String(decoding: try request.body.encode(), as: UTF8.self)
        #expect(text.contains("name=\"n\"\r\n") && !text.contains("the old body"))
    }

    @Test func `header and body have the same boundary in every request of a builder`() throws {
        let builder = MultipartRequestBuilder(TestEndpoint("a"), parts: [.text("v", name: "n")])
        let requests = [try builder.request(), try builder.request()]
        let boundaries = requests.map { $0.framedHeaders()[.contentType].flatMap { MediaType($0) }?["boundary"] }
        let boundary = try #require(boundaries.first ?? nil)
        #expect(boundaries == [boundary, boundary])
        for request in requests {
            #expect(String(decoding: try request.body.encode(), as: UTF8.self).hasPrefix("--\(boundary)\r\n"))
        }
    }

    @Test func `a template's boundary is used`() throws {
        let template = TestEndpoint("a").with { $0.boundary = "mine" }
        let request = try MultipartRequestBuilder(template, parts: []).request()
        #expect(request.framedHeaders()[.contentType] == "multipart/form-data; boundary=mine")
    }

    #if Foundation || canImport(Darwin)
        @Test func `a builder creates a URLRequest with the parts`() throws {
            let template = TestEndpoint("a").with { $0.baseURL = URL(string: "https://h") }
            let urlRequest = try MultipartRequestBuilder(template, parts: [.text("v", name: "n")]).urlRequest()
            #expect(
                urlRequest.value(forHTTPHeaderField: "Content-Type")?.hasPrefix("multipart/form-data; boundary=")
                    == true)
            #expect(urlRequest.httpBody?.isEmpty == false)
        }
    #endif

    @Test func `a builder with data sends a form with one part`() async throws {
        let server = try await MockServer.start { _ in MockServer.Response() }
        let template = Post<Void>("avatars").environment(ServerEnvironment(baseURL: server.url))
        let picture = Data([0x89, 0x50, 0x0D, 0x0A])
        for builder in [
            MultipartRequestBuilder(template, data: picture),
            MultipartRequestBuilder(template, data: picture, name: "avatar", filename: "ada.png"),
        ] { try await SendableRequest(builder, over: HTTPClient.defaultTransport).send() }
        let fields = [
            "Content-Disposition: form-data; name=\"file\"\r\n",
            "Content-Disposition: form-data; name=\"avatar\"; filename=\"ada.png\"\r\nContent-Type: image/png\r\n",
        ]
        for (request, field) in zip(server.requests, fields) {
            let boundary = try #require(request.headers[.contentType].flatMap { MediaType($0) }?["boundary"])
            let whole = Data("--\(boundary)\r\n\(field)\r\n".utf8) + picture + Data("\r\n--\(boundary)--\r\n".utf8)
            #expect(request.body == whole && request.path == "/avatars")
        }
        #expect(server.requests.count == 2)
    }
}
