// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadObserving
import LetterheadTesting
import Synchronization
import TestKit
import Testing

@Suite struct PathSecretTests {
    private static let token = "110201543:SECRET-AAHdq"
    private static let environment = ServerEnvironment("https://api.example.com/v1")

    struct GetUpdates: RequestTemplate {
        let token: String
        var path: RequestPath { "bot\(secret: token)/getUpdates" }
        typealias Response = [Int]
    }

    /// Fails if a text contains the token in any spelling.
    private func expectHidden(_ text: String, at location: SourceLocation = #_sourceLocation) {
        #expect(!text.contains("SECRET") && !text.contains("110201543"), sourceLocation: location)
    }

    @Test func `a secret in a path is sent as a segment, and each description redacts it`() throws {
        let template = GetUpdates(token: Self.token).header("X-Trace", "1").timeout(.seconds(1))
        var request = try StandardRequestBuilder(template.environment(Self.environment)).request()
        #expect(request.path.string == "/v1/bot110201543%3ASECRET-AAHdq/getUpdates")
        #expect(request.path.route == "bot{}/getUpdates")
        expectRedacted(request.path, shows: "bot<redacted>/getUpdates")
        expectRedacted(request, shows: "https://api.example.com/v1/bot<redacted>/getUpdates")
        expectRedacted(HTTPResponse(request: request, status: .ok), shows: "bot<redacted>/getUpdates")
        expectRedacted(request.redaction, shows: "Redaction")
        expectHidden(Redaction.standard.url(of: request))
        expectHidden(request.curlCommand())
        #expect(request.curlCommand(includingSecrets: true).contains("SECRET"))
        let error = HTTPError(.unknown, request: request, message: "no answer from \(try request.url())")
        expectRedacted(error, shows: "bot<redacted>/getUpdates")
        expectHidden(error.message)
        request.path = "other/\(Self.token)"
        expectRedacted(request, shows: "other/<redacted>")
        request.path = RequestPath("users").appending("\(secret: Secret(Self.token))")
        expectRedacted(request, shows: "/users/<redacted>")
    }

    @Test(arguments: [
        ("a 110201543:SECRET-AAHdq b", "a <redacted> b"), ("110201543%3ASECRET%2DAAHdq", "<redacted>"),
        ("?next=110201543%3aSECRET-AAHdq&a", "?next=<redacted>&a"), ("cut: 110201543%3", "cut: <redacted>"),
        ("cut: 11020", "cut: <redacted>"), ("110201543 and 11", "110201543 and 11"),
    ])
    func `a value is redacted in each spelling, and at the end of a cut text`(text: String, shown: String) {
        let redaction = Redaction.standard.adding(values: [Secret(Self.token), "SECRET-A", ""])
        #expect(redaction.value(of: HTTPHeaders.Field("Location", text)) == shown)
    }

    @Test func `a short value does not hide a longer one that contains it`() {
        let redaction = Redaction.standard.adding(values: ["12", "1234", "%25"])
        let text = redaction.value(of: HTTPHeaders.Field("X-A", "1234 12 %25 %2525"))
        #expect(text == Array(repeating: "<redacted>", count: 4).joined(separator: " "))
    }

    /// The server repeats the secret in redirects, links to pages and explanations.
    private func mock() -> MockLoader {
        MockLoader { request in
            let path = "https://api.example.com/other/110201543%3aSECRET-AAHdq"
            switch request.path.string {
            case let path where path.hasSuffix("/getUpdates"):
                return HTTPResponse(
                    request: request, status: 307, headers: ["Location": "/v2/110201543:SECRET-AAHdq?from=\(path)"])
            case let first where first.hasPrefix("/v2/"):
                let headers: HTTPHeaders = [
                    "Link": "<\(path)?page=2>; rel=\"next\"", "Content-Type": "application/json",
                ]
                return HTTPResponse(
                    request: request, status: .ok, headers: headers, body: HTTPResponseBody(Data("[1]".utf8)))
            default:
                return HTTPResponse(
                    request: request, status: .notFound, headers: ["Content-Type": "application/json"],
                    body: HTTPResponseBody(Data(#"{"message": "no bot 110201543:SECRET-AAHdq"}"#.utf8)))
            }
        }
    }

    @Test func `what a server repeats is redacted in events, logs, explanations and errors`() async throws {
        let (mock, events, lines) = (mock(), EventRecorder(), SharedValue([String]()))
        let printing = { @Sendable (level: PrintLoader.Level) in
            PrintLoader(level) { text in lines.withLock { $0.append(text) } }
        }
        let client = HTTPClient(
            environment: Self.environment,
            links: printing(.bodies) --> printing(.json),
            attemptLinks: ModifyRequest { $0.headers["X-Own"] = "1" },
            observers: [events, printing(.line), printing(.json)], transport: mock)
        let template = GetUpdates(token: Self.token)
        expectHidden("\(try await client.explain(template))")
        var pages = client.pages(of: template.paginated(by: .linkHeader)).makeAsyncIterator()
        let page = try #require(try await pages.next())
        #expect(page.response.redirects.count == 1)
        expectHidden("\(page.response.redirects)")
        expectHidden("\(page.response)")
        let error = await #expect(throws: HTTPError.self) { _ = try await pages.next() }
        expectHidden(error?.description ?? "")
        #expect(error?.description.contains("no bot <redacted>") == true)
        expectHidden(error?.bodyExcerpt ?? "")
        #expect(mock.requests.count == 3 && mock.requests.allSatisfy { $0.path.string.contains("SECRET") })
        #expect(events.events.count > 10 && lines.withLock { $0.count } > 6)
        for event in events.events { expectHidden("\(event) \(event.facts)") }
        for line in lines.withLock({ $0 }) { expectHidden(line) }
    }

    @Test func `a redirect that a closure chooses, and a chain without a client, keep the secret`() async throws {
        let policy = RedirectPolicy.custom { proposal, _ in try HTTPRequest(proposal.urlString()) }
        let chain = FollowRedirects(policy) --> ApplyEnvironment(Self.environment) --> mock()
        let response = try await chain.load(HTTPRequest { $0.path = "bot\(secret: Self.token)/getUpdates" })
        #expect(response.request.path.string.hasPrefix("/v2/") && response.redirects.count == 1)
        expectHidden("\(response)")
        expectHidden("\(response.redirects)")
    }

    @Test func `a request that a closure of ModifyRequest creates anew keeps the secret`() async throws {
        let anew = ModifyRequest { $0 = HTTPRequest(url: try $0.url()) }
        let chain = ApplyEnvironment(Self.environment) --> anew --> mock()
        let response = try await chain.load(HTTPRequest { $0.path = "bot\(secret: Self.token)/getUpdates" })
        expectHidden("\(response.request)")
    }

    @Test(arguments: ["", ".", ".."]) func `a secret that cannot be a segment is refused`(value: String) {
        let error = #expect(throws: HTTPError.self) {
            try StandardRequestBuilder(GetUpdates(token: value).environment(Self.environment)).request().validate()
        }
        #expect(error?.code == .invalidRequest)
    }
}
