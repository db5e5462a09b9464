// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import Testing

@Suite struct FormEncoderTests {
    struct Item: Encodable, Sendable { var name: String, count: Int }
    enum Level: String, Encodable, Sendable { case high }
    struct Order: Encodable, Sendable {
        var title = "x y"
        var isNew = true
        var items = [Item(name: "a", count: 1), Item(name: "b", count: 2)]
        var tags = ["r", "s"]
        var extra = ["k": false]
        var at = Date(timeIntervalSince1970: 1_500_000_000.25)
        var note: String?
        var level = Level.high
        var link = URL(string: "https://example.com/a?b")
        var total: Decimal = 1.5
        var bytes = Data([1, 2])
    }

    private func decoded(_ value: some Encodable, _ encoder: FormEncoder = FormEncoder()) throws -> String? {
        String(decoding: try FormBody(encoding: value, encoder: encoder).encode(), as: UTF8.self)
            .removingPercentEncoding
    }

    @Test func `properties are written in order, with nested names`() throws {
        #expect(
            try decoded(Order())
                == "title=x y&isNew=true&items[][name]=a&items[][count]=1&items[][name]=b&items[][count]=2"
                + "&tags[]=r&tags[]=s&extra[k]=false&at=2017-07-14T02:40:00Z&level=high"
                + "&link=https://example.com/a?b&total=1.5&bytes=AQI=")
    }

    @Test func `every style can be changed`() throws {
        let encoder = FormEncoder([.snakeCase, .indices, .secondsSince1970])
        #expect(
            try decoded(Order(), encoder) == "title=x y&is_new=true&items[0][name]=a&items[0][count]=1&items[1][name]=b"
                + "&items[1][count]=2&tags[0]=r&tags[1]=s&extra[k]=false&at=1500000000.25&level=high"
                + "&link=https://example.com/a?b&total=1.5&bytes=AQI=")
    }

    @Test func `properties can be nested with dots, and the keys of dictionaries remain in brackets`() throws {
        struct Customer: Encodable { var address = ["city": Item(name: "x", count: 1)], orders = [Order()] }
        let text = try decoded(Customer(), FormEncoder([.dots, .indices]))
        #expect(
            text?.hasPrefix("address[city].name=x&address[city].count=1&orders[0].title=x y&orders[0].isNew") == true)
        #expect(text?.contains("&orders[0].items[1].count=2&orders[0].tags[0]=r") == true)
        #expect(text?.contains("&orders[0].extra[k]=false&") == true)
    }

    @Test func `arrays can be written with a repeated name, and dates in seconds`() throws {
        let encoder = FormEncoder([.repeatedNames, .secondsSince1970])
        #expect(try decoded(["tags": ["r", "s"]], encoder) == "tags=r&tags=s")
        #expect(try decoded(["at": Date(timeIntervalSince1970: 1.5)], encoder) == "at=1.5")
        #expect(try decoded(["at": Date(timeIntervalSince1970: 2)], encoder) == "at=2")
    }

    @Test func `a dictionary of values is sorted, at every depth`() throws {
        let many = Dictionary(uniqueKeysWithValues: (10..<60).map { ("k\($0)", $0) })
        #expect(try decoded(many) == (10..<60).map { "k\($0)=\($0)" }.joined(separator: "&"))
        #expect(try decoded(["d": [2: "b", 1: "a"]]) == "d[1]=a&d[2]=b")
    }

    @Test func `a value and an equal dictionary are encoded to the same pairs`() throws {
        struct Pair: Encodable, Sendable { var p4 = ["a", "b"], p5 = ["k": false] }
        #expect(try decoded(Pair()) == "p4[]=a&p4[]=b&p5[k]=false")
        let values: [String: any Encodable] = ["p4": ["a", "b"], "p5": ["k": false]]
        #expect(try FormBody(values).encode() == FormBody(encoding: Pair()).encode())
    }

    @Test func `nil within a dictionary or an array is omitted`() throws {
        #expect(try decoded(["a": nil, "b": 1] as [String: Int?]) == "b=1")
        #expect(try decoded(["a": [nil, 1]] as [String: [Int?]], FormEncoder([.repeatedNames, .indices])) == "a[1]=1")
    }

    @Test(arguments: [Double.nan, .infinity])
    func `a number that is not finite is an EncodingError that names its path`(number: Double) {
        let error = #expect(throws: EncodingError.self) { try FormBody(encoding: ["a": [number]]).encode() }
        guard case .invalidValue(_, let context) = error else { return }
        #expect(context.codingPath.map(\.stringValue) == ["a", "0"])
    }

    @Test func `a value without names is an EncodingError`() {
        #expect(throws: EncodingError.self) { try FormBody(encoding: ["a", "b"]).encode() }
        #expect(throws: EncodingError.self) { try FormBody(encoding: "a").encode() }
    }

    @Test func `a form encoder can be used with EncodedBody`() throws {
        #expect(try EncodedBody(["a": 1], encoder: FormEncoder(), contentType: .form).encode() == Data("a=1".utf8))
    }

    @Test func `a value is written as its type encodes it`() throws {
        struct Search: Encodable {
            private enum CodingKeys: String, CodingKey { case name = "user.name", fields, since }
            func encode(to encoder: any Encoder) throws {
                var form = encoder.container(keyedBy: CodingKeys.self)
                try form.encode("ada", forKey: .name)
                try form.encode("id,title", forKey: .fields)
                try form.encodeNil(forKey: .since)
                var pairs = form.nestedUnkeyedContainer(forKey: .since)
                try pairs.encode(Int8(-1))
                try pairs.encodeNil()
                var pair = pairs.nestedContainer(keyedBy: CodingKeys.self)
                try pair.encode(Float(0.1), forKey: .name)
                var inner = pairs.nestedUnkeyedContainer()
                try inner.encode(1e300)
            }
        }
        #expect(
            try decoded(Search(), FormEncoder(.indices))
                == "user.name=ada&fields=id,title&since[0]=-1&since[2][user.name]=0.1&since[3][0]=1e+300")
    }

    @Test func `the properties of a class and of its base class are written`() throws {
        #expect(try decoded(Derived()) == "own=2&super[base]=1")
    }

    class Base: Encodable, @unchecked Sendable {  // immutable
        private enum Keys: String, CodingKey { case base }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            try container.encode(1, forKey: .base)
        }
    }

    final class Derived: Base, @unchecked Sendable {  // immutable
        private enum Keys: String, CodingKey { case own }
        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            try container.encode(2, forKey: .own)
            try super.encode(to: container.superEncoder())
        }
    }

    @Test func `nil of every type is omitted`() throws {
        struct Nothing: Encodable {
            var a: Int?, b: Bool?, c: Double?, d: String?, e: UInt8?, f: Date?, g: Float?
        }
        #expect(try FormEncoder().encode(Nothing()).isEmpty)
    }

    @Test(arguments: [TimeInterval.nan, .infinity, -.infinity, 1e300, 253_402_300_800, -62_167_219_201])
    func `a date that cannot be written is an error`(seconds: TimeInterval) {
        struct Event: Encodable { var at: Date }
        let date = Date(timeIntervalSince1970: seconds)
        #expect(throws: EncodingError.self) { try FormEncoder().encode(Event(at: date)) }
    }

    @Test func `a decimal that is not a number is an error`() {
        struct Price: Encodable { var price = Decimal.nan }
        #expect(throws: EncodingError.self) { try FormEncoder().encode(Price()) }
    }

    @Test(arguments: [
        ("isNew", "is_new"), ("myURLProperty", "my_url_property"), ("HTTPServer", "http_server"), ("id", "id"),
        ("version2Beta", "version2_beta"), ("_private", "_private"), ("already_snake", "already_snake"), ("URL", "url"),
        ("", ""),
    ]) func `a property is named in snake case`(name: String, snake: String) throws {
        struct Named: Encodable, Sendable {
            struct Key: CodingKey {
                var stringValue: String
                var intValue: Int? { nil }
                init(stringValue: String) { self.stringValue = stringValue }
                init?(intValue: Int) { nil }
            }
            var name: String
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Key.self)
                try container.encode([1], forKey: Key(stringValue: name))
                try container.encode("v", forKey: Key(stringValue: name))
            }
        }
        #expect(try decoded(Named(name: name), FormEncoder(.snakeCase)) == "\(snake)[]=1&\(snake)=v")
    }

    @Test func `properties are renamed at every depth, and the keys of dictionaries are not`() throws {
        #expect(
            try decoded(["myKey": ["myKey": Order()]], FormEncoder(.snakeCase))?
                .contains("&myKey[myKey][is_new]=true&") == true)
    }
}

