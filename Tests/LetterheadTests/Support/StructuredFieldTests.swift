import Foundation
import Letterhead
import Testing

@Suite struct StructuredFieldTests {
    @Test(arguments: [
        ("a, b;x=1;x=2", "a, b;x=2"), ("1.50,-3 ,\t\"a\\\"b\\\\\"", "1.5, -3, \"a\\\"b\\\\\""),
        (":aGk=:, ?0, @1659578233", ":aGk=:, ?0, @1659578233"), ("%\"f%c3%bc\"", "%\"f%c3%bc\""),
        ("( a  b );q=1.0, ()", "(a b);q=1.0, ()"), ("*a/b:c;*k", "*a/b:c;*k"), ("", ""),
        ("ExampleCache; hit; ttl=376", "ExampleCache;hit;ttl=376"), ("999999999999999", "999999999999999"),
    ])
    func `a list is parsed and written in its canonical form`(text: String, canonical: String) throws {
        let list = try #require(StructuredField.list([text]))
        #expect(StructuredField.text(of: list) == canonical)
    }

    @Test(arguments: [
        "a,", ",a", "a b", "(a", "(a,b)", "\"a", "\"\\a\"", "\"é\"", "1234567890123456", "1.", "1.2345", "-", "?2",
        ":a", "@1.5", "%\"%C3\"", "%\"%c3\"", "a;=1", "a;A=1", "=", "\u{0}", "1234567890123.1",
    ])
    func `a malformed list is refused as a whole`(text: String) {
        #expect(StructuredField.list([text]) == nil)
    }

    @Test func `the lines of a dictionary are joined, and the last value of a key counts`() throws {
        let dictionary = try #require(StructuredField.dictionary(["a=1, b;x, c=(1 2)", "a=?0, a"]))
        #expect(dictionary.map(\.key) == ["a", "b", "c"])
        #expect(StructuredField.text(of: dictionary) == "a, b;x, c=(1 2)")
        #expect(StructuredField.dictionary(["A=1"]) == nil)
    }

    @Test func `values that the grammar cannot express are not written`() {
        #expect(StructuredField.text(of: StructuredField.Item(.string("\n"))) == nil)
        #expect(StructuredField.text(of: StructuredField.Item(.token("1a"))) == nil)
        #expect(StructuredField.text(of: StructuredField.Item(.integer(1_000_000_000_000_000))) == nil)
        #expect(StructuredField.text(of: StructuredField.Item(.boolean(true), [.init("A", .integer(1))])) == nil)
        #expect(StructuredField.text(of: StructuredField.Item(.decimal(thousandths: -250))) == "-0.25")
    }

    @Test func `a field of more than 64 KiB is refused`() {
        #expect(StructuredField.list([String(repeating: "a", count: 1 << 16)]) != nil)
        #expect(StructuredField.list([String(repeating: "a", count: (1 << 16) + 1)]) == nil)
    }
}
