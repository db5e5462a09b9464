// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import TestKit
import Testing

@Suite struct RequestPathTests {
    private enum Kind: String { case open = "o/p" }

    private struct Identifier: RawRepresentable, LosslessStringConvertible {
        let rawValue: String
        init(rawValue: String) { self.rawValue = rawValue }
        init?(_ description: String) { rawValue = description }
        var description: String { "described" }
    }

    private func refusal(_ path: RequestPath) -> HTTPError? {
        let request = HTTPRequest().with { ($0.host, $0.path) = ("example.com", path) }
        do throws(HTTPError) { try request.validate() } catch { return error }
        return nil
    }

    @Test(arguments: [
        ("a/b ?", "a%2Fb%20%3F"), ("../admin", "..%2Fadmin"), ("a/b?x#y", "a%2Fb%3Fx%23y"), ("%2e%2e", "%252e%252e"),
        ("é", "%C3%A9"), ("\\", "%5C"), ("a;b=c", "a%3Bb%3Dc"), ("//evil", "%2F%2Fevil"), ("...", "..."),
        ("http://evil", "http%3A%2F%2Fevil"), ("\r\n", "%0D%0A"), ("@", "%40"), ("a.b-c_d~e", "a.b-c_d~e"),
        (" ", "%20"),
    ]) func `every value is one segment`(value: String, segment: String) throws {
        let path: RequestPath = "users/\(value)/x"
        #expect(path.string == "users/\(segment)/x")
        #expect(path.segments == ["users", value, "x"])
        #expect(refusal(path) == nil)
    }

    @Test func `each value of a list is one segment`() {
        let path: RequestPath = "files/\(segments: ["a/b", "c d", "7"])/raw"
        #expect(path.string == "files/a%2Fb/c%20d/7/raw")
        #expect(path.segments == ["files", "a/b", "c d", "7", "raw"])
        #expect(("\(segments: [1, 2])" as RequestPath).string == "1/2")
        #expect(("\(segments: "a/b".split(separator: "/"))" as RequestPath).string == "a/b")
        #expect(refusal(path) == nil)
        for values in [[], [""], ["a", ""], ["a", ".."], ["."]] {
            let refused: RequestPath = "files/\(segments: values)"
            #expect(refusal(refused)?.code == .invalidRequest)
        }
    }

    @Test func `values of a list may be empty if the path allows it`() throws {
        for (key, written) in [("a//b", "a//b"), ("photos/", "photos/"), ("", ""), ("/a", "/a"), ("//", "//")] {
            let path: RequestPath =
                "bucket/\(segments: key.split(separator: "/", omittingEmptySubsequences: false), allowingEmpty: true)"
            #expect(path.string == "bucket/\(written)" && path.route == "bucket/{}" && refusal(path) == nil)
            var request = HTTPRequest()
            request.path = path
            ServerEnvironment("https://h.test/v1/").apply(to: &request)
            #expect(try request.urlString() == "https://h.test/v1/bucket/\(written)")
        }
        #expect(("a//b/" as RequestPath).segments == ["a", "b"])
        for values in [[], [".", ""], ["", "a"], ["", "", "a"]] {
            #expect(refusal("\(segments: values, allowingEmpty: true)" as RequestPath)?.code == .invalidRequest)
        }
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func `no value can add a segment, a query or a host`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let pieces = [
            "/", "..", ".", "?", "#", "%2F", "%", "\\", ":", "//", "@", "é", "\u{301}", "\r\n", "\0", "a", " ", ";",
        ]
        for _ in 0..<750 {
            let value = generator.text(of: pieces, upTo: 6)
            let path: RequestPath = "\(value)/\(value)"
            guard !["", ".", ".."].contains(value) else {
                #expect(refusal(path)?.code == .invalidRequest)
                continue
            }
            #expect(path.string.filter { $0 == "/" }.count == 1, "\(value.debugDescription)")
            #expect(path.string.utf8.allSatisfy { (0x21...0x7E).contains($0) && !"?#\\:@".utf8.contains($0) })
            #expect(path.segments.map { Array($0.utf8) } == [Array(value.utf8), Array(value.utf8)])
            #expect(refusal(path) == nil, "\(value.debugDescription)")
        }
    }

    @Test(arguments: ["", ".", ".."]) func `an empty value and dots are refused`(value: String) throws {
        let error = try #require(refusal("users/\(value)/x"))
        #expect(error.code == .invalidRequest && error.message.contains("path"))
    }

