import Foundation
import Letterhead
import LetterheadTesting
import Testing

/// Links that a server should not send: nothing is sent elsewhere, and nothing goes on for ever.
@Suite(.timeLimit(.minutes(1)))
struct HostilePagesTests {
    struct Numbers: RequestTemplate {
        typealias Response = [Int]
        var path: RequestPath { "a/numbers" }
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
            for try await _ in client.pages(of: Numbers().paginated(by: .linkHeader), walk: PageWalk(pageLimit: 4)) {
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
        let (_, targets, error) = await walk(link)
        #expect(error?.code == .invalidResponse)
        #expect(targets == ["/a/numbers"])
    }

    @Test(arguments: ["<>; rel=next", "<#x>; rel=next", "<numbers>; rel=next", "<./numbers>; rel=\"prev next\""])
    func `a link to the page itself ends as a loop`(link: String) async {
        let (_, targets, error) = await walk(link)
        #expect(error?.code == .paginationLoop && targets.count <= 2)
    }

    @Test(arguments: [
        "", "<", "<x", "<x>", "<x>; rel", "<x>; rel=", "<x>; rel=prev", "x; rel=next", "<x>; title=\"; rel=next\"",
        "<x>; title=\"", "<x>; rel=\"prev\\",
        "<x>; rev=next", "<x>; rel=prev; rel=next", "<x>; rel=next; anchor=\"/other\"",
    ])
    func `a field without a next link ends the walk`(link: String) async {
        let (pages, targets, error) = await walk(link)
        #expect(pages == 1 && targets.count == 1 && error == nil)
    }

    @Test(arguments: [
        "<numbers?p=2>; rel=next", "<numbers?p=2>; REL=\"NEXT\"", "<numbers?p=2> ; rel = next",
        "</x>; rel=prev, <numbers?p=2>; rel=next", "<numbers?p=2>; title=\"a, b; c\"; rel=\"next\"",
        "<numbers?p=2>;rel=\"prev next\"", "<numbers?p=2>; title=\"\\\"\"; rel=next", ", ,<numbers?p=2>;rel=next",
        "<numbers?p=2>; rel=next; anchor=\"\"",
    ])
    func `the grammar of RFC 8288 is read whole`(link: String) async {
        #expect(await walk(link).targets.dropFirst().first == "/a/numbers?p=2")
    }
}
