// SPDX-License-Identifier: MIT
#if Foundation && canImport(FoundationNetworking)
    import Foundation
    import FoundationNetworking
    import Letterhead
    import LetterheadCaching
    import LetterheadTesting
    import LetterheadURLSession
    import TestKit
    import Testing

    private typealias URLSession = ClientSession

    @Suite struct SessionConfigurationTests {
        private func code(_ session: URLSession, _ request: URLRequest) async throws -> URLError.Code {
            try await #require(throws: URLError.self) { try await session.data(for: request) }.code
        }

        @Test func `headers are added to requests that don't set them`() async throws {
            let server = try await MockServer.start { _ in .text("") }
            let configuration = URLSessionConfiguration.ephemeral
            configuration.httpAdditionalHeaders = ["X-One": "session", "X-Two": "session"]
            var request = URLRequest(url: server.url)
            request.setValue("request", forHTTPHeaderField: "X-One")
            _ = try await URLSession(configuration: configuration).data(for: request)
            #expect(server.requests.first?.headers["X-One"] == "request")
            #expect(server.requests.first?.headers["X-Two"] == "session")
            await server.stop()
        }

        @Test(arguments: [(0.1, 604_800), (60, 0.1)])
        func `both timeouts end a request`(idle: TimeInterval, whole: TimeInterval) async throws {
            let server = try await MockServer.start()
            server.enqueue(.response(.text("late")).fault(.stall, at: .responseStart))
            let configuration = URLSessionConfiguration.ephemeral
            (configuration.timeoutIntervalForRequest, configuration.timeoutIntervalForResource) = (idle, whole)
            let session = URLSession(configuration: configuration)
            #expect(try await code(session, URLRequest(url: server.url)) == .timedOut)
            await server.stop()
        }

        @Test(arguments: ["connectionProxyDictionary", "timeout", "requestCachePolicy"])
        func `a setting that can't be fulfilled is an error that names it`(name: String) async throws {
            let configuration = URLSessionConfiguration.ephemeral
            switch name {
            case "timeout": configuration.timeoutIntervalForRequest = .nan
            case "requestCachePolicy": configuration.requestCachePolicy = .returnCacheDataDontLoad
            default: configuration.connectionProxyDictionary = ["HTTPProxy": "p"]
            }
            let url = try #require(URL(string: "http://127.0.0.1:1"))
            let error = try await #require(throws: URLError.self) {
                try await URLSession(configuration: configuration).data(from: url)
            }
            #expect((error.userInfo[NSUnderlyingErrorKey] as? HTTPError)?.message.contains(name) == true)
        }

        @Test func `cookies are in the storage of the configuration, and are sent where they belong`() async throws {
            let server = try await MockServer.start { _ in
                MockServer.Response(
                    headers: [
                        "Set-Cookie": "all=1; Path=/", "Set-Cookie": "deep=2; Path=/deep",
                        "Set-Cookie": "foreign=4; Domain=other.test",
                    ])
            }
            let configuration = URLSessionConfiguration.ephemeral
            let storage = try #require(configuration.httpCookieStorage)
            let session = URLSession(configuration: configuration)
            for path in ["deep", "deep/er", "deeper"] {
                _ = try await session.data(from: server.url.appending(path: path))
            }
            #expect(server.requests.map { $0.headers[.cookie] } == [nil, "deep=2; all=1", "all=1"])
            #expect(Set((storage.cookies ?? []).map(\.name)) == ["all", "deep"])
            for cookie in storage.cookies ?? [] { storage.deleteCookie(cookie) }
            var request = URLRequest(url: server.url)
            request.httpShouldHandleCookies = false
            for _ in 1...2 { _ = try await session.data(for: request) }
            #expect(storage.cookies?.isEmpty == true && server.requests.last?.headers[.cookie] == nil)
            _ = try await session.data(from: server.url)
            request.httpShouldHandleCookies = true
            request.setValue("all=own", forHTTPHeaderField: "Cookie")
            _ = try await session.data(for: request)
            #expect(server.requests.last?.headers[.cookie] == "all=own")
            await server.stop()
        }

        @Test func `a client's jar obeys httpShouldHandleCookies`() async throws {
            let jar = CookieJar()
            let mock = MockLoader { HTTPResponse(request: $0, status: .ok, headers: ["Set-Cookie": "a=1"]) }
            var request = URLRequest(url: try #require(URL(string: "https://a.test")))
            request.httpShouldHandleCookies = false
            _ = try await URLSession(HTTPClient(cookies: jar, transport: mock)).data(for: request)
            #expect(jar.cookies.isEmpty)
        }

        @Test(arguments: [
            (URLRequest.CachePolicy.useProtocolCachePolicy, 1), (.reloadIgnoringLocalCacheData, 2),
            (.reloadRevalidatingCacheData, 2),
        ])
        func `a cachePolicy applies to a client's cache`(policy: URLRequest.CachePolicy, sent: Int) async throws {
            let mock = MockLoader {
                HTTPResponse(
                    request: $0, status: .ok, headers: ["Cache-Control": "max-age=60"],
                    body: HTTPResponseBody(Data("x".utf8)))
            }
            let session = URLSession(HTTPClient(cache: ResponseCache(store: .memory(bytes: 1 << 20)), transport: mock))
            var request = URLRequest(url: try #require(URL(string: "https://a.test")))
            _ = try await session.data(for: request)
            request.cachePolicy = policy
            _ = try await session.data(for: request)
            #expect(mock.requests.count == sent)
            request.cachePolicy = .returnCacheDataDontLoad
            #expect(try await code(session, request) == .resourceUnavailable)
        }
    }

    /// A mock as the tests of a library for URLSession write it. The path determines its behavior.
    private final class PathProtocol: URLProtocol {
        override class func canInit(with request: URLRequest) -> Bool { request.url?.host() == "mock.test" }
        override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

        override func startLoading() {
            guard let url = request.url, let client, url.path != "/silent" else { return }
            if url.path == "/fails" {
                return client.urlProtocol(self, didFailWithError: URLError(.notConnectedToInternet))
            }
            let status = url.path == "/moved" ? 302 : 201
            let headers = [
                "Location": "/x", "X-Method": request.httpMethod ?? "",
                "X-Cookies": request.value(forHTTPHeaderField: "Cookie") ?? "",
            ]
            guard
                let response = HTTPURLResponse(
                    url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: headers)
            else { return }
            client.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
            client.urlProtocol(self, didLoad: Data("ab\n".utf8))
            client.urlProtocol(self, didLoad: request.httpBody ?? Data())
            client.urlProtocolDidFinishLoading(self)
        }

        override func stopLoading() {}
    }

    @Suite struct ProtocolClassesTests {
        private let session: ClientSession
        private let base: URL

        init() throws {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.protocolClasses = [PathProtocol.self]
            session = ClientSession(configuration: configuration)
            base = try #require(URL(string: "https://mock.test"))
        }

        @Test func `a URLProtocol receives the request and responds to it`() async throws {
            var request = URLRequest(url: base.appending(path: "x"))
            request.httpMethod = "POST"
            request.httpBodyStream = InputStream(data: Data("cd".utf8))
            let (data, response) = try await session.data(for: request)
            #expect(data == Data("ab\ncd".utf8) && (response as? HTTPURLResponse)?.statusCode == 201)
            #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "X-Method") == "POST")
            let (bytes, _) = try await session.bytes(from: base.appending(path: "moved"))
            var lines = bytes.lines.makeAsyncIterator()
            #expect(try await [lines.next(), lines.next()] == ["ab", nil])
        }

        @Test func `a secure cookie that a program has stored is sent over https only, and a malformed one never`()
            async throws
        {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.protocolClasses = [PathProtocol.self]
            for (name, value) in [("safe", "1"), ("broken", "2\r\nX: 1")] {
                let properties: [HTTPCookiePropertyKey: Any] = [
                    .name: name, .value: value, .domain: "mock.test", .path: "/", .secure: "TRUE",
                ]
                try configuration.httpCookieStorage?.setCookie(#require(HTTPCookie(properties: properties)))
            }
            let session = ClientSession(configuration: configuration)
            for (scheme, expected) in [("https", "safe=1"), ("http", "")] {
                let (_, response) = try await session.data(from: #require(URL(string: "\(scheme)://mock.test/x")))
                #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "X-Cookies") == expected)
            }
        }

        @Test func `its error is thrown, and a cancelled task doesn't wait for it`() async throws {
            let error = try await #require(throws: URLError.self) {
                try await session.data(from: base.appending(path: "fails"))
            }
            #expect(error.code == .notConnectedToInternet)
            let silent = Task { [session, base] in
                withUnsafeCurrentTask { $0?.cancel() }
                _ = try await session.data(from: base.appending(path: "silent"))
            }
            #expect((await silent.result.failure as? URLError)?.code == .cancelled)
        }

        @Test func `what no class accepts is sent`() async throws {
            let server = try await MockServer.start { _ in .text("sent") }
            #expect(try await session.data(from: server.url).0 == Data("sent".utf8))
            await server.stop()
        }
    }

    extension Result {
        fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
    }
#endif
