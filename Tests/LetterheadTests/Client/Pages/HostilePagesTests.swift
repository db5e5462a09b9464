// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

/// Links that a server should not send: nothing is sent to another origin, and every sequence ends.
@Suite(.timeLimit(.minutes(3)))
struct HostilePagesTests {
    private let numbers = Get<[Int]>("a/numbers")

    private struct Walk {
        var pages = 0
        var targets: [String] = []
        var error: HTTPError?
    }

    @Test func `a page at a URL of the server has the route of its template`() async throws {
        let mock = MockLoader { request in
            var response = try HTTPResponse.ok(request, json: [1])
            let next = (request.query["page"].flatMap { Int($0) } ?? 1) + 1
            if next < 4 { response.headers.append("Link", "</v2/repositories/17/issues?page=\(next)>; rel=next") }
            return response
        }
        let client = HTTPClient(environment: .of("https://api.example.com"), transport: mock)
        let template = Get<[Int]>("repos/\("ada")/\("x")/issues")
        let pages = try await client.pages(of: template.paginated(by: .linkHeader)).collect()
        #expect(pages.count == 3 && mock.requests.last?.target == "/v2/repositories/17/issues?page=3")
        #expect(mock.requests.allSatisfy { $0.path.route == "repos/{}/{}/issues" })
    }

    /// Reads the pages of a server that has a link in each page, or in its first page only.
    private func walk(_ link: String, from numbers: Get<[Int]> = Get("a/numbers"), isOnce: Bool = false) async -> Walk {
        let loads = Counter()
        let mock = MockLoader { request in
            var response = try HTTPResponse.ok(request, json: [1])
            if loads.next() == 1 || !isOnce { response.headers.append("Link", link) }
            return response
        }
        let environment = ServerEnvironment.of("https://api.example.com", headers: ["Authorization": "Bearer t"])
        let client = HTTPClient(environment: environment, transport: mock)
        let template = numbers.paginated(by: .linkHeader)
        var walk = Walk()
        do {
            for try await _ in client.pages(of: template, settings: PageSettings(pageLimit: 4)) { walk.pages += 1 }
        } catch {
            walk.error = error as? HTTPError
        }
        walk.targets = mock.requests.map(\.target)
        return walk
    }

    @Test(arguments: [
        "<https://evil.example/x>; rel=next", "<//evil.example/x>; rel=next", "<http://api.example.com/x>; rel=next",
        "<https://api.example.com:8443/x>; rel=next", "<https://api.example.com.evil.example/>; rel=next",
        "<https://api.example.com@evil.example/>; rel=next", "<ftp://api.example.com/x>; rel=next",
        "<file:///etc/passwd>; rel=next", "<javascript:alert(1)>; rel=next",
        "<https://u:p@api.example.com/x>; rel=next",
    ])
    func `a link to another origin is refused and nothing is sent there`(link: String) async {
        let walk = await walk(link)
        #expect(walk.error?.code == .invalidResponse && walk.pages == 1 && walk.targets == ["/a/numbers"])
    }

    @Test func `the number of anchors at other documents is limited`() async {
        func links(_ count: Int) -> String {
            String(repeating: "<x>; rel=next; anchor=elsewhere, ", count: count) + "<?page=2>; rel=next"
        }
        #expect(await walk(links(100)).targets.prefix(2) == ["/a/numbers", "/a/numbers?page=2"])
        let many = await walk(links(5_000))
        #expect(many.error?.code == .invalidResponse && many.pages == 1 && many.targets == ["/a/numbers"])
    }

