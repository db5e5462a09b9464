// SPDX-License-Identifier: MIT
import Testing

@testable import Letterhead

@Suite struct EscapeSetTests {
    private static let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

    private func expect(_ set: EscapeSet, keeps kept: String) {
        let kept = Set((Self.letters + kept).utf8)
        for byte in UInt8.min...UInt8.max {
            #expect(set.escapes(byte) != kept.contains(byte), "byte \(byte)")
        }
    }

    @Test func `the unreserved characters of RFC 3986 are not escaped in a value`() {
        expect(.unreserved, keeps: "-._~")
    }

    @Test func `the characters that RFC 3986 allows in a path are not escaped in a literal`() {
        expect(.pathLiteral, keeps: "-._~!$&'()*+,;=:@/")
    }

    @Test func `the form encoding keeps the characters of the URL Standard`() { expect(.form, keeps: "*-._") }

    @Test func `the characters that RFC 3986 allows in a query are not escaped in a literal`() {
        expect(.queryLiteral, keeps: "-._~!$&'()*+,;=:@/?")
    }
}
