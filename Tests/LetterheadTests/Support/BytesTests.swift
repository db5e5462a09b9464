// SPDX-License-Identifier: MIT
import Foundation
import LetterheadTesting
import TestKit
import Testing

@testable import Letterhead
@testable import LetterheadCaching
@testable import LetterheadOAuth
@testable import LetterheadObserving
@testable import LetterheadResilience
@testable import LetterheadTesting

/// Text of a peer is bytes: what follows a delimiter cannot hide it, and what looks equal is not.
@Suite struct BytesTests {
    /// What a character before it absorbs: combining marks, a variation selector, joiners and an emoji modifier.
    static let marks = ["\u{301}", "\u{316}\u{301}", "\u{FE0F}", "\u{E0100}", "\u{200C}", "\u{200D}", "\u{1F3FD}"]
    private static let (composed, decomposed) = ("\u{E9}", "e\u{301}")

    // MARK: The functions

    @Test(arguments: marks) func `a delimiter before a mark splits a text`(mark: String) {
        let text = "a,\(mark)b,,c"
        #expect(text.split(at: ",").map { Array($0.utf8) } == ["a", "\(mark)b", "c"].map { Array($0.utf8) })
        #expect(text.split(at: ",", omittingEmpty: false).count == 4)
        #expect(text.cut(at: ",")?.head == "a" && text.cut(at: ";") == nil)
        #expect(text.begins(with: "a,") && text.dropFirst(0).ends(with: "c") && text.holds("a,"))
        #expect("\\\"\(mark)".replacingBytes(of: "\"", with: "'").isSame(as: "\\'\(mark)"))
        #expect(ASCII.quoted("\"\(mark)").isSame(as: "\"\\\"\(mark)\""))
        #expect(ASCII.keyword("Close") == "close" && ASCII.keyword("close\(mark)") == "")
    }

    @Test func `canonically equivalent texts have different bytes`() {
        #expect("\u{212A}" == "K" && !"\u{212A}".isSame(as: "K"))
        #expect("a\u{37E}b".split(at: ";").count == 1)
        #expect(HTTPHeaders.Field("A", Self.composed) != HTTPHeaders.Field("A", Self.decomposed))
        #expect(HTTPHeaders.Field("A", Self.composed) == HTTPHeaders.Field("a", Self.composed))
        #expect(ServerSentEvent(data: Self.composed) != ServerSentEvent(data: Self.decomposed))
        let query: QueryParameters = [Self.composed: "1"]
        #expect(query.contains(Self.composed) && !query.contains(Self.decomposed))
        #expect(query != [Self.decomposed: "1"] && query != [Self.composed: Self.decomposed])
        var long = QueryParameters((0..<20).map { .init("\($0)", "") })
        long.append(Self.composed, "1")
        long.fill(from: QueryParameters((0..<20).map { .init($0 == 0 ? Self.decomposed : "\($0)", "2") }))
        #expect(long.values(for: Self.decomposed) == ["2"])
    }

    // MARK: URLs, headers

    @Test(arguments: marks) func `a mark does not change how a reference is resolved`(mark: String) {
        func resolve(_ reference: String, _ base: String = "https://a/b/c") -> String {
            URLParts(base).resolving(URLParts(reference)).string
        }
        #expect(resolve("/a/\(mark)x/../b").isSame(as: "https://a/a/b"))
        #expect(resolve("z", "https://a/x/\(mark)y").isSame(as: "https://a/x/z"))
        #expect(resolve("/\(mark)").isSame(as: "https://a/\(mark)"))
        #expect(resolve("/a/..\(mark)/b").isSame(as: "https://a/a/..\(mark)/b"))
    }

    @Test(arguments: marks) func `the value of a parameter of a media type writes no other parameter`(mark: String) {
        let type = MediaType.plainText.setting("a", to: "\"\(mark); b=\"c")
        #expect(type.description.isSame(as: "text/plain; a=\"\\\"\(mark); b=\\\"c\""))
    }

