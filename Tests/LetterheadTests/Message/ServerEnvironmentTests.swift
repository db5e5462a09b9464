// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

#if Foundation && canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite struct ServerEnvironmentTests {
    private func environment(
        _ url: String = "https://env.example/api", method: HTTPMethod? = nil, headers: HTTPHeaders = [:],
        query: QueryParameters = [:]
    ) throws -> ServerEnvironment {
        ServerEnvironment(baseURL: try #require(URL(string: url)), method: method, headers: headers, query: query)
    }

    private func url(_ path: RequestPath, in environment: ServerEnvironment) throws -> String {
        try HTTPRequest().with { $0.path = path }.with(environment.apply(to:)).urlString()
    }

    @Test(
        arguments: [
            // A relative path follows the prefix with exactly one slash, and keeps a slash at its end.
            ("https://h/api", "people", "https://h/api/people"), ("https://h/api/", "people", "https://h/api/people"),
            ("https://h/api", "people/", "https://h/api/people/"),
            ("https://h/api", "localhostfoo", "https://h/api/localhostfoo"),
            // A path that begins with a slash is complete.
            ("https://h/api", "/people", "https://h/people"), ("https://h/api/", "/people", "https://h/people"),
            // An empty path is the prefix itself.
            ("https://h/api", "", "https://h/api"), ("https://h/api/", "", "https://h/api/"),
            ("https://h", "", "https://h"),
            // Scheme and port are those of the host.
            ("http://127.0.0.1:8080", "a", "http://127.0.0.1:8080/a"),
        ] as [(String, RequestPath, String)])
    func `a path is joined with the prefix of the base URL, and replaces it if it begins with a slash`(
        base: String, path: RequestPath, joined: String
    ) throws { #expect(try url(path, in: environment(base)) == joined) }

    @Test func `an invalid path is refused after a prefix, too`() throws {
        for path in ["//evil", "http://evil", "a?b"] as [RequestPath] {
            let request = try HTTPRequest().with { $0.path = path }.with(environment().apply(to:))
            #expect(throws: HTTPError.self) { try request.validate() }
            #expect(request.host == "env.example")
        }
    }

    @Test(arguments: ["https://other.example/people", "http://env.example/people", "https://env.example:8443/people"])
    func `a request to a different host, scheme or port receives nothing`(text: String) throws {
        let environment = try environment(headers: ["X": "1"], query: ["k": 1])
        let request = HTTPRequest(url: try #require(URL(string: text))).with(environment.apply(to:))
        #expect(try request.urlString() == text && request.headers.isEmpty)
    }

    @Test func `an absolute request to the same origin receives headers and query, and keeps its path`() throws {
        let environment = try environment(headers: ["X": "1"], query: ["k": 1])
        let request = HTTPRequest(url: try #require(URL(string: "https://ENV.example:443/people")))
            .with(environment.apply(to:))
        #expect(request.target == "/people?k=1" && request.headers == ["X": "1"])
    }

    @Test func `missing query items are added, those of the base URL first`() throws {
        let environment = try environment("https://h?k=1&b=2", query: ["k": 3, "j": 4])
        let request = HTTPRequest().with { $0[query: "own"] = "0" }.with(environment.apply(to:))
        #expect(request.query.escaped == "own=0&k=1&b=2&j=4")
        let other = HTTPRequest().with { $0[query: "k"] = "9" }.with(environment.apply(to:))
        #expect(other.query.escaped == "k=9&b=2&j=4")
    }

    @Test func `the method applies to requests that set none`() throws {
        let environment = try environment(method: .post)
        #expect(HTTPRequest().with(environment.apply(to:)).method == .post)
        #expect(HTTPRequest().with { $0.method = .get }.with(environment.apply(to:)).method == .get)
    }

    @Test func `a request with its own scheme or port keeps it, and receives no headers`() throws {
        let environment = try environment(headers: ["X": "1"])
        let request = HTTPRequest().with { $0.port = 8443 }.with(environment.apply(to:))
        #expect(try request.urlString() == "https://env.example:8443/api" && request.headers.isEmpty)
    }

    @Test func `a base URL without scheme is https, and its headers are sent too`() throws {
        let environment = try environment("//env.example/api", headers: ["X": "1"])
        let request = HTTPRequest().with(environment.apply(to:))
        #expect(try request.urlString() == "https://env.example/api" && request.headers == ["X": "1"])
    }

    @Test(arguments: ["api", "https:///x", ""])
    func `a base URL without host leaves the request without one`(text: String) throws {
        guard let url = URL(string: text) else { return }
        let request = HTTPRequest().with(ServerEnvironment(baseURL: url).apply(to:))
        let error = #expect(throws: HTTPError.self) { try request.validate() }
        #expect(error?.message.contains("host") == true)
    }

    @Test func `the description is the base URL without user, password and query`() throws {
        let environment = try environment(
            "https://u:SECRET@h/api?token=SECRET", headers: ["Authorization": "SECRET"], query: ["token": "SECRET"])
        var dumped = ""
        dump(environment, to: &dumped)
        for text in ["\(environment)", String(reflecting: environment), dumped] {
            #expect(text.contains("https://h/api") && !text.contains("SECRET"))
        }
    }

    @Test func `an environment is made from text or from parts, which can be read`() throws {
        let text = ServerEnvironment("https://api.example.com:8443/v4?key=k", headers: ["X": "1"])
        let parts = ServerEnvironment(
            host: "api.example.com", pathPrefix: "v4", port: 8443, headers: ["X": "1"], query: ["key": "k"])
        #expect(try url("people", in: text) == "https://api.example.com:8443/v4/people?key=k")
        #expect(try url("people", in: parts) == "https://api.example.com:8443/v4/people?key=k")
        for environment in [text, parts] {
            #expect(environment.scheme == "https" && environment.host == "api.example.com" && environment.port == 8443)
            #expect(environment.pathPrefix == "/v4")
        }
        #expect(ServerEnvironment("https://h/v4") == ServerEnvironment(host: "h", pathPrefix: "/v4"))
        #expect(try url("people", in: ServerEnvironment(host: "[::1]", scheme: "http")) == "http://[::1]/people")
    }

    @Test(
        arguments: [
            (ServerEnvironment("api.example.com/v4"), "neither https:// nor http://"),
            (ServerEnvironment("localhost:7801"), "neither https:// nor http://"),
            (ServerEnvironment("https:///v4"), "has no host"),
            (ServerEnvironment(baseURL: URL(filePath: "/v4")), "begins with neither"),
            (ServerEnvironment(""), "neither https:// nor http://"),
            (ServerEnvironment("https://h/a b"), "must be percent-encoded"),
            (ServerEnvironment("https://h/\u{E9}"), "must be percent-encoded"),
            (ServerEnvironment("https://h\r\nX: SECRET/"), "must be percent-encoded"),
            (ServerEnvironment("https://h/v4#part"), "has a fragment"),
            (ServerEnvironment(host: "h/SECRET"), "delimiter of a different part"),
            (ServerEnvironment(host: "SECRET@h"), "delimiter of a different part"),
            (ServerEnvironment(host: "h", pathPrefix: "/v4?key=SECRET"), "delimiter of a different part"),
            (ServerEnvironment(host: "h", scheme: "https://x"), "delimiter of a different part"),
            (ServerEnvironment(host: ""), "has no host"),
        ])
    func `a base URL that is refused fails each request before anything is sent`(
        environment: ServerEnvironment, rule: String
    ) async throws {
        let mock = MockLoader { .ok($0) }
        for client in [
            HTTPClient(environment: environment, transport: mock),
            HTTPClient(environment: .provided { _ in environment }, transport: mock),
        ] {
            let error = await #expect(throws: HTTPError.self) { try await client.send(Get<Void>("people")) }
            #expect(error?.code == .invalidRequest)
            #expect(error?.message.contains(rule) == true, "\(error?.message ?? "")")
            #expect(!"\(error.debugDescription)".contains("SECRET"))
        }
        let own = Get<Void>("people").environment(environment)
        #expect(await failure { try await HTTPClient(transport: mock).send(own) }?.message.contains(rule) == true)
        #expect(throws: HTTPError.self) { try StandardRequestBuilder(own).request() }
        #expect(mock.requests.isEmpty)
    }

    @Test func `the environment is its own option`() {
        var request = HTTPRequest()
        #expect(request[option: ServerEnvironment.self] == nil)
        request[option: ServerEnvironment.self] = ServerEnvironment("https://h")
        #expect(request.serverEnvironment?.host == "h")
        request.serverEnvironment = nil
        #expect(request.options.contains(ServerEnvironment.self))
    }

    @Test
    func `a client builds the request of a template with its environment and its settings, and sends it as it is`()
        async throws
    {
        let environment = ServerEnvironment("https://h/v4", headers: ["Y": "2"])
        let mock = MockLoader { .ok($0) }
        let client = HTTPClient(environment: environment, transport: mock).header("Z", "3").timeout(.seconds(9))
        var request = try client.request(for: Get<Void>("users/\("ada")").query("a", 1))
        #expect(try request.url().absoluteString == "https://h/v4/users/ada?a=1" && request.timeout == .seconds(9))
        #expect(["Y", "Z"].map { request.headers[$0] } == ["2", "3"])
        #expect(mock.requests.isEmpty)
        request.headers["Z"] = "4"
        _ = try await client.send(request)
        #expect(try mock.requests.first?.url().absoluteString == "https://h/v4/users/ada?a=1")
        #expect(mock.requests.first?.headers.values(for: "Z") == ["4"])
        let asking = HTTPClient(environment: .provided { _ in environment }, transport: mock)
        #expect(throws: HTTPError.self) { try asking.request(for: Get<Void>("a")) }
    }

    #if Foundation || canImport(Darwin)
        @Test func `a URLRequest is made in an environment or by a client`() throws {
            let user = Get<Void>("users/\("ada")").header("X", "1")
            let environment = ServerEnvironment("https://h/v4", headers: ["Y": "2"])
            let request = try StandardRequestBuilder(user).urlRequest(in: environment)
            #expect(request.url?.absoluteString == "https://h/v4/users/ada")
            #expect(request.value(forHTTPHeaderField: "Y") == "2")
            let own = try StandardRequestBuilder(user.environment(ServerEnvironment("https://own"))).urlRequest(
                in: environment)
            #expect(own.url?.absoluteString == "https://own/users/ada")
            let client = HTTPClient(environment: environment, transport: MockLoader { .ok($0) }).header("Z", "3")
            let sent = try client.urlRequest(for: user)
            #expect(sent.url?.absoluteString == "https://h/v4/users/ada")
            #expect(["X", "Y", "Z"].map { sent.value(forHTTPHeaderField: $0) } == ["1", "2", "3"])
            let asking = HTTPClient(environment: .provided { _ in environment }, transport: MockLoader { .ok($0) })
            let error = #expect(throws: HTTPError.self) { try asking.urlRequest(for: user) }
            #expect(error?.message.contains("closure") == true)
        }
    #endif
}
