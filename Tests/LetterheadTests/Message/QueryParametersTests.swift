// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import TestKit
import Testing

@Suite struct QueryParametersTests {
    private enum Order: String, QueryValue { case ascending = "asc" }

    private struct Span: QueryValue {
        var low, high: Int
        func append(to query: inout QueryParameters, name: String) { query.append(name, "\(low)..\(high)") }
    }

    @Test func `a list is one item, and a comma of an element is escaped`() throws {
        let query: QueryParameters = [
            "ids": QueryParameters.list([1, 2]), "a b": QueryParameters.list(["x,y", "é"]),
            "none": QueryParameters.list([String]()), "order": QueryParameters.list([["a", "b"], ["c"]]),
        ]
        #expect(query.escaped == "ids=1,2&a%20b=x%2Cy,%C3%A9&order=a,b,c")
        #expect(query["ids"] == "1,2" && query.values(for: "none").isEmpty)
        var request = try HTTPRequest.to("https://a.test")
        request.query = ["dates": QueryParameters.list([Date(timeIntervalSince1970: 1e15)])]
        #expect(throws: HTTPError.self) { try request.validate() }
    }

    @Test func `an empty query has no items, and a URL that ends with a question mark keeps it`() throws {
        #expect(QueryParameters(escaped: "").isEmpty && QueryParameters(escaped: "&").count == 2)
        #expect(try HTTPRequest.to("https://a.test/?").url().absoluteString == "https://a.test/?")
    }

    @Test(arguments: ["a%2Fb,c", "a+b", "a=b:c@d/e?f", "", "%C3%A9", "(1;2)"])
    func `a raw value is written unchanged, and its name is escaped`(value: String) throws {
        let query: QueryParameters = ["a b": QueryParameters.raw(value), "c": "%"]
        #expect(query.escaped == "a%20b=\(value)&c=%25" && QueryParameters(escaped: query.escaped) == query)
        let request = try HTTPRequest.to("https://a.test").with { $0.query = query }
        try request.validate()
    }