    @Test(arguments: marks) func `a mark hides no member of a list and no attribute`(mark: String) {
        let stored = CachedHead.storable(["Connection": "X-Hop,\(mark)", "X-Hop": "1", "ETag": "\"a\""])
        #expect(stored.map(\.name) == [.eTag])
        #expect(Vary.names(in: ["Vary": "Cookie,\(mark)"])?.contains("cookie") ?? true)
        let aged = CachedHead(status: 200, headers: ["Age": "5,\(mark)"], requestTime: 9, responseTime: 9)
        #expect(CacheFreshness(aged, now: 9).age == 5)
        let timing = HTTPHeaders.ServerTiming.list("db;\(mark);dur=5, \"\(mark)")
        #expect(timing.map(\.name) == ["db"] && timing.first?.duration == .milliseconds(5))
        let traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
        #expect(TraceContext(traceparent: traceparent, baggage: "a=1;\(mark),b=2")?.baggage == ["a": "1", "b": "2"])
        let linked = HTTPResponse(request: HTTPRequest(), status: .ok, headers: ["Link": "<a>; rel=\"next \(mark)x\""])
        #expect(linked.links.first?.relations.contains("next") == true)
        let rate: HTTPHeaders = ["RateLimit": "\"a\";r=0;\(mark);t=5"]
        let response = HTTPResponse(request: HTTPRequest(), status: .ok, headers: rate)
        #expect(
            RateReport(response, now: { Date(timeIntervalSince1970: 0) })?.window
                == .init(remaining: 0, reset: .seconds(5)))
        #expect(HTTPOrigin(URLParts("https://a\(mark).example")) == nil)
    }

    @Test func `an entity tag and a request field are compared byte for byte`() {
        func response(_ tag: String) -> HTTPResponse {
            HTTPResponse(request: HTTPRequest(), status: .ok, headers: ["ETag": "\"\(tag)\""])
        }
        let head = CachedHead(response(Self.composed), to: HTTPRequest(), requestTime: 0, responseTime: 0)
        #expect(CacheRules.confirms(response(Self.composed), head))
        #expect(!CacheRules.confirms(response(Self.decomposed), head))
        let field = { CachedHead.VariedField(name: "x-user", value: $0) }
        #expect(field(Self.composed) != field(Self.decomposed) && field(nil) == field(nil))
    }

    // MARK: Cookies, tokens

    @Test(arguments: marks) func `a mark does not hide the prefix, the path or the name of a cookie`(mark: String)
        throws
    {
        for name in ["__Host-", "__Secure-"] { #expect(CookieRules.Prefix("\(name)\(mark)a") != nil) }
        #expect(SetCookie("a=b; Path=/\(mark)x")?.path?.isSame(as: "/\(mark)x") == true)
        #expect(SetCookie("a=b; \(mark)Secure")?.isSecure == false)
        let request = HTTPRequest().with { $0.headers[.cookie] = "a=1;\(mark)=2; \(Self.composed)=3" }
        let cookies = ["a", mark, Self.composed, Self.decomposed].map { CookieJar.Cookie($0, "", domain: "a.example") }
        #expect(request.missing(cookies).map { Array($0.name.utf8) } == [Array(Self.decomposed.utf8)])
    }

    @Test(arguments: marks) func `a scope is split at spaces, and is ASCII`(mark: String) throws {
        let answer = ["access_token": "a", "token_type": "bearer", "scope": "read \(mark)x write"]
        #expect(try TokenAnswer.grant(in: JSONEncoder().encode(answer)).scope == ["read", "write"])
    }

    @Test func `canonically equivalent cursors are different pages`() async throws {
        let next = ["first": Self.composed, Self.composed: Self.decomposed]
        let mock = MockLoader { request in
            let cursor = request.query["after"] ?? "first"
            return try .ok(request, json: ["next": next.first { $0.key.isSame(as: cursor) }?.value])
        }
        let client = HTTPClient(environment: .of("https://api.example.com"), transport: mock)
        let pages = client.pages(of: Cursors().paginated(by: .cursor(\.next, parameter: "after")))
        #expect(try await pages.reduce(0) { count, _ in count + 1 } == 3)
    }

    private struct Cursors: RequestTemplate {
        struct Response: Decodable, Sendable { var next: String? }
        var path: RequestPath { "items" }
    }

    // MARK: The servers for tests

    @Test(arguments: marks) func `a mock server splits what a client sends at every delimiter`(mark: String) throws {
        let head = try RequestHead(
            line: "GET http://a/b?c=%26 HTTP/1.1", headers: ["Host": "a", "Connection": "close,\(mark)"])
        #expect(!head.keepsAlive)
        let request = MockServer.Request(head: head, connection: 1)
        #expect(request.path == "/b" && request.query == "c=%26" && request.queryValue("c") == "&")
        #expect(PercentEncoding.formItems(of: "a=1&\(mark)b=+").map(\.name.utf8.count) == [1, mark.utf8.count + 1])
        #expect(StubRoute.get("/a/*").captures(in: "/a/\(mark)x") != nil)
        #expect(StubRoute.get("/\(Self.composed)").captures(in: "/\(Self.decomposed)") == nil)
    }
}
