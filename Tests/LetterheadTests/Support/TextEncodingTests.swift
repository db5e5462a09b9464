// SPDX-License-Identifier: MIT
import Foundation
import Testing

@testable import Letterhead

@Suite struct TextEncodingTests {
    @Test(
        arguments: [
            ("UTF-8", .utf8), ("utf8", .utf8), ("ISO-8859-1", .isoLatin1), ("Windows-1252", .windowsCP1252),
            ("us-ascii", .ascii), ("Shift_JIS", .shiftJIS), ("utf-16le", .utf16LittleEndian), ("klingon", nil),
            ("", nil),
        ] as [(String, String.Encoding?)])
    func `the name of a charset is matched in any case`(name: String, encoding: String.Encoding?) {
        #expect(TextEncoding.encoding(of: name) == encoding)
    }

    @Test func `a charset that the platform cannot decode is unknown`() {
        let encoding = TextEncoding.encoding(of: "EUC-JP")
        #expect((encoding == nil) == (String(data: Data("a".utf8), encoding: .japaneseEUC) == nil))
    }
}
