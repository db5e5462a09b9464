// SPDX-License-Identifier: MIT
import Foundation
import Testing

@testable import Letterhead
@testable import LetterheadCaching

@Suite struct CacheRulesTests {
    private static let now: Int64 = 1_800_000_000

    private func head(_ headers: HTTPHeaders, status: Int = 200) -> CachedHead {
        CachedHead(status: status, headers: headers, requestTime: Self.now, responseTime: Self.now)
    }

    private func refusal(_ headers: HTTPHeaders, status: Int = 200, method: HTTPMethod = .get, asked: String? = nil)
        -> CacheRules.Refusal?
    {
        var request = HTTPRequest()
        request.method = method
        request.headers[.cacheControl] = asked
        do throws(CacheRules.Refusal) {
            try CacheRules.checkStorable(head(headers, status: status), to: request)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        arguments: [
            (["Cache-Control": "max-age=60"], 200, nil), (["ETag": "\"a\""], 200, nil),
            (["Cache-Control": "private, max-age=1"], 200, nil),
            (["Cache-Control": "no-cache", "ETag": "\"a\""], 200, nil), (["Cache-Control": "max-age=60"], 599, nil),
            (["Cache-Control": "public", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"], 599, nil),
            ([:], 200, CacheRules.Refusal.useless), (["Cache-Control": "max-age=0"], 200, .useless),
            (["Cache-Control": "no-store, max-age=60"], 200, .responseForbids), (["ETag": "\"a\""], 201, .notCacheable),
            (["ETag": "\"a\""], 500, .notCacheable), (["Cache-Control": "max-age=60", "Vary": "*"], 200, .varies),
            (["Cache-Control": "max-age=60", "Vary": "A, *"], 200, .varies),
            (["Cache-Control": "max-age=60"], 206, .partial),
            (["Cache-Control": "max-age=60"], 304, .partial), (["Cache-Control": "max-age=60"], 416, .partial),
            (["Cache-Control": "max-age=60, must-understand, no-store"], 200, nil),
            (["Cache-Control": "max-age=60, must-understand, no-store"], 599, .notUnderstood),
        ] as [(HTTPHeaders, Int, CacheRules.Refusal?)])
    func `a response is stored or refused with a reason`(headers: HTTPHeaders, status: Int, reason: CacheRules.Refusal?)
    {
        #expect(refusal(headers, status: status) == reason)
    }

    @Test func `only GET and QUERY are stored, and a request can forbid it`() {
        let headers: HTTPHeaders = ["Cache-Control": "max-age=60"]
        #expect(refusal(headers, method: .query) == nil)
        for method in [HTTPMethod.post, .put, .head, .delete] { #expect(refusal(headers, method: method) == .method) }
        #expect(refusal(headers, asked: "no-store") == .requestForbids)
    }

    private func use(_ control: String, after: Int64, _ change: (inout CacheDemand) -> Void = { _ in })
        -> CacheRules.Use
    {
        var demand = CacheDemand()
        change(&demand)
        return CacheRules.use(of: head(["Cache-Control": control]), for: demand, now: Self.now + after)
    }

    @Test func `a response is reused while it is fresh, and validated after that`() {
        #expect(use("max-age=60", after: 59) == .fresh)
        #expect(use("max-age=60", after: 60) == .validate)
        #expect(use("max-age=60, no-cache", after: 0) == .validate)
        #expect(use("max-age=60, no-cache=\"a\"", after: 0) == .validate)
        #expect(use("max-age=60", after: 1) { $0.validates = true } == .validate)
        #expect(use("max-age=60, immutable", after: 1) { $0.validates = true } == .fresh)
        #expect(use("max-age=60, immutable", after: 60) { $0.validates = true } == .validate)
        #expect(use("max-age=60", after: 10) { $0.maxAge = 9 } == .validate)
        #expect(use("max-age=60", after: 10) { $0.minFresh = 51 } == .validate)
        #expect(use("max-age=60", after: 10) { $0.minFresh = 50 } == .fresh)
    }

    @Test func `a stale response is reused only if the server or the request allows it, and nothing forbids it`() {
        #expect(use("max-age=60, stale-while-revalidate=10", after: 70) == .stale(validatesLater: true))
        #expect(use("max-age=60, stale-while-revalidate=10", after: 71) == .validate)
        #expect(use("max-age=60, stale-while-revalidate=10, must-revalidate", after: 61) == .validate)
        #expect(use("max-age=60, stale-while-revalidate=10", after: 61) { $0.maxAge = 100 } == .validate)
        #expect(use("max-age=60", after: 70) { $0.maxStale = 10 } == .stale(validatesLater: false))
        #expect(use("max-age=60", after: 71) { $0.maxStale = 10 } == .validate)
        #expect(use("max-age=60, must-revalidate", after: 61) { $0.maxStale = 10 } == .validate)
        #expect(use("no-cache", after: 1) { $0.maxStale = 10 } == .validate)
    }

    @Test(arguments: [
        ("max-age=60, stale-if-error=10", 70, true), ("max-age=60, stale-if-error=10", 71, false),
        ("max-age=60", 61, false),
        ("max-age=60, stale-if-error=10, must-revalidate", 61, false), ("no-cache, stale-if-error=10", 5, false),
    ])
    func `a stale response replaces an error only within stale-if-error`(control: String, after: Int64, isAllowed: Bool)
    {
        let head = head(["Cache-Control": control])
        #expect(CacheRules.mayReplaceError(head, for: CacheDemand(), now: Self.now + after) == isAllowed)
        var demand = CacheDemand()
        demand.staleIfError = 1000
        let isForbidden = control.contains("must-revalidate") || control.contains("no-cache")
        #expect(CacheRules.mayReplaceError(head, for: demand, now: Self.now + after) == !isForbidden)
    }

    @Test func `a 304 updates the fields, except for those that describe the body`() {
        let stored = head([
            "Cache-Control": "max-age=1", "ETag": "\"a\"", "X": "old", "Content-Length": "10",
            "Content-Type": "text/plain", "Content-Encoding": "br", "Age": "9", "Y": "kept",
        ])
        let confirmation = HTTPResponse(
            request: HTTPRequest(), status: .notModified,
            headers: [
                "Cache-Control": "max-age=60", "X": "new", "Content-Length": "0", "Content-Type": "text/html",
                "Content-Encoding": "gzip", "Connection": "X-Hop", "X-Hop": "1",
            ])
        let updated = stored.updated(by: confirmation, requestTime: Self.now + 5, responseTime: Self.now + 6)
        #expect(updated.headers[.cacheControl] == "max-age=60" && updated.headers["X"] == "new")
        #expect(updated.headers["Y"] == "kept" && updated.headers[.contentLength] == "10")
        #expect(updated.headers[.contentType] == "text/plain" && updated.headers[.contentEncoding] == "br")
        #expect(updated.headers[.age] == nil && updated.headers["X-Hop"] == nil && updated.responseTime == Self.now + 6)
    }

    @Test func `a 304 with another strong validator belongs to another response`() {
        func confirms(_ tag: String?) -> Bool {
            var response = HTTPResponse(request: HTTPRequest(), status: .notModified)
            response.headers[.eTag] = tag
            return CacheRules.confirms(response, head(["ETag": "\"a\""]))
        }
        #expect(confirms(nil) && confirms("\"a\"") && confirms("W/\"b\"") && !confirms("\"b\""))
    }

    @Test func `an unsafe method invalidates its URL, and locations of the same origin`() throws {
        func invalidated(_ method: HTTPMethod, _ status: HTTPStatus) throws -> [String] {
            let request = try HTTPRequest(method: method, "https://a.example/x/y?q")
            let response = HTTPResponse(
                request: request, status: status,
                headers: ["Location": "../z", "Content-Location": "https://b.example/"])
            return CacheRules.invalidated(by: response, to: request)
        }
        #expect(try invalidated(.post, .ok) == ["https://a.example/x/y?q", "https://a.example/z"])
        #expect(try invalidated("M-SEARCH", .found).count == 2)
        #expect(try invalidated(.delete, .notFound).isEmpty && invalidated(.get, .ok).isEmpty)
        #expect(try invalidated(.put, 500).isEmpty)
    }

    @Test(arguments: [
        ("1, 2", "1,2", "Foo", true), (" 1 ,2 ", "1,2", "Foo", true), ("2,1", "1,2", "Foo", false),
        ("A", "a", "Foo", false), ("\"a, b\"", "\"a,b\"", "Foo", false), ("en, de", "de, EN", "Accept-Language", true),
        ("en;q=0.5, de", "de,en; q=0.5", "Accept-Language", true), ("en", "de", "Accept-Language", false),
    ])
    func `varied fields with the same meaning are equal`(left: String, right: String, name: String, isEqual: Bool) {
        func value(_ text: String) -> String? {
            var request = HTTPRequest()
            request.headers[HTTPHeaders.Name(name)] = text
            return Vary.value(of: ASCII.lowercased(name), in: request)
        }
        #expect((value(left) == value(right)) == isEqual)
    }

    @Test(
        arguments: [
            ("bytes=0-1", 0..<2), ("bytes=8-", 8..<10), ("bytes=-3", 7..<10), ("bytes=-99", 0..<10),
            ("BYTES=5-99", 5..<10),
            ("bytes=10-", nil), ("bytes=3-2", nil), ("bytes=0-1,3-4", nil), ("bytes=-", nil), ("bytes=-0", nil),
            ("bytes=a-b", nil), ("items=0-1", nil), ("bytes", nil), ("bytes=99999999999999999999-", nil),
        ] as [(String, Range<Int>?)])
    func `a single satisfiable range is read`(text: String, range: Range<Int>?) {
        #expect(CachedRange.range(text, count: 10) == range)
    }
}
