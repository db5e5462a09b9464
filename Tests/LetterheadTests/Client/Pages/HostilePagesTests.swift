// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadObserving
import LetterheadTesting
import TestKit
import Testing

/// Links that a server should not send: nothing is sent to another origin, and every sequence ends.
@Suite(.timeLimit(.minutes(3)))
struct HostilePagesTests {
    struct Numbers: RequestTemplate {
        typealias Response = [Int]
        var path: RequestPath { "a/numbers" }
    }

    @Test func `a page at a URL of the server has the route of its template`() async throws {
        let recorder = StatisticsRecorder()
        let mock = MockLoader { request in
            var response = try HTTPResponse.ok(request, json: [1])
            let next = (request.query["page"].flatMap { Int($0) } ?? 1) + 1
            if next < 4 { response.headers.append("Link", "</v2/repositories/17/issues?page=\(next)>; rel=next") }
            return response
        }
        let client = HTTPClient(environment: .of("https://api.example.com"), observers: [recorder], transport: mock)
        let template = Get<[Int]>("repos/\("ada")/\("x")/issues")
        let pages = try await client.pages(of: template.paginated(by: .linkHeader)).collect()
        #expect(pages.count == 3 && mock.requests.last?.target == "/v2/repositories/17/issues?page=3")
        #expect(Set(recorder.statistics.routes.keys) == ["repos/{}/{}/issues"])
        #expect(mock.requests.last?.path.route == "repos/{}/{}/issues")
    }

    private func walk(_ link: String) async -> (pages: Int, targets: [String], error: HTTPError?) {
        let mock = MockLoader { request in
            var response = try HTTPResponse.ok(request, json: [1])
            response.headers.append("Link", link)
            return response
        }
        let environment = ServerEnvironment(
            baseURL: URL(string: "https://api.example.com") ?? URL(filePath: "/"),
            headers: ["Authorization": "Bearer t"])
        let client = HTTPClient(environment: environment, transport: mock)
        var count = 0
        do {
            for try await _ in client.pages(
                of: Numbers().paginated(by: .linkHeader), settings: PageSettings(pageLimit: 4))
            {
                count += 1
            }
            return (count, mock.requests.map(\.target), nil)
        } catch {
            return (count, mock.requests.map(\.target), error as? HTTPError)
        }
    }

    @Test(arguments: [
        "<https://evil.example/x>; rel=next", "<//evil.example/x>; rel=next", "<http://api.example.com/x>; rel=next",
        "<https://api.example.com:8443/x>; rel=next", "<https://api.example.com.evil.example/>; rel=next",
        "<https://api.example.com@evil.example/>; rel=next", "<ftp://api.example.com/x>; rel=next",
        "<file:///etc/passwd>; rel=next", "<javascript:alert(1)>; rel=next",
        "<https://u:p@api.example.com/x>; rel=next",
    ])
    func `a link to another origin is refused and nothing is sent there`(link: String) async {
        let (pages, targets, error) = await walk(link)
        #expect(error?.code == .invalidResponse)
        #expect(pages == 1 && targets == ["/a/numbers"])
    }

    @Test func `the number of anchors at other documents is limited`() async {
        func links(_ count: Int) -> String {
            String(repeating: "<x>; rel=next; anchor=elsewhere, ", count: count) + "<?page=2>; rel=next"
        }
        #expect(await walk(links(100)).targets.prefix(2) == ["/a/numbers", "/a/numbers?page=2"])
        let (pages, targets, error) = await walk(links(5_000))
        #expect(error?.code == .invalidResponse && pages == 1 && targets == ["/a/numbers"])
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
            Numbers().paginated(), Numbers().paginated(by: .offset(limit: 1)), Numbers().paginated(by: .linkHeader),
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

    @Test func `after a redirect to another origin, links to that origin are not followed`() async throws {
        let mock = MockLoader { request in
            if request.host == "api.example.com" {
                return HTTPResponse(request: request, status: 302, headers: ["Location": "https://other.example/n"])
            }
            var response = try HTTPResponse.ok(request, json: [1])
            response.headers.append("Link", "</n?page=2>; rel=next")
            return response
        }
        let environment = ServerEnvironment.of("https://api.example.com", headers: ["Authorization": "Bearer t"])
        let client = HTTPClient(environment: environment, transport: mock)
        let error = await #expect(throws: HTTPError.self) {
            try await client.pages(of: Numbers().paginated(by: .linkHeader)).collect()
        }
        #expect(error?.message.contains("next page, at https://other.example, was not followed") == true)
        #expect(mock.requests.count == 2)
    }