    @Test(
        arguments: [
            "//evil", "http://evil/", "https://user:SECRET@evil", "x-scheme://evil", "//", "//\u{301}evil",
            "\(raw: "//evil")", "\(raw: "http:")//evil", "/\(raw: "/evil")", "HTTPS://EVIL",
        ] as [RequestPath])
    func `a path that begins with a host is refused, and the error does not show it`(path: RequestPath) throws {
        let error = try #require(refusal(path))
        #expect(error.code == .invalidRequest && error.message.contains("host"))
        for text in ["\(error)", String(reflecting: error), "\(error.request)"] {
            #expect(!text.contains("SECRET") && !text.lowercased().contains("evil"))
        }
    }

    @Test(arguments: ["a?token=SECRET", "a#SECRET", "\(raw: "a?b=SECRET")"] as [RequestPath])
    func `a query or a fragment in a path is refused, and the error does not show it`(path: RequestPath) throws {
        let error = try #require(refusal(path))
        #expect(error.code == .invalidRequest)
        #expect(!"\(error)".contains("SECRET"))
    }

    @Test(
        arguments: [
            ("a/b", "a/b"), ("/a", "/a"), ("a%2Fb", "a%2Fb"), ("a b", "a%20b"), ("50%", "50%25"), ("é", "%C3%A9"),
            ("a\\b", "a%5Cb"), ("x:y@z;a=b,c", "x:y@z;a=b,c"), ("localhostfoo", "localhostfoo"), ("", ""),
            ("a//b/", "a//b/"), ("\\\\evil", "%5C%5Cevil"), ("/\\evil", "/%5Cevil"), ("http:/x", "http:/x"),
        ] as [(RequestPath, String)])
    func `a literal is kept, and characters that a path cannot contain are escaped`(path: RequestPath, string: String) {
        #expect(path.string == string && refusal(path) == nil)
    }

    @Test func `numbers, enumerations and UUIDs are values, and a raw value keeps its slashes and escapes`() {
        let id = UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
        let part = "xab".dropFirst()
        let path: RequestPath = "\(1)/\(2.5)/\(true)/\(Kind.open)/\(id)/\(part)"
        #expect(path.string == "1/2.5/true/o%2Fp/00010203-0405-0607-0809-0A0B0C0D0E0F/ab")
        #expect(("\(Identifier(rawValue: "a/b"))" as RequestPath).string == "a%2Fb")
        #expect(("files/\(raw: "2026/a%20b c")" as RequestPath).string == "files/2026/a%20b%20c")
    }

    @Test(
        arguments: [
            ("users", "ada", "users/ada"), ("users/", "ada", "users/ada"), ("/users", "ada/", "/users/ada/"),
            ("users", "", "users"), ("", "ada", "ada"), ("users", "/ada", "/ada"), ("/", "ada", "/ada"), ("", "", ""),
            ("a b", "%2F/é", "a%20b/%2F/%C3%A9"),
        ] as [(RequestPath, RequestPath, String)])
    func `a path is appended with one slash, and replaces the first if it begins with a slash`(
        first: RequestPath, second: RequestPath, joined: String
    ) { #expect(first.appending(second).string == joined && refusal(first.appending(second)) == nil) }

    @Test func `the route of an appended path is that of both literals`() throws {
        let repos: RequestPath = "users/\("a/b", name: "login")/repos"
        let path = repos.appending("\(7)/files").appending("\(segments: ["x", "y z"])")
        #expect(path.string == "users/a%2Fb/repos/7/files/x/y%20z")
        #expect(path.route == "users/{login}/repos/{}/files/{}")
        var request = HTTPRequest()
        request.path = path
        ServerEnvironment("https://h.test/v1").apply(to: &request)
        #expect(request.path.appending("\("end")").route == "users/{login}/repos/{}/files/{}/{}")
        #expect(request.path.appending("\("end")").string == "/v1/users/a%2Fb/repos/7/files/x/y%20z/end")
        let fromURL = HTTPRequest(url: try #require(URL(string: "https://h.test/a"))).path
        #expect(fromURL.appending("\(1)").route == nil && fromURL.appending("\(1)").string == "/a/1")
        #expect(RequestPath(escaped: "a/1", route: "a/{id}").appending("\(2)/b").route == "a/{id}/{}/b")
    }

    @Test(
        arguments: [
            ("users/\("")", "x"), ("users", "\("..")"), ("users", "x?y=1"), ("users?y=1", "x"), ("users", "//evil"),
            ("users", "https://evil"), ("//evil", "x"),
        ] as [(RequestPath, RequestPath)])
    func `a defect of one path is a defect of both together`(first: RequestPath, second: RequestPath) {
        #expect(refusal(first.appending(second))?.message.contains("the path is refused") == true)
    }
}
