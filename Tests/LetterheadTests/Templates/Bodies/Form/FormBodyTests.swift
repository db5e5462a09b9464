// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import Testing

@Suite struct FormBodyTests {
    private func text(_ body: FormBody) throws -> String { String(decoding: try body.encode(), as: UTF8.self) }

    @Test func `everything but the characters of the URL Standard is escaped, in the order written`() throws {
        let body = FormBody(["greeting": "Hello, ", "target": "🌎", "a-b": "._~*"])
        #expect(try text(body) == "greeting=Hello%2C%20&target=%F0%9F%8C%8E&a-b=._%7E*")
        #expect(try text(FormBody(["grant_type": "a-b.c"])) == "grant_type=a-b.c")
        #expect(body.additionalHeaders["Content-Type"] == "application/x-www-form-urlencoded; charset=utf-8")
    }

    @Test func `nil in a literal is left out, as in a query and in parameters`() throws {
        let (none, query): (String?, QueryParameters) = (nil, ["a": nil, "b": 1, "c": String?.none, "d": ""])
        let parameters: RequestParameters = ["a": nil, "b": 1, "c": String?.none, "d": ""]
        #expect(query.escaped == "b=1&d=" && "\(parameters)" == "b=1&d=")
        for body in [
            FormBody(["a": nil, "b": "1", "c": none, "d": ""]), FormBody(["a": nil, "b": 1, "c": none, "d": ""]),
        ] { #expect(try text(body) == "b=1&d=") }
        #expect(FormBody(["a": nil]).isEmpty)
    }

    @Test(arguments: [true, false]) func `a boolean is written as in a query and in parameters`(flag: Bool) throws {
        struct Filter: Encodable { var isOpen: Bool }
        let query: QueryParameters = ["isOpen": flag]
        let parameters: RequestParameters = ["isOpen": flag]
        let texts = [
            try text(FormBody(["isOpen": flag])), try text(FormBody(encoding: Filter(isOpen: flag))), query.escaped,
            QueryParameters(encoding: Filter(isOpen: flag)).escaped, "\(parameters)",
            (["isOpen": JSONValue.bool(flag)] as QueryParameters).escaped,
        ]
        #expect(Set(texts) == ["isOpen=\(flag)"])
    }

    @Test func `an item without a value has an empty one, and duplicates stay in order`() throws {
        let items = [
            URLQueryItem(name: "a", value: nil), URLQueryItem(name: "b", value: "1"), .init(name: "a", value: "2"),
        ]
        #expect(try text(FormBody(items)) == "a=&b=1&a=2")
    }

    @Test func `a space can be written as a plus, and a plus is escaped`() throws {
        let plus = FormEncoder(.plus)
        #expect(try text(FormBody([URLQueryItem(name: "a b", value: "+ ")], encoder: plus)) == "a+b=%2B+")
        #expect(try text(FormBody(["a": "Hello, +"], encoder: plus)) == "a=Hello%2C+%2B")
        #expect(try text(FormBody(["n m": 1, "b": true], encoder: plus)) == "n+m=1&b=true")
    }

    @Test func `items of all types are named and written`() throws {
        let maybe: String? = nil
        let body = FormBody(["p4": ["a", "b"], "p5": ["k": false], "n": 1.5, "o": maybe, "u": UInt8(7)])
        #expect(try text(body).removingPercentEncoding == "p4[]=a&p4[]=b&p5[k]=false&n=1.5&u=7")
    }

    @Test func `a dictionary is sorted by name`() throws {
        let texts = ["b": "2", "c": "3", "a": "1"]
        #expect(try text(FormBody(texts)) == "a=1&b=2&c=3")
        let values: [String: any Encodable & Sendable] = ["z": 1, "p": ["b": 2, "a": 1]]
        #expect(try text(FormBody(values)) == "p%5Ba%5D=1&p%5Bb%5D=2&z=1")
    }

    @Test func `a literal keeps its order, although it could be a dictionary`() throws {
        #expect(try text(FormBody(["b": "2", "c": "3", "a": "1", "b": "4"])) == "b=2&c=3&a=1&b=4")
        #expect(try text(FormBody(["b": 2, "a": true, "b": "4"])) == "b=2&a=true&b=4")
        #expect(try text(FormBody(["b": 2, "a": 1, "b": 4], encoder: .init(.plus))) == "b=2&a=1&b=4")
        #expect(try text(FormBody(["b": 2, "a": String?.none, "b": "4"])) == "b=2&b=4")
    }

    @Test func `only a form without items is empty`() throws {
        #expect(FormBody([:]).isEmpty && FormBody([URLQueryItem]()).isEmpty)
        #expect(FormBody(encoding: [String: Int]()).isEmpty && !FormBody(encoding: 1).isEmpty)
        #expect(!FormBody(["": ""]).isEmpty)
        #expect(try text(FormBody(["": ""])) == "=")
    }

    @Test(arguments: [FormEncoder(), FormEncoder(.plus)])
    func `the length is known and exact`(encoder: FormEncoder) throws {
        for body in [
            FormBody(["a b": "é + *", "": "", "c": "\0\u{FF}"], encoder: encoder),
            FormBody(["a b": 1, "d": ["é", "+"]], encoder: encoder),
        ] { #expect(body.contentLength == (try body.encode().count)) }
        #expect(FormBody(encoding: 1, encoder: encoder).contentLength == nil)
    }

    @Test func `the bytes are those of the values when the form was created`() throws {
        final class Counter: Encodable {
            var count = 0
            func encode(to encoder: any Encoder) throws { try count.encode(to: encoder) }
        }
        let counter = Counter()
        let body = FormBody(["count": counter])
        counter.count = 1
        #expect(try text(body) == "count=0" && text(FormBody(["count": counter])) == "count=1")
    }
}
