// SPDX-License-Identifier: MIT
import Testing

@testable import Letterhead

@Suite struct ASCIITests {
    @Test(arguments: [
        ("Content-Type", "content-type", true), ("A", "a", true), ("", "", true), ("k", "\u{212A}", false),
        ("É", "é", false), ("a", "ab", false), ("[", "{", false), ("@", "`", false),
    ]) func `only the case of ASCII letters is ignored`(left: String, right: String, areEqual: Bool) {
        #expect(ASCII.equalIgnoringCase(left, right) == areEqual)
    }

    @Test(arguments: [
        ("ABC-é-Z", "abc-é-z"), ("", ""), ("İ", "İ"),
    ]) func `lower case changes ASCII letters only`(text: String, lowercased: String) {
        #expect(ASCII.lowercased(text) == lowercased)
    }

    @Test(arguments: [
        (" \ta b\t ", "a b"), ("", ""), (" \t ", ""), ("a", "a"), ("\u{A0}a", "\u{A0}a"), ("a\n", "a\n"),
        (" \u{301}a ", "\u{301}a"),
    ]) func `spaces and tabs at the ends are trimmed, and nothing else is`(text: String, trimmed: String) {
        #expect(Array(ASCII.trimmed(text).unicodeScalars) == Array(trimmed.unicodeScalars))
    }

    @Test func `a token contains the characters of RFC 9110 and no others`() {
        let allowed = Set("!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
        for byte in UInt8.min...UInt8.max {
            #expect(ASCII.isTokenCharacter(byte) == allowed.contains(byte), "byte \(byte)")
        }
        #expect(!ASCII.isToken(""))
    }
}
