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

    @Test func `the unreserved characters of RFC 3986 stay in a value`() { expect(.unreserved, keeps: "-._~") }

    @Test func `what RFC 3986 allows in a path stays in a literal`() {
        expect(.pathLiteral, keeps: "-._~!$&'()*+,;=:@/")
    }

    @Test func `the strictest form encoding keeps letters and digits`() { expect(.alphanumeric, keeps: "") }

    @Test func `everything printable stays in a URL that a server wrote`() {
        expect(.unprintable, keeps: "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
    }

    @Test func `the form serialiser of the URL Standard keeps four more`() { expect(.formSerializer, keeps: "*-._") }
}