    @Test(arguments: [
        #"{"page":9223372036854775807,"position":{"number":{"_0":9223372036854775807}}}"#,
        #"{"page":9223372036854775807,"position":{"number":{"_0":1}}}"#,
        #"{"page":-9223372036854775808,"position":{"number":{"_0":-9223372036854775808}}}"#,
        #"{"page":1,"position":{"offset":{"_0":9223372036854775807}}}"#,
        #"{"page":1,"position":{"url":{"_0":"https://evil.example/x"}}}"#,
        #"{"page":1,"position":{"cursor":{"_0":{"a":[null,1e300]}}}}"#, #"{"page":1,"position":{"unknown":{}}}"#,
    ])
    func `a forged checkpoint leads to pages or an error, and to no other origin`(json: String) async throws {
        let checkpoint = try JSONDecoder().decode(PageCheckpoint.self, from: Data(json.utf8))
        let mock = MockLoader { try .ok($0, json: [1]) }
        let client = HTTPClient(environment: .of("https://api.example.com"), transport: mock)
        let settings = PageSettings(maximumPages: 3)
        for template in [
            numbers.paginated(), numbers.paginated(by: .offset(limit: 1)), numbers.paginated(by: .linkHeader),
        ] {
            _ = template.resumed(from: checkpoint).requestForNextPage()
            let pages = client.pages(of: template, from: checkpoint, settings: settings)
            do { _ = try await pages.collect() } catch is HTTPError {}
        }
        #expect(mock.requests.allSatisfy { $0.host == "api.example.com" && $0.target.hasPrefix("/a/numbers") })
    }

    @Test func `the error of a refused link names both origins`() async {
        let message = await walk("<https://evil.example/x>; rel=next").error?.message ?? ""
        #expect(message.contains("from https://api.example.com to") && message.contains("at https://evil.example was"))
    }

    @Test(arguments: [
        "<>; rel=next", "<#x>; rel=next", "<numbers>; rel=next", "<./numbers>; rel=\"prev next\"",
        "<HTTPS://API.example.com:443/a/numbers>; rel=next", "< numbers >; rel=next",
    ])
    func `a link to the page that was just read ends as a loop, and the page is delivered once`(link: String) async {
        let walk = await walk(link)
        #expect(walk.error?.code == .paginationLoop && walk.pages == 1 && walk.targets == ["/a/numbers"])
    }

    @Test(arguments: ["<numbers>; rel=next", "</moved>; rel=next"])
    func `a link to the page that was just read is a loop on both sides of a redirect`(link: String) async throws {
        let mock = MockLoader { request in
            if request.target == "/a/numbers" {
                return HTTPResponse(request: request, status: 302, headers: ["Location": "/moved"])
            }
            var response = try HTTPResponse.ok(request, json: [1])
            response.headers.append("Link", link == "<numbers>; rel=next" ? "</a/numbers>; rel=next" : link)
            return response
        }
        let client = HTTPClient(environment: .of("https://api.example.com"), transport: mock)
        var iterator = client.pages(of: numbers.paginated(by: .linkHeader)).makeAsyncIterator()
        #expect(try await iterator.next()?.value == [1])
        let error = await #expect(throws: HTTPError.self) { try await iterator.next() }
        #expect(error?.code == .paginationLoop && mock.requests.map(\.target) == ["/a/numbers", "/moved"])
    }

    @Test(arguments: [
        ("numbers?q=a b", "/a/numbers?q=a%20b"), ("numbers?q=é", "/a/numbers?q=%C3%A9"),
        ("/é/ü x?p=ö|\"", "/%C3%A9/%C3%BC%20x?p=%C3%B6%7C%22"),
        ("n?q=%C3%A9%20%2f&x=%", "/a/n?q=%C3%A9%20%2f&x=%25"), ("  n?p=2 ", "/a/n?p=2"),
        ("n?filter={\"a\":1}", "/a/n?filter=%7B%22a%22:1%7D"), ("n?page[number]=2", "/a/n?page%5Bnumber%5D=2"),
        ("/[x]/{y}^`|?a\\b=1%2", "/%5Bx%5D/%7By%7D%5E%60%7C?a%5Cb=1%252"),
    ])
    func `characters that a URL cannot contain are escaped, and the link is followed`(
        link: String, target: String
    ) async {
        #expect(await walk("<\(link)>; rel=next").targets.dropFirst().first == target)
    }

    @Test(arguments: ["n?a\u{1}b", "n\u{7F}", "a\tb"])
    func `a link with a control character is an invalid response`(link: String) async {
        let walk = await walk("<\(link)>; rel=next")
        #expect(walk.error?.code == .invalidResponse && walk.pages == 1 && walk.targets == ["/a/numbers"])
    }

