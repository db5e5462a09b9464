// SPDX-License-Identifier: MIT
import TestKit
import Testing

@testable import Letterhead

@Suite struct URLPartsTests {
    @Test(
        arguments: [
            ("https://example.com/a?b#c", "https", "example.com", "/a", "b", "c"),
            ("HTTP://h", "HTTP", "h", "", nil, nil), ("//h:80/x", nil, "h:80", "/x", nil, nil),
            ("a/b:c", nil, nil, "a/b:c", nil, nil), ("?", nil, nil, "", "", nil), ("#", nil, nil, "", nil, ""),
            ("mailto:a@b", "mailto", nil, "a@b", nil, nil), ("1http://h", nil, nil, "1http://h", nil, nil),
            ("http:///x", "http", "", "/x", nil, nil), ("http://h?a#b?c#d", "http", "h", "", "a", "b?c#d"),
        ] as [(String, String?, String?, String, String?, String?)])
    func `a reference is split as in RFC 3986`(
        text: String, scheme: String?, authority: String?, path: String, query: String?, fragment: String?
    ) {
        let parts = URLParts(text)
        #expect(parts.scheme == scheme && parts.authority == authority && parts.path == path)
        #expect(parts.query == query && parts.fragment == fragment)
    }

    @Test(
        arguments: [
            ("http://h", "h", nil), ("http://h:8080", "h", 8080), ("http://h:", "h", nil),
            ("http://[::1]", "[::1]", nil), ("http://[::1]:80", "[::1]", 80), ("http://u:p@h:1", "h", 1),
            ("http://h:x", "h:x", nil), ("http://h:99999999999999999999", "h:99999999999999999999", nil),
            ("http://a@b@c:9", "c", 9), ("http://h:+80", "h:+80", nil), ("http://h:-1", "h:-1", nil),
        ] as [(String, String, Int?)])
    func `the port is the text after the last colon, if it is digits`(text: String, host: String, port: Int?) {
        let parts = URLParts(text)
        #expect(parts.hostAndPort?.host == host && parts.hostAndPort?.port == port)
    }

    @Test(arguments: [
        ("//h", true), ("http://h", true), ("x+y.z-1://", true), ("/a//b", false), ("a://", true), ("http:/x", false),
        ("http:x", false), ("", false), (":", false), ("://h", false), ("é://h", false), ("//\u{301}h", true),
        ("http://\u{301}h", true), ("http:\u{301}//h", false),
    ]) func `a text that begins with a host is recognized`(text: String, namesHost: Bool) {
        #expect(URLParts.namesHost(text) == namesHost)
    }

    /// The expression of RFC 3986, appendix B, with a scheme that is held to its grammar.
    private static func reference(_ text: String) throws -> [String?] {
        let expression = try Regex(
            #"(?:([A-Za-z][A-Za-z0-9+.\-]*):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#([\s\S]*))?"#
        )
        .matchingSemantics(.unicodeScalar)
        let match = try #require(try expression.wholeMatch(in: text))
        return (1...5).map { match[$0].substring.map(String.init) }
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `any text is split as by the regular expression of RFC 3986`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let pieces = [
            "http", "s", ":", "/", "//", "?", "#", "@", "h", ".", "%41", "é", "\u{301}", "[", "]", "\r\n", "\0", " ",
            "1",
        ]
        for _ in 0..<500 {
            let text = generator.text(of: pieces, upTo: 10)
            let parts = URLParts(text)
            let expected = try Self.reference(text)
            let found = [parts.scheme, parts.authority, parts.path, parts.query, parts.fragment]
            #expect(
                found.map { $0.map { Array($0.utf8) } } == expected.map { $0.map { Array($0.utf8) } },
                "\(text.debugDescription)")
        }
    }
}