    @Test(arguments: ["a&b", "a#b", "a b", "é", "%", "%2", "%zz", "a\r\nb", "\"", "[", "{", "|", "\\"])
    func `a raw value that must be escaped is refused with its name`(value: String) throws {
        var request = try HTTPRequest.to("https://a.test")
        request.query = ["x": 1, "filter": QueryParameters.raw(value)]
        let error = #expect(throws: HTTPError.self) { try request.validate() }
        #expect(error?.code == .invalidRequest)
        #expect(
            error?.message
                == "the query item filter cannot be written: the raw value contains a character that must be escaped")
    }

    @Test(
        arguments: [
            ([:], ""), (["a": 1, "b": 2, "a": 3], "a=1&b=2&a=3"), (["a": nil], ""), (["a": ""], "a="),
            (["a": QueryParameters.flag], "a"), (["tag": ["a", "b"]], "tag=a&tag=b"), (["tag": [String]()], ""),
            (["tag": ["a", nil, "b"] as [String?]], "tag=a&tag=b"), (["t": true, "f": false], "t=true&f=false"),
            (["d": 0.1, "f": Float(1.5), "n": -3, "u": UInt64.max], "d=0.1&f=1.5&n=-3&u=18446744073709551615"),
            (["date": Date(timeIntervalSince1970: 0)], "date=1970-01-01T00%3A00%3A00Z"),
            (["order": Order.ascending], "order=asc"), (["span": Span(low: 1, high: 2)], "span=1..2"),
            (["sub": "xay".dropFirst()], "sub=ay"),
            (
                ["id": UUID(uuid: (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))],
                "id=00010203-0405-0607-0809-0A0B0C0D0E0F"
            ),
            (["é &=": "1+2 é&=/?#"], "%C3%A9%20%26%3D=1%2B2%20%C3%A9%26%3D%2F%3F%23"), (["a": "%41"], "a=%2541"),
            (["[]": "~-._"], "%5B%5D=~-._"), (["": ""], "="),
            // A nil optional is omitted, a list of JSON values is written element by element, and raw values unchanged.
            (["no": String?.none, "yes": String?.some("1"), "number": Int?.some(2)], "yes=1&number=2"),
            (["tag": ["a", 1, true, 0.5] as JSONValue, "none": JSONValue?.none], "tag=a&tag=1&tag=true&tag=0.5"),
            (
                ["ids": QueryParameters.list([QueryParameters.raw("a%2Fb"), QueryParameters.raw("c:d")])],
                "ids=a%2Fb,c:d"
            ),
        ] as [(QueryParameters, String)])
    func `a literal keeps its order, and each value is escaped once`(query: QueryParameters, escaped: String) {
        #expect(query.escaped == escaped)
    }

    @Test(
        arguments: [
            (["filter": ["a": 1] as JSONValue], "JSON object"), (["filter": JSONValue.null], "JSON null"),
            (["filter": ["a", nil] as JSONValue], "JSON null"), (["filter": [["a": 1]] as JSONValue], "JSON object"),
            (["filter": Date(timeIntervalSince1970: 1e15)], "years 0 to 9999"),
        ] as [(QueryParameters, String)])
    func `a value that a query cannot represent is refused, and the error names the item`(
        query: QueryParameters, rule: String
    ) throws {
        let request = HTTPRequest(url: try #require(URL(string: "https://h.example"))).with { $0.query = query }
        let error = #expect(throws: HTTPError.self) { try request.validate() }
        #expect(error?.code == .invalidRequest)
        #expect(error?.message.hasPrefix("the query item filter cannot be written: ") == true)
        #expect(error?.message.contains(rule) == true)
    }

    @Test(arguments: [
        "", "a=1&a=2&b", "a=&b", "a", "=", "a==b", "&", "&&a=1&", "a%20b=c+d", "a=%2f&b=%2F", "x=1;y=2",
        "q=é".addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "",
    ]) func `the query of a URL keeps its bytes`(text: String) {
        #expect(QueryParameters(escaped: text).escaped == text)
    }

    @Test func `the query of a URL is read unescaped`() {
        let query = QueryParameters(escaped: "a%20b=c%26d&flag&e=&p=1+2")
        #expect(query.map(\.name) == ["a b", "flag", "e", "p"])
        #expect(query.map(\.value) == ["c&d", nil, "", "1+2"])
    }

    @Test func `a combining mark hides no separator`() {
        let query = QueryParameters(escaped: "a=\u{301}b&\u{301}c=1")
        #expect(query.map { Array($0.name.unicodeScalars) } == [["a"], ["\u{301}", "c"]])
        #expect(query.map { $0.value.map { Array($0.unicodeScalars) } } == [["\u{301}", "b"], ["1"]])
    }

    @Test func `queries with the same escaped form are equal`() {
        #expect(QueryParameters(escaped: "a=1&b=x%20y&flag") == ["a": 1, "b": "x y", "flag": QueryParameters.flag])
        #expect(QueryParameters(escaped: "a=1+2") != ["a": "1+2"])
        #expect(Set([QueryParameters(escaped: "a=1"), ["a": 1]]).count == 1)
    }

    @Test func `a name reads as its first value, and setting replaces all of its values and no other byte`() {
        var query: QueryParameters = ["a": 1, "x": 1, "b": 1, "x": 2]
        #expect(query["x"] == "1")
        query["x"] = "new"
        #expect(query.escaped == "a=1&x=new&b=1")
        query["x"] = nil
        #expect(query.escaped == "a=1&b=1")
        query["c"] = ""
        #expect(query.escaped == "a=1&b=1&c=")
        query = QueryParameters(escaped: "a=%2f&b=+")
        query["b"] = "+"
        #expect(query.escaped == "a=%2f&b=%2B")
        query.set("b", to: ["b", "c"])
        #expect(query.escaped == "a=%2f&b=b&b=c")
        query.set("b", to: nil)
        #expect(query.escaped == "a=%2f")
    }

    @Test func `all values of a name are read in order`() {
        let query: QueryParameters = ["a": 1, "b": 0, "a": QueryParameters.flag, "a": ""]
        #expect(query.values(for: "a") == ["1", nil, ""])
        #expect(query.contains("b") && !query.contains("B"))
    }

    @Test func `filling adds the names that are missing, and replacing exchanges all values of each name`() {
        var query: QueryParameters = ["k": 9]
        query.fill(from: ["k": 1, "j": 2, "j": 3])
        #expect(query.escaped == "k=9&j=2&j=3")
        query = ["a": 1, "x": 1, "x": 2]
        query.replace(with: ["x": 3, "y": 4])
        #expect(query.escaped == "a=1&x=3&y=4")
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `any escaped query keeps its bytes, and its items read back the same`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let pieces = [
            "a", "=", "&", "%", "%4", "%41", "%zz", "+", " ", "é", "\u{301}", "%C3%A9", "%FF", ";", "/", "?", "\r\n",
            "\0",
        ]
        for _ in 0..<500 {
            let text = generator.text(of: pieces, upTo: 10)
            let query = QueryParameters(escaped: text)
            #expect(Array(query.escaped.utf8) == Array(text.utf8), "\(text.debugDescription)")
            let rebuilt = QueryParameters(query.map { QueryParameters.Item($0.name, $0.value) })
            let again = QueryParameters(escaped: rebuilt.escaped)
            #expect(again.map(\.name) == query.map(\.name), "\(text.debugDescription)")
            #expect(again.map(\.value) == query.map(\.value), "\(text.debugDescription)")
        }
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func `any name and value are parsed back unchanged`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let scalars = (0..<6).map { _ in Unicode.Scalar(UInt32.random(in: 0...0x24F, using: &generator)) ?? "x" }
            let text = String(String.UnicodeScalarView(scalars))
            let wire = QueryParameters([.init(text, text)]).escaped
            #expect(wire.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x2B })
            let read = QueryParameters(escaped: wire)
            #expect(read.map { Array($0.name.utf8) } == [Array(text.utf8)])
            #expect(read.map { $0.value.map { Array($0.utf8) } } == [Array(text.utf8)])
        }
    }

    @Test(arguments: [TimeInterval.nan, .infinity, 1e300, 253_402_300_800])
    func `a request with a date that cannot be written is refused`(seconds: TimeInterval) throws {
        var request = HTTPRequest(url: try #require(URL(string: "https://h/")))
        request.query = ["since": Date(timeIntervalSince1970: seconds)]
        let error = #expect(throws: HTTPError.self) { try request.validate() }
        #expect(error?.message.contains("date") == true)
        request.query = ["since": Date.distantPast, "until": Date(timeIntervalSince1970: 253_402_300_799)]
        #expect(throws: Never.self) { try request.validate() }
        #expect(request.query["until"] == "9999-12-31T23:59:59Z")
    }

    @Test func `the time to join queries grows with their size`() {
        func query(_ count: Int, _ prefix: String) -> QueryParameters {
            QueryParameters((0..<count).map { QueryParameters.Item("\(prefix)\($0)", "1") })
        }
        let ratio = growth(of: 500) { count in
            var filled = query(count, "a")
            filled.fill(from: query(count, "b"))
            var replaced = query(count, "a")
            replaced.replace(with: query(count, "b"))
            #expect(filled.count == 2 * count && replaced == filled)
        }
        #expect(ratio < 8)
    }

    @Test func `the time to set values grows with their number, and a name is still replaced`() {
        let ratio = growth(of: 1_000) { count in
            var query = QueryParameters()
            for number in 0..<count { query["\(number)"] = "1" }
            query["0"] = nil
            query.append("0", "a")
            query.append("0", "b")
            query["0"] = "2"
            #expect(query.count == count && query.last?.value == "2")
        }
        #expect(ratio < 8)
    }

    @Test func `the items of URLComponents keep their order, and are escaped once`() throws {
        let components = try #require(URLComponents(string: "https://h.test?a=1%202&flag&a=%26&e="))
        let query = QueryParameters(try #require(components.queryItems))
        #expect(query.escaped == "a=1%202&flag&a=%26&e=")
        #expect(query.values(for: "a") == ["1 2", "&"])
    }
}
