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

    private func source(_ name: String, in explanation: RequestExplanation) -> String? {
        explanation.parts.first { $0.name == name }?.source
    }

    @Test func `each part has the value that is sent, and its source`() async throws {
        let mock = MockLoader()
        let template = Traced(base: GetUser(login: "ada").header("X-Both", "modifier")).timeout(.seconds(5))
        let explanation = try await client(mock).header("X-As", "admin").explain(template)
        let parts = Dictionary(
            uniqueKeysWithValues: explanation.parts.filter { $0.name != "query" }.map { ($0.name, $0) })
        #expect(parts["base URL"]?.value == "https://api.example.com")
        #expect(parts["base URL"]?.source == "the environment of the client" && parts["path"]?.source == "GetUser")
        #expect(parts["header X-Own"]?.source == "GetUser")
        #expect(parts["header X-Trace"]?.source == "Traced" && parts["header X-Trace"]?.value == "7")
        #expect(parts["header X-Both"]?.source == "a modifier" && parts["header X-Both"]?.value == "modifier")
        #expect(parts["header X-As"]?.source == "the client")
        #expect(parts["header X-Client"]?.source == "the environment of the client")
        #expect(parts["timeout"]?.source == "a modifier" && parts["timeout"]?.value == "5 s")
        #expect(parts["authentication"]?.value == "none" && parts["retries"]?.value == "none")
        let query = explanation.parts.filter { $0.name == "query" }
        #expect(query.map(\.source) == ["GetUser", "the environment of the client"])
        #expect(explanation.description.hasPrefix("GET https://api.example.com/v4/users/ada?page=2&key="))
        #expect(mock.requests.isEmpty)
    }

    @Test func `secrets are redacted, and what is not sent says why`() async throws {
        let signed = client(authentication: .bearer("s3cret"))
        let explanation = try await signed.explain(
            GetUser(login: "ada").header("X-Api-Key", "k3y").query("access_token", "t0ken"))
        #expect(explanation.parts.contains { $0.name == "authentication" && $0.value == "bearer" })
        let elsewhere = try await signed.explain(
            GetUser(login: "ada").environment(ServerEnvironment("https://other.example")))
        let authentication = try #require(elsewhere.parts.first { $0.name == "authentication" })
        #expect(authentication.value.contains("not sent: the credentials belong to https://api.example.com"))
        #expect(source("base URL", in: elsewhere) == "the environment of the request")
        for text in ["\(explanation)", "\(elsewhere)"] {
            #expect(!text.contains("s3cret") && !text.contains("k3y") && !text.contains("t0ken"))
        }
    }

    @Test func `the settings of the template, the client and the retries, and why a retry does not apply`() async throws
    {
        let retrying = client().retry(.exponential, maximumRetries: 2).timeout(.seconds(9)).deadline(in: .seconds(20))
        let explanation = try await retrying.explain(CreateUser())
        #expect(source("timeout", in: explanation) == "CreateUser")
        #expect(source("deadline", in: explanation) == "the client")
        #expect(source("retries", in: explanation) == "the client")
        #expect(source("method", in: explanation) == "CreateUser" && source("body", in: explanation) == "CreateUser")
        #expect(source("header Content-Type", in: explanation) == "the body")
        let retries = try #require(explanation.parts.first { $0.name == "retries" })
        #expect(retries.value.contains("at most 2") && retries.value.contains("POST is not idempotent"))
        let read = try await retrying.explain(GetUser(login: "ada").maximumRetries(1))
        #expect(source("retries", in: read) == "a modifier" && source("timeout", in: read) == "the client")
    }

    @Test func `the closure of an environment is called, cookies are added, and a refused request throws`() async throws
    {
        let jar = CookieJar()
        let setting = MockLoader { HTTPResponse(request: $0, status: .ok, headers: ["Set-Cookie": "id=1"]) }
        let client = HTTPClient(
            environment: .provided { _ in ServerEnvironment("https://asked.example") }, cookies: jar, transport: setting
        )
        _ = try await client.send(GetUser(login: "ada"))
        let explanation = try await client.explain(GetUser(login: "ada"))
        #expect(explanation.request.host == "asked.example" && setting.requests.count == 1)
        #expect(source("header Cookie", in: explanation) == "the cookie jar")
        await #expect(throws: HTTPError.self) { try await client.explain(GetUser(login: "..")) }
    }

    @Test func `a decoded response is accepted as its decoder reads it`() async throws {
        struct Read: RequestTemplate {
            typealias Response = [String: Int]
            var path: RequestPath { "numbers" }
        }
        let explanation = try await client().explain(Read())
        #expect(source("header Accept", in: explanation) == "the decoder")
    }

    @Test func `credentials that belong to another origin are not shown as sent`() async throws {
        let origins = ["https://a.example", "https://b.example"]
        let mock = MockLoader { .ok($0) }
        let client = HTTPClient(
            environment: .provided { _ in ServerEnvironment(origins[min(mock.requests.count, 1)]) },
            authentication: .bearer("s3cret"), transport: mock)
        let before = try await client.explain(GetUser(login: "ada"))
        #expect(before.parts.contains { $0.name == "authentication" && $0.value == "bearer" })
        _ = try await client.send(GetUser(login: "ada"))
        let explanation = try await client.explain(GetUser(login: "ada"))
        let authentication = try #require(explanation.parts.first { $0.name == "authentication" })
        #expect(authentication.value.contains("not sent: the credentials belong to https://a.example"))
        _ = try await client.send(GetUser(login: "ada"))
        #expect(mock.requests.map { $0.headers.contains(.authorization) } == [true, false])
    }

    @Test func `a credential of the template is secret by its place, and a derived environment is the client's`()
        async throws
    {
        let keyed = client(authentication: .apiKey("k3y", header: "X-Tenant"))
        let explanation = try await keyed.explain(GetUser(login: "ada").header("X-Tenant", "other"))
        #expect(!"\(explanation)".contains("other"))
        let derived = try await client().environment(ServerEnvironment("https://b.example")).explain(
            GetUser(login: "ada"))
        #expect(source("base URL", in: derived) == "the client")
    }
}
