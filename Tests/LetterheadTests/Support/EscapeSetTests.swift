// SPDX-License-Identifier: MIT
import Testing

@testable import Letterhead

@Suite struct EscapeSetTests {
    private static let letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

    @Test(
        arguments: [
            ("a value", .unreserved, "-._~"), ("a literal of a path", .pathLiteral, "-._~!$&'()*+,;=:@/"),
            ("a literal of a query", .queryLiteral, "-._~!$&'()*+,;=:@/?"), ("a form", .form, "*-._"),
        ] as [(String, EscapeSet, String)])
    func `the characters that RFC 3986 and, for forms, the URL Standard allow are kept`(
        place: String, set: EscapeSet, kept: String
    ) {
        let kept = Set((Self.letters + kept).utf8)
        for byte in UInt8.min...UInt8.max {
            #expect(set.escapes(byte) != kept.contains(byte), "byte \(byte)")
        }
    }
}