    @Test(arguments: [
        "<>; rel=next", "<#x>; rel=next", "<numbers>; rel=next", "<./numbers>; rel=\"prev next\"",
        "<HTTPS://API.example.com:443/a/numbers>; rel=next", "< numbers >; rel=next",
    ])
    func `a link to the page that was just read ends as a loop, and the page is delivered once`(link: String) async {
        let (pages, targets, error) = await walk(link)
        #expect(error?.code == .paginationLoop && pages == 1 && targets == ["/a/numbers"])
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
        var iterator = client.pages(of: Numbers().paginated(by: .linkHeader)).makeAsyncIterator()
        #expect(try await iterator.next()?.value == [1])
        let error = await #expect(throws: HTTPError.self) { try await iterator.next() }
        #expect(error?.code == .paginationLoop && mock.requests.map(\.target) == ["/a/numbers", "/moved"])
    }

    private static let escapedLinks = [
        ("numbers?q=a b", "/a/numbers?q=a%20b"), ("numbers?q=é", "/a/numbers?q=%C3%A9"),
        ("/é/ü x?p=ö|\"", "/%C3%A9/%C3%BC%20x?p=%C3%B6%7C%22"),
        ("n?q=%C3%A9%20%2f&x=%", "/a/n?q=%C3%A9%20%2f&x=%25"), ("  n?p=2 ", "/a/n?p=2"),
        ("n?filter={\"a\":1}", "/a/n?filter=%7B%22a%22:1%7D"), ("n?page[number]=2", "/a/n?page%5Bnumber%5D=2"),
        ("/[x]/{y}^`|?a\\b=1%2", "/%5Bx%5D/%7By%7D%5E%60%7C?a%5Cb=1%252"),
    ]

    @Test(arguments: escapedLinks, TransportTests.Transport.allCases)
    func `characters that a URL cannot contain are escaped, and the link is followed`(
        link: (text: String, target: String), transport: TransportTests.Transport
    ) async throws {
        let (link, target) = link
        struct List: Decodable, Sendable {
            var next: String?
        }
        struct GetList: RequestTemplate {
            typealias Response = List
            var path: RequestPath { "a/numbers" }
        }
        #expect(await walk("<\(link)>; rel=next").targets.dropFirst().first == target)
        let server = try await MockServer.start { request in
            request.target == "/a/numbers" ? try .json(["next": link]) : try .json([String: String]())
        }
        let client = HTTPClient(
            environment: ServerEnvironment(baseURL: server.url), transport: transport.loader)
        let pages = try await client.pages(of: GetList().paginated(by: .nextURL(\.next))).collect()
        #expect(pages.count == 2 && server.requests.map(\.target) == ["/a/numbers", target])
        await server.stop()
    }

    @Test(arguments: ["n?a\u{1}b", "n\u{7F}", "a\tb"])
    func `a link with a control character is an invalid response`(link: String) async {
        let (pages, targets, error) = await walk("<\(link)>; rel=next")
        #expect(error?.code == .invalidResponse && pages == 1 && targets == ["/a/numbers"])
    }

    @Test(arguments: [
        "", "<", "<x", "<x>", "<x>; rel", "<x>; rel=", "<x>; rel=prev", "x; rel=next", "<x>; title=\"; rel=next\"",
        "<x>; title=\"", "<x>; rel=\"prev\\",
        "<x>; rev=next", "<x>; rel=prev; rel=next", "<x>; rel=next; anchor=\"/other\"",
    ])
    func `a Link field without a next link ends the sequence`(link: String) async {
        let (pages, targets, error) = await walk(link)
        #expect(pages == 1 && targets.count == 1 && error == nil)
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
}
