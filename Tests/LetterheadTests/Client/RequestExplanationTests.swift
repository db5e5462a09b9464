// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import Testing

@Suite struct RequestExplanationTests {
    struct GetUser: RequestTemplate {
        let login: String
        var path: RequestPath { "users/\(login)" }
        var headers: HTTPHeaders { ["X-Own": "1", "X-Both": "template"] }
        var query: QueryParameters { ["page": 2] }
    }

    struct CreateUser: RequestTemplate {
        var path: RequestPath { "users" }
        var method: HTTPMethod { .post }
        var body: some HTTPBody { JSONBody(["login": "ada"]) }
        var options: HTTPRequestOptions {
            var options = HTTPRequestOptions()
            options.timeout = .seconds(10)
            return options
        }
    }

    struct Traced<Base: RequestTemplate>: RequestDecorator {
        let base: Base
        var headers: HTTPHeaders {
            var headers = base.headers
            headers["X-Trace"] = "7"
            return headers
        }
    }

    private let environment = ServerEnvironment(
        "https://api.example.com/v4", headers: ["X-Client": "1", "X-Both": "environment"], query: ["key": "k"])

    private func client(_ mock: MockLoader = MockLoader(), authentication: HTTPAuthentication? = nil) -> HTTPClient {
        HTTPClient(environment: environment, authentication: authentication, transport: mock)
    }

    @Test func `each part has the value that is sent, and its source`() async throws {
        let mock = MockLoader()
        let template = Traced(base: GetUser(login: "ada").header("X-Both", "modifier")).timeout(.seconds(5))
        let explanation = try await client(mock).header("X-As", "admin").explain(template)
        let sources = [
            "base URL": "the environment of the client", "path": "GetUser", "header X-Own": "GetUser",
            "header X-Trace": "Traced", "header X-Both": "a modifier", "header X-As": "the client",
            "header X-Client": "the environment of the client", "timeout": "a modifier",
        ]
        for (name, source) in sources { #expect(explanation[name]?.source == source, "\(name)") }
        let values = [
            "base URL": "https://api.example.com", "header X-Trace": "7", "header X-Both": "modifier", "timeout": "5 s",
            "authentication": "none", "retries": "none",
        ]
        for (name, value) in values { #expect(explanation[name]?.value == value, "\(name)") }
        let query = explanation.parts.filter { $0.name == "query" }
        #expect(query.map(\.source) == ["GetUser", "the environment of the client"])
        #expect(explanation.description.hasPrefix("GET https://api.example.com/v4/users/ada?page=2&key="))
        #expect(mock.requests.isEmpty)
    }

    @Test func `secrets are redacted, and what is not sent says why`() async throws {
        let signed = client(authentication: .bearer("s3cret"))
        let explanation = try await signed.explain(
            GetUser(login: "ada").header("X-Api-Key", "k3y").query("access_token", "t0ken"))
        #expect(explanation["authentication"]?.value == "bearer")
        let elsewhere = try await signed.explain(
            GetUser(login: "ada").environment(ServerEnvironment("https://other.example")))
        let reason = "not sent: the credentials belong to https://api.example.com"
        #expect(elsewhere["authentication"]?.value.contains(reason) == true)
        #expect(elsewhere["base URL"]?.source == "the environment of the request")
        for text in ["\(explanation)", "\(elsewhere)"] {
            #expect(!text.contains("s3cret") && !text.contains("k3y") && !text.contains("t0ken"))
        }
        // The credential of a template is secret by its place.
        let keyed = client(authentication: .apiKey("k3y", header: "X-Tenant"))
        let tenant = try await keyed.explain(GetUser(login: "ada").header("X-Tenant", "other"))
        #expect(!"\(tenant)".contains("other"))
    }

    @Test func `the settings of the template, the client and the retries, and why a retry does not apply`() async throws
    {
        let retrying = client().retry(.exponential, maximumRetries: 2).timeout(.seconds(9)).deadline(in: .seconds(20))
        let explanation = try await retrying.explain(CreateUser())
        let sources = [
            "timeout": "CreateUser", "deadline": "the client", "retries": "the client", "method": "CreateUser",
            "body": "CreateUser", "header Content-Type": "the body",
        ]
        for (name, source) in sources { #expect(explanation[name]?.source == source, "\(name)") }
        let retries = try #require(explanation["retries"]).value
        #expect(retries.contains("at most 2") && retries.contains("POST is not idempotent"))
        let read = try await retrying.explain(GetUser(login: "ada").maximumRetries(1))
        #expect(read["retries"]?.source == "a modifier" && read["timeout"]?.source == "the client")
        let decoded = try await client().environment(ServerEnvironment("https://b.example")).explain(Get<[Int]>("a"))
        #expect(decoded["header Accept"]?.source == "the decoder" && decoded["base URL"]?.source == "the client")
    }

    @Test func `the closure of an environment is called, cookies are added, and a refused request throws`() async throws
    {
        let setting = MockLoader { HTTPResponse(request: $0, status: .ok, headers: ["Set-Cookie": "id=1"]) }
        let client = HTTPClient(
            environment: .provided { _ in ServerEnvironment("https://asked.example") }, cookies: CookieJar(),
            transport: setting)
        _ = try await client.send(GetUser(login: "ada"))
        let explanation = try await client.explain(GetUser(login: "ada"))
        #expect(explanation.request.host == "asked.example" && setting.requests.count == 1)
        #expect(explanation["header Cookie"]?.source == "the cookie jar")
        await #expect(throws: HTTPError.self) { try await client.explain(GetUser(login: "..")) }
    }

    @Test func `credentials that belong to another origin are not shown as sent`() async throws {
        let origins = ["https://a.example", "https://b.example"]
        let mock = MockLoader { .ok($0) }
        let client = HTTPClient(
            environment: .provided { _ in ServerEnvironment(origins[min(mock.requests.count, 1)]) },
            authentication: .bearer("s3cret"), transport: mock)
        #expect(try await client.explain(GetUser(login: "ada"))["authentication"]?.value == "bearer")
        _ = try await client.send(GetUser(login: "ada"))
        let authentication = try #require(try await client.explain(GetUser(login: "ada"))["authentication"])
        #expect(authentication.value.contains("not sent: the credentials belong to https://a.example"))
        _ = try await client.send(GetUser(login: "ada"))
        #expect(mock.requests.map { $0.headers.contains(.authorization) } == [true, false])
    }
}

extension RequestExplanation {
    fileprivate subscript(name: String) -> (value: String, source: String)? {
        parts.first { $0.name == name }.map { (value: $0.value, source: $0.source) }
    }
}
