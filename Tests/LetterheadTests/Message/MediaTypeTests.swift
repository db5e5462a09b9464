// SPDX-License-Identifier: MIT
import Letterhead
import TestKit
import Testing

@Suite struct MediaTypeTests {
    @Test(arguments: [
        ("text/html;charset=gbk", "text/html", [["charset", "gbk"]]),
        ("TEXT/HTML;CHARSET=GBK", "text/html", [["charset", "GBK"]]),
        ("text/html;charset=gbk(", "text/html", [["charset", "gbk("]]),
        ("text/html;x=(;charset=gbk", "text/html", [["x", "("], ["charset", "gbk"]]),
        ("text/html;charset=gbk;charset=windows-1255", "text/html", [["charset", "gbk"]]),
        ("text/html;charset=();charset=GBK", "text/html", [["charset", "()"]]),
        ("text/html;charset =gbk", "text/html", []),
        ("text/html ;charset=gbk", "text/html", [["charset", "gbk"]]),
        ("text/html; charset=gbk", "text/html", [["charset", "gbk"]]),
        ("text/html;charset= gbk", "text/html", [["charset", " gbk"]]),
        ("text/html;\u{0B}charset=gbk", "text/html", []),
        ("text/html;charset=\"gbk\"", "text/html", [["charset", "gbk"]]),
        ("text/html;charset=\"gbk", "text/html", [["charset", "gbk"]]),
        ("text/html;charset=gbk\"", "text/html", [["charset", "gbk\""]]),
        ("text/html;charset=\"\\g\\b\\k\"", "text/html", [["charset", "gbk"]]),
        ("text/html;charset=\"gbk\"x", "text/html", [["charset", "gbk"]]),
        ("text/html;charset=\"\";charset=GBK", "text/html", [["charset", ""]]),
        ("text/html;charset=;charset=GBK", "text/html", [["charset", "GBK"]]),
        ("text/html;test;charset=gbk", "text/html", [["charset", "gbk"]]),
        ("text/html;=a;charset=gbk", "text/html", [["charset", "gbk"]]),
        ("text/html;;;;charset=gbk", "text/html", [["charset", "gbk"]]),
        ("text/html;charset=\"\\", "text/html", [["charset", "\\"]]),
        ("\t\r\n text/html \t", "text/html", []),
        ("x/x;test=\"a;b\";bar=c", "x/x", [["test", "a;b"], ["bar", "c"]]),
        ("x/x;test=é", "x/x", [["test", "é"]]),
        ("x/x;test=Ā;a=b", "x/x", [["test", "Ā"], ["a", "b"]]),
        ("x/x;title=\"a\\\"\u{301}…;\";a=b", "x/x", [["title", "a\"\u{301}…;"], ["a", "b"]]),
        ("text/html;charset=gbk;\u{301}x", "text/html", [["charset", "gbk"]]),
        ("!#$%&'*+-.^_`|~0Az/!#$%&'*+-.^_`|~0Az", "!#$%&'*+-.^_`|~0az/!#$%&'*+-.^_`|~0az", []),
    ]) func `a media type is read as the MIME Sniffing standard reads it`(
        text: String, essence: String, parameters: [[String]]
    ) throws {
        let type = try #require(MediaType(text))
        #expect(type.essence == essence)
        #expect(type.parameters.map { [$0.name, $0.value] } == parameters)
    }

    @Test(arguments: [
        ("'iso-8859-1'", "iso-8859-1"), ("\"'gbk'\"", "gbk"), ("'gbk", "'gbk"), ("gbk'", "gbk'"), ("'", "'"),
        ("''", "''"),
    ]) func `single quotes around a charset are dropped`(text: String, charset: String) {
        #expect(MediaType("text/html; charset=\(text)")?["charset"] == charset)
        #expect(MediaType("multipart/mixed; boundary='a'")["boundary"] == "'a'")
    }

    @Test(arguments: ["a\"\u{301}…", "\\\u{316};é", "日本", ""])
    func `a parameter that is set is read back`(value: String) throws {
        let type = MediaType.plainText.setting("title", to: value)
        let read = try #require(MediaType(type.description))
        #expect(read["title"].map { Array($0.utf8) } == Array(value.utf8) && read == type)
    }

