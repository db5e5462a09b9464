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

    private func decoded(_ value: some Encodable & Sendable, _ encoder: FormEncoder = FormEncoder()) throws -> String? {
        String(decoding: try FormBody(encoding: value, encoder: encoder).encode(), as: UTF8.self)
            .removingPercentEncoding
    }

    @Test func `a value is written in the order of its properties, with names within names`() throws {
        #expect(
            try decoded(Order())
                == "title=x y&isNew=1&items[][name]=a&items[][count]=1&items[][name]=b&items[][count]=2"
                + "&tags[]=r&tags[]=s&extra[k]=0&at=2017-07-14T02:40:00Z&level=high"
                + "&link=https://example.com/a?b&total=1.5&bytes=AQI=")
    }

    @Test func `every style can be another`() throws {
        let encoder = FormEncoder(
            arrays: .indexed, nesting: .dots, booleans: .words, dates: .milliseconds, nils: .empty)
        #expect(
            try decoded(Order(), encoder) == "title=x y&isNew=true&items[0].name=a&items[0].count=1&items[1].name=b"
                + "&items[1].count=2&tags[0]=r&tags[1]=s&extra.k=false&at=1500000000250&note=&level=high"
                + "&link=https://example.com/a?b&total=1.5&bytes=AQI=")
    }

    @Test func `arrays can repeat their name, and dates be seconds`() throws {
        let encoder = FormEncoder(arrays: .repeated, dates: .seconds)
        #expect(try decoded(["tags": ["r", "s"]], encoder) == "tags=r&tags=s")
        #expect(try decoded(["at": Date(timeIntervalSince1970: 1.5)], encoder) == "at=1.5")
        #expect(try decoded(["at": Date(timeIntervalSince1970: 2)], encoder) == "at=2")
    }

    @Test func `a dictionary of values is sorted, at every depth`() throws {
        let many = Dictionary(uniqueKeysWithValues: (10..<60).map { ("k\($0)", $0) })
        #expect(try decoded(many) == (10..<60).map { "k\($0)=\($0)" }.joined(separator: "&"))
        #expect(try decoded(["d": [2: "b", 1: "a"]]) == "d[1]=a&d[2]=b")
    }

    @Test func `a value and its dictionary make the same pairs`() throws {
        struct Pair: Encodable, Sendable { var p4 = ["a", "b"], p5 = ["k": false] }
        #expect(try decoded(Pair()) == "p4[]=a&p4[]=b&p5[k]=0")
        let body = FormBody(dictionary: ["p4": ["a", "b"], "p5": ["k": false]])
        #expect(try body.encode() == FormBody(encoding: Pair()).encode())
    }

    @Test func `nil within a dictionary or an array is left out, or empty`() throws {
        #expect(try decoded(["a": nil, "b": 1] as [String: Int?]) == "b=1")
        #expect(try decoded(["a": nil, "b": 1] as [String: Int?], FormEncoder(nils: .empty)) == "a=&b=1")
    }

    @Test(arguments: [Double.nan, .infinity])
    func `a number that is not finite is an EncodingError that names its path`(
        number: Double
    ) {
        let error = #expect(throws: EncodingError.self) { try FormBody(encoding: ["a": [number]]).encode() }
        guard case .invalidValue(_, let context) = error else { return }
        #expect(context.codingPath.map(\.stringValue) == ["a", "0"])
    }

    @Test func `a value without names is an EncodingError`() {
        #expect(throws: EncodingError.self) { try FormBody(encoding: ["a", "b"]).encode() }
        #expect(throws: EncodingError.self) { try FormBody(encoding: "a").encode() }
    }

    @Test func `a form can be made by any door for encoders`() throws {
        let body = EncodedBody(["a": 1], encoder: FormEncoder(), contentType: .form)
        #expect(try body.encode() == Data("a=1".utf8))
    }

    @Test func `a class and its base class both stand in the form`() throws {
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

    @Test func `nil of every kind is written as empty when asked for`() throws {
        struct Nothing: Encodable {
            var a: Int?, b: Bool?, c: Double?, d: String?, e: UInt8?, f: Date?, g: Float?
        }
        struct All: Encodable { var n = Nothing() }
        var encoder = FormEncoder()
        #expect(try encoder.encode(Nothing()).isEmpty)
        encoder.nils = .empty
        // Swift leaves nil out of what it derives, unless the container says otherwise.
        #expect(String(decoding: try encoder.encode(Nothing()), as: UTF8.self) == "a=&b=&c=&d=&e=&f=&g=")
    }

    @Test(arguments: [TimeInterval.nan, .infinity, -.infinity, 1e300, 253_402_300_800, -62_167_219_201])
    func `a date that cannot be written is an error`(seconds: TimeInterval) {
        struct Event: Encodable { var at: Date }
        let date = Date(timeIntervalSince1970: seconds)
        #expect(throws: EncodingError.self) { try FormEncoder().encode(Event(at: date)) }
    }

    @Test func `a decimal that is no number is an error`() {
        struct Price: Encodable { var price = Decimal.nan }
        #expect(throws: EncodingError.self) { try FormEncoder().encode(Price()) }
    }
}
