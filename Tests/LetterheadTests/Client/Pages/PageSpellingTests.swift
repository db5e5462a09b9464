// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

/// A link is compared with the pages that were read by its meaning, and not by its spelling.
@Suite(.timeLimit(.minutes(1)))
struct PageSpellingTests {
    private struct Users: RequestTemplate {
        typealias Response = [Int]
        var path: RequestPath
        var query: QueryParameters
    }

    private struct Outcome {
        var pages = 0
        var targets: [String] = []
        var code: HTTPError.Code?
    }

    /// Reads the pages of a server that has a link in its first page.
    private func outcome(_ path: RequestPath, _ query: QueryParameters, link: String) async -> Outcome {
        let loads = Tally()
        let mock = MockLoader { request in
            var response = try HTTPResponse.ok(request, json: [1])
            if loads.next() == 1 { response.headers["Link"] = "\(link); rel=next" }
            return response
        }
        let client = HTTPClient(environment: .of("https://a.test"), transport: mock)
        var outcome = Outcome()
        do {
            for try await _ in client.pages(of: Users(path: path, query: query).paginated(by: .linkHeader)) {
                outcome.pages += 1
            }
        } catch {
            outcome.code = (error as? HTTPError)?.code
        }
        outcome.targets = mock.requests.map(\.target)
        return outcome
    }

    @Test(
        arguments: [
            (["q": "a:b"], "</users?q=a:b>"), (["q": "a/b"], "</users?q=a/b>"), (["q": "a,b"], "</users?q=a,b>"),
            (["q": "a b"], "</users?q=a+b>"), (["q": "a~b"], "</users?q=a%7Eb>"), (["q": "é"], "</users?q=%c3%a9>"),
            (["q": "a"], "</users?q=a&>"), (["q": "a"], "</users?&%71=%61>"), (["q": "a"], "<?q=a#top>"),
            (["q": "a", "p": 1], "</users?p=1&q=a>"), (["q": ""], "</users?q>"), ([:], "</users?>"),
            ([:], "</%75sers>"), ([:], "</./users>"), ([:], "</x/%2e%2e/users>"), ([:], "<HTTPS://A.test:443/users>"),
            (["q": "100%"], "</users?q=100%>"), (["a[b]": "c|d"], "</users?a[b]=c|d>"),
        ] as [(QueryParameters, String)])
    func `a link to the page that was just read is a loop in every spelling`(
        query: QueryParameters, link: String
    ) async {
        let outcome = await outcome("users", query, link: link)
        #expect(outcome.code == .paginationLoop && outcome.pages == 1 && outcome.targets.count == 1)
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
        let outcome = await outcome(path, query, link: link)
        #expect(outcome.code == nil && outcome.pages == 2 && outcome.targets.count == 2)
    }

    @Test func `an anchor that spells the URL of the page differently refers to the page`() async {
        let outcome = await outcome("users", ["q": "a:b"], link: "</users?page=2>; anchor=\"/users?q=a:b\"")
        #expect(outcome.code == nil && outcome.targets == ["/users?q=a%3Ab", "/users?page=2"])
    }
}