    @Test(arguments: [
        "", " ", "/", "bogus", "bogus/", "/bogus", "bogus/bogus/", "bogus/bogus/;", "bo gus/x", "x/(", "ÿ/ÿ", "x/x y",
        "text/html(;doesnot=matter", "*",
    ])
    func `an invalid media type is nil`(text: String) {
        #expect(MediaType(text) == nil)
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `any text is parsed as by the steps of the standard`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let pieces = [
            "text", "/", "plain", ";", "=", "\"", "\\", " ", "\t", "\r\n", "\n", "charset", "x", "é", "\u{301}", "Ā",
            "(", "\0", "; a=", ";A=\"", "text/plain;",
        ]
        for _ in 0..<600 {
            let text = generator.text(of: pieces, upTo: 12)
            let found = MediaType(text)
            let expected = WHATWGMediaType(text)
            #expect(found?.essence == expected?.essence, "\(text.debugDescription)")
            #expect(
                found?.parameters.map { [Array($0.name.utf8), Array($0.value.utf8)] }
                    == expected?.parameters.map { [Array($0.0.utf8), Array($0.1.utf8)] }, "\(text.debugDescription)")
        }
    }

    @Test func `a parameter is found in any case`() {
        let type: MediaType = "text/plain; Charset=UTF-8"
        #expect(type["charset"] == "UTF-8" && type["CHARSET"] == "UTF-8" && type["boundary"] == nil)
    }

    @Test(arguments: [
        ("application/json", true), ("text/json", true), ("application/problem+json; a=b", true),
        ("application/x+JSON", true), ("application/jsonl", false), ("text/plain", false),
        ("application/ld+xml", false),
    ]) func `JSON is recognized by its essence`(text: String, isJSON: Bool) throws {
        #expect(try #require(MediaType(text)).isJSON == isJSON)
    }

    @Test func `a literal keeps its spelling`() {
        let type: MediaType = "Text/PLAIN; charset=\"utf-8\""
        #expect(type.description == "Text/PLAIN; charset=\"utf-8\"" && type.essence == "text/plain")
    }

    @Test func `two with the same meaning are equal`() {
        #expect(MediaType("text/plain;charset=utf-8") == MediaType("TEXT/plain ; Charset=\"utf-8\""))
        #expect(MediaType("text/plain;charset=utf-8") != MediaType("text/plain"))
        #expect(("nonsense" as MediaType) != ("other nonsense" as MediaType))
        #expect(Set([MediaType("a/b"), MediaType("A/B")]).count == 1)
    }

    @Test(.timeLimit(.minutes(3))) func `a type with tens of thousands of parameters is parsed quickly`() {
        let text = "text/plain" + (0..<40_000).map { "; p\($0)=1" }.joined()
        #expect(MediaType(text)?["p39999"] == "1")
    }
}

/// The steps of the MIME Sniffing standard, 4.4, word for word over code points.
private struct WHATWGMediaType {
    var essence = ""
    var parameters: [(String, String)] = []

    init?(_ text: String) {
        let blank: Set<Unicode.Scalar> = ["\t", "\n", "\r", " "]
        var input = Array(text.unicodeScalars)
        while let last = input.last, blank.contains(last) { input.removeLast() }
        while let first = input.first, blank.contains(first) { input.removeFirst() }
        var position = 0
        func collect(while isTaken: (Unicode.Scalar) -> Bool) -> [Unicode.Scalar] {
            let start = position
            while position < input.count, isTaken(input[position]) { position += 1 }
            return Array(input[start..<position])
        }
        func string(_ scalars: [Unicode.Scalar]) -> String {
            var view = String.UnicodeScalarView()
            view.append(contentsOf: scalars)
            return String(view)
        }
        let type = collect { $0 != "/" }
        guard Self.isToken(type), position < input.count else { return nil }
        position += 1
        var subtype = collect { $0 != ";" }
        while let last = subtype.last, blank.contains(last) { subtype.removeLast() }
        guard Self.isToken(subtype) else { return nil }
        essence = Self.lowercased(string(type) + "/" + string(subtype))
        while position < input.count {
            position += 1
            _ = collect { blank.contains($0) }
            let name = collect { $0 != ";" && $0 != "=" }
            if position < input.count {
                if input[position] == ";" { continue }
                position += 1
            }
            if position >= input.count { break }
            var value: [Unicode.Scalar] = []
            if input[position] == "\"" {
                position += 1
                while true {
                    value += collect { $0 != "\"" && $0 != "\\" }
                    guard position < input.count else { break }
                    let mark = input[position]
                    position += 1
                    guard mark == "\\" else { break }
                    guard position < input.count else {
                        value.append("\\")
                        break
                    }
                    value.append(input[position])
                    position += 1
                }
                _ = collect { $0 != ";" }
            } else {
                value = collect { $0 != ";" }
                while let last = value.last, blank.contains(last) { value.removeLast() }
                if value.isEmpty { continue }
            }
            let key = Self.lowercased(string(name))
            let isQuotable = value.allSatisfy { $0 == "\t" || (0x20...0x7E).contains($0.value) || $0.value >= 0x80 }
            if Self.isToken(name), isQuotable, !parameters.contains(where: { $0.0 == key }) {
                parameters.append((key, string(value)))
            }
        }
    }

    private static func isToken(_ scalars: [Unicode.Scalar]) -> Bool {
        !scalars.isEmpty
            && scalars.allSatisfy {
                $0.isASCII && ($0.properties.isAlphabetic || "0123456789!#$%&'*+-.^_`|~".unicodeScalars.contains($0))
            }
    }

    private static func lowercased(_ text: String) -> String {
        var view = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            view.append(("A"..."Z").contains(scalar) ? Unicode.Scalar(UInt8(scalar.value) + 32) : scalar)
        }
        return String(view)
    }
}
