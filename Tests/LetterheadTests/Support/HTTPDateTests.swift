// SPDX-License-Identifier: MIT
import Testing

@testable import Letterhead

@Suite struct HTTPDateTests {
    /// 6 November 1994, 08:49:37, the example of RFC 9110, 5.6.7.
    static let example: Int64 = 784_111_777
    static let now: Int64 = 1_795_000_000  // November 2026

    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "Sun Nov 06 08:49:37 1994",
    ]) func `all three forms of a date are read`(text: String) {
        #expect(HTTPDate.seconds(of: text, now: Self.now) == Self.example)
    }

    @Test(arguments: [
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
        ("Thu, 29 Feb 2024 12:00:00 GMT", 1_709_208_000), ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
        ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
    ]) func `days are counted with leap years and leap seconds`(text: String, seconds: Int64) {
        #expect(HTTPDate.seconds(of: text, now: Self.now) == seconds)
    }

    @Test(arguments: [("76", 3_345_062_400), ("77", 220_924_800)])
    func `a year of two digits is at most fifty years ahead`(year: String, seconds: Int64) {
        #expect(HTTPDate.seconds(of: "Friday, 01-Jan-\(year) 00:00:00 GMT", now: Self.now) == seconds)
    }

    @Test(arguments: [
        "", "GMT", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 6 Nov 1994 08:49:37 GMT",
        "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:37 GMT",
        "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 06 Nov 19²4 08:49:37 GMT",
        "Sunday, 06-Nov-1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 29 Feb 2023 08:49:37 GMT",
        "Sun, 06 Nov 99999 08:49:37 GMT", "Sun, -6 Nov 1994 08:49:37 GMT",
    ]) func `an invalid date is refused`(text: String) { #expect(HTTPDate.seconds(of: text, now: Self.now) == nil) }
}
