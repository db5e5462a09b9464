// SPDX-License-Identifier: MIT
import Testing

@testable import Letterhead

@Suite struct PercentEncodingTests {
    @Test(arguments: [
        ("plain-._~09AZ", "plain-._~09AZ"), ("1+2 é&=", "1%2B2%20%C3%A9%26%3D"), ("", ""), ("a/b ?", "a%2Fb%20%3F"),
        ("100%", "100%25"), ("🌎", "%F0%9F%8C%8E"), ("\r\n\0", "%0D%0A%00"),
    ]) func `all characters of a value but the unreserved ones are escaped once`(text: String, escaped: String) {
        #expect(PercentEncoding.escape(text, .unreserved) == escaped && PercentEncoding.unescape(escaped) == text)
    }

    @Test(arguments: UInt8.min...127)
    func `each byte is escaped the same alone, at the beginning and at the end`(byte: UInt8) {
        let isKept = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~".utf8.contains(byte)
        let hex = String(byte, radix: 16, uppercase: true)
        let escaped = isKept ? Array([byte]) : Array("%\(hex.count < 2 ? "0" : "")\(hex)".utf8)
        for (head, tail) in [(0, 0), (0, 5), (5, 0), (1, 1), (2, 2)] {
            let (front, back) = (Array(repeating: UInt8(ascii: "a"), count: head), Array("bcdef".utf8.prefix(tail)))
            let text = String(decoding: front + [byte] + back, as: UTF8.self)
            #expect(Array(PercentEncoding.escape(text, .unreserved).utf8) == front + escaped + back)
        }
    }

    @Test(arguments: [
        ("a%2Fb", "a%2Fb"), ("a%zz", "a%25zz"), ("50%", "50%25"), ("a b", "a%20b"), ("é", "%C3%A9"), ("a%", "a%25"),
    ]) func `an escape in a literal is kept, and a single percent sign is escaped`(text: String, escaped: String) {
        #expect(PercentEncoding.escapeLiteral(text, .pathLiteral) == escaped)
    }

    @Test(arguments: [
        ("a:b%7e", "a%3Ab~"), ("a%3ab~", "a%3Ab~"), ("%c3%A9é", "%C3%A9%C3%A9"), ("%ff%FE", "%FF%FE"),
        ("5%", "5%25"), ("5%25", "5%25"), ("", ""),
    ]) func `texts that differ only in their escapes have one normal form`(text: String, normal: String) {
        #expect(PercentEncoding.normalized(Array(text.utf8)) == normal)
    }
}
