// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import TestKit
import Testing

@Suite struct RouteTests {
    private static let paths: [(path: RequestPath, route: String)] = [
        ("users/\("ada")/followers", "users/{}/followers"),
        ("users/\("ada", name: "login")/posts/\(7)", "users/{login}/posts/{}"),
        ("files/\(segments: ["2026", "a b"])/raw", "files/{}/raw"), ("files/\(raw: "a/b")", "files/{}"),
        ("users", "users"), ("/absolute/\(1)", "/absolute/{}"), ("", ""),
        ("\(1)/\(2)/\(3)/\(4)/\(5)/\(6)", "{}/{}/{}/{}/{}/{}"), ("a/\("b c/d")", "a/{}"), ("\(1)\(2)", "{}{}"),
        ("v1/\(1)/\(2)/\(3)/\(4)/\(5, name: "five")/\(6)", "v1/{}/{}/{}/{}/{five}/{}"),
    ]

    @Test func `a route has no values`() {
        for (path, route) in Self.paths { #expect(path.route == route) }
    }

    @Test func `a value far into a path has a place`() {
        let literal = String(repeating: "a", count: 70_000)
        #expect(RequestPath(stringLiteral: literal).route == literal)
        #expect(("\(raw: literal)/\("ada")" as RequestPath).route == "{}/{}")
    }

    @Test func `a path that is not a literal has no route`() throws {
        #expect(try HTTPRequest("https://a.test/users/ada").path.route == nil)
        #expect(("caf\u{E9}/\(1)" as RequestPath).route == nil)
        #expect(("https://host/\(1)" as RequestPath).route == nil)
    }

    @Test func `the prefix of a base URL is not part of a route`() throws {
        let base = try #require(URL(string: "https://a.test/api/v2/"))
        let template = TestEndpoint("users/\("ada")/posts").with { $0.baseURL = base }
        let request = try StandardRequestBuilder(template).request()
        #expect(request.path.string == "/api/v2/users/ada/posts" && request.path.route == "users/{}/posts")
        var other = HTTPRequest()
        other.path = "users/\("grace")"
        ServerEnvironment(baseURL: base).apply(to: &other)
        #expect(other.path.string == "/api/v2/users/grace" && other.path.route == "users/{}")
    }

    @Test func `paths of the same text are equal, whatever their routes are`() {
        let (one, other) = ("users/\(1)" as RequestPath, "users/1" as RequestPath)
        #expect(one == other && one.hashValue == other.hashValue && one.route != other.route)
    }
}