/// Any value as a query.
@Suite struct QueryParametersEncodingTests {
    private struct Filter: Encodable, Sendable {
        var text = "a b&=é+"
        var labels = ["x", "y"]
        var isOpen = true
        var none: Int?
        var range = ["low": 1.5]
        var at = Date(timeIntervalSince1970: 0)
    }

    @Test func `a query from a value equals the literal`() {
        let query = QueryParameters(encoding: Filter())
        let literal: QueryParameters = [
            "text": "a b&=é+", "labels": ["x", "y"], "isOpen": true, "none": Int?.none, "range[low]": 1.5,
            "at": Date(timeIntervalSince1970: 0),
        ]
        #expect(query == literal && query.escaped == literal.escaped)
        #expect(QueryParameters(encoding: [String: Int]()).isEmpty)
    }

    @Test func `an encoder names and writes the values, and the query escapes them`() {
        let encoder = FormEncoder([.snakeCase, .plus])
        #expect(
            QueryParameters(encoding: Filter(), encoder: encoder).escaped
                == "text=a%20b%26%3D%C3%A9%2B&labels%5B%5D=x&labels%5B%5D=y&is_open=true&range%5Blow%5D=1.5"
                + "&at=1970-01-01T00%3A00%3A00Z")
    }

    @Test func `a request with a value that cannot be encoded is refused`() throws {
        for query in [QueryParameters(encoding: [1, 2]), QueryParameters(encoding: ["secret": Double.nan])] {
            let request = try HTTPRequest("https://h.example").with { $0.query = query }
            let error = #expect(throws: HTTPError.self) { try request.validate() }
            #expect(error?.code == .invalidRequest && error?.message.contains("cannot be written") == true)
        }
    }
}
