// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

@Suite(.timeLimit(.minutes(3))) struct ResponseLinksTests {
    private static func response(_ fields: [String], to url: String = "https://h/a/b?page=1") throws -> HTTPResponse {
        let headers = HTTPHeaders(fields.map { HTTPHeaders.Field(.link, $0) })
        return HTTPResponse(request: try HTTPRequest(url), status: 200, headers: headers)
    }

    private static let targets: [(reference: String, target: String?)] = [
        ("https://x/y", "https://x/y"), ("//x/y", "https://x/y"), ("/y", "https://h/y"), ("y", "https://h/a/y"),
        ("../y", "https://h/y"), ("?page=2", "https://h/a/b?page=2"), ("", "https://h/a/b?page=1"),
        ("#top", "https://h/a/b?page=1#top"), (" y ", "https://h/a/y"), ("a b?[c]", "https://h/a/a%20b?%5Bc%5D"),
        ("naïve", "https://h/a/na%C3%AFve"), ("100%", "https://h/a/100%25"), ("mailto:a@h", "mailto:a@h"),
        ("y\u{1}", nil), ("https://h:x/", nil),
    ]

    @Test(arguments: targets)
    func `a target is resolved against the URL of the request`(reference: String, target: String?) throws {
        let response = try Self.response(["<\(reference)>; rel=next"], to: "https://h/a/b?page=1#here")
        let link = try #require(response.links.first)
        #expect(link.target?.absoluteString == target)
    }

    @Test func `the links of all fields are returned in order, with their parameters`() throws {
        let links = try Self.response([
            #"<?page=2>; REL="Next  prefetch https://a/Rel"; title="a, \"b\"; c"; title=d"#, "",
            "<x>; rel=prev; rel=next; crossorigin, <y>;title*=UTF-8''%e2%82%ac, z, <lost>",
        ]).links
        #expect(links.map(\.reference) == ["?page=2", "x", "y"])
        #expect(links.map(\.relations) == [["next", "prefetch", "https://a/rel"], ["prev"], []])
        #expect(links[0]["Title"] == "a, \"b\"; c" && links[0].parameters.map(\.name) == ["rel", "title", "title"])
        #expect(links[1]["crossorigin"] == "" && links[1]["title"] == nil && links[2]["title*"] == "UTF-8''%e2%82%ac")
        #expect(try Self.response([]).links.isEmpty)
    }

    @Test func `a link that names the server of a balanced request leads to the origin of the request`() throws {
        var response = try Self.response(["<http://replica:8080/x>; rel=next, <http://u@replica:8080/x>"])
        response.respondingServer = HTTPOrigin(scheme: "http", host: "replica", port: 8080)
        #expect(response.links.first?.target?.absoluteString == "https://h/x")
        #expect(response.links.last?.target?.absoluteString == "http://u@replica:8080/x")
    }

    @Test func `a printed link shows neither a secret of its target nor the URL of the request`() throws {
        let response = try Self.response(["</x?token=SECRET>; rel=next"], to: "https://h/?key=OTHER")
        let link = try #require(response.links.first)
        var dumped = ""
        dump(link, to: &dumped)
        for text in ["\(link)", String(reflecting: link), dumped] {
            #expect(text.contains(#"</x?token=<redacted>>; rel="next""#) && !text.contains("OTHER"))
        }
        let user = try Self.response(["<//user:SECRET@h/x>; rel=next"]).links.first
        #expect(user.map { "\($0)" } == #"<//<redacted>@h/x>; rel="next""#)
    }

    @Test func `a page has the URL of the next page if its response names one`() async throws {
        let paged = try await PagedServer([
            .init("/users", "[1]", headers: ["Link": "<users?page=2&tag=[a]>; rel=\"next\""]),
            .init("/users?page=2&tag=%5Ba%5D", "[2]"),
        ])
        let pages = try await paged.client.pages(of: Get<[Int]>("users").paginated(by: .linkHeader)).all()
        #expect(pages.map { $0.nextURL?.query() } == ["page=2&tag=%5Ba%5D", nil])
        await paged.stop()
    }
}