    @Test(arguments: [
        "", "<", "<x", "<x>", "<x>; rel", "<x>; rel=", "<x>; rel=prev", "x; rel=next", "<x>; title=\"; rel=next\"",
        "<x>; title=\"", "<x>; rel=\"prev\\",
        "<x>; rev=next", "<x>; rel=prev; rel=next", "<x>; rel=next; anchor=\"/other\"",
    ])
    func `a Link field without a next link ends the sequence`(link: String) async {
        let walk = await walk(link)
        #expect(walk.pages == 1 && walk.targets.count == 1 && walk.error == nil)
    }

    @Test(arguments: [
        "<numbers?p=2>; rel=next", "<numbers?p=2>; REL=\"NEXT\"", "<numbers?p=2> ; rel = next",
        "</x>; rel=prev, <numbers?p=2>; rel=next", "<numbers?p=2>; title=\"a, b; c\"; rel=\"next\"",
        "<numbers?p=2>;rel=\"prev next\"", "<numbers?p=2>; title=\"\\\"\"; rel=next", ", ,<numbers?p=2>;rel=next",
        "<numbers?p=2>; rel=next; anchor=\"\"",
    ])
    func `the whole grammar of RFC 8288 is parsed`(link: String) async {
        #expect(await walk(link).targets.dropFirst().first == "/a/numbers?p=2")
    }

    // MARK: A link is compared with the pages that were read by its meaning, and not by its spelling.

    @Test(
        arguments: [
            (["q": "a:b"], "</users?q=a:b>"), (["q": "a/b"], "</users?q=a/b>"), (["q": "a,b"], "</users?q=a,b>"),
            (["q": "a b"], "</users?q=a+b>"), (["q": "a~b"], "</users?q=a%7Eb>"), (["q": "é"], "</users?q=%c3%a9>"),
            (["q": "a"], "</users?q=a&>"), (["q": "a"], "</users?&%71=%61>"), (["q": "a"], "<?q=a#top>"),
            (["q": "a", "p": 1], "</users?p=1&q=a>"), (["q": ""], "</users?q>"), ([:], "</users?>"),
            ([:], "</%75sers>"), ([:], "</./users>"), ([:], "</x/%2e%2e/users>"),
            ([:], "<HTTPS://API.example.com:443/users>"), (["q": "100%"], "</users?q=100%>"),
            (["a[b]": "c|d"], "</users?a[b]=c|d>"),
        ] as [(QueryParameters, String)])
    func `a link to the page that was just read is a loop in every spelling`(
        query: QueryParameters, link: String
    ) async {
        let walk = await walk("\(link); rel=next", from: Get("users", query: query), isOnce: true)
        #expect(walk.error?.code == .paginationLoop && walk.pages == 1 && walk.targets.count == 1)
    }

    @Test(
        arguments: [
            ("users", ["q": "a+b"], "</users?q=a+b>"), ("a%2Fb", [:], "</a/b>"), ("users", [:], "</users/>"),
            ("users", ["q": "a"], "</users?q=A>"), ("users", ["q": "a&b"], "</users?q=a&b>"),
            ("users", QueryParameters(escaped: "q=%FF"), "</users?q=%FE>"),
            ("users", ["q": "a=b"], "</users?q=a%3Db%3D>"), ("users", ["q": 1], "</users?q=1&q=1>"),
        ] as [(RequestPath, QueryParameters, String)])
    func `a link to another page is followed, even if it is spelled similarly`(
        path: RequestPath, query: QueryParameters, link: String
    ) async {
        let walk = await walk("\(link); rel=next", from: Get(path, query: query), isOnce: true)
        #expect(walk.error == nil && walk.pages == 2 && walk.targets.count == 2)
    }

    @Test func `an anchor that spells the URL of the page differently refers to the page`() async {
        let link = "</users?page=2>; anchor=\"/users?q=a:b\"; rel=next"
        let walk = await walk(link, from: Get("users", query: ["q": "a:b"]), isOnce: true)
        #expect(walk.error == nil && walk.targets == ["/users?q=a%3Ab", "/users?page=2"])
    }
}
