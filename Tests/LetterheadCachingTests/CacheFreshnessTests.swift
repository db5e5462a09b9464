// SPDX-License-Identifier: MIT
import Foundation
import Testing

@testable import Letterhead
@testable import LetterheadCaching

@Suite struct CacheFreshnessTests {
    /// 1994-11-06 08:49:37.
    private static let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    private static let time: Int64 = 784_111_777

    private func freshness(
        _ headers: HTTPHeaders, status: Int = 200, delay: Int64 = 0, after: Int64 = 10
    ) -> CacheFreshness {
        let head = CachedHead(status: status, headers: headers, requestTime: Self.time - delay, responseTime: Self.time)
        return CacheFreshness(head, now: Self.time + after)
    }

    @Test func `the age counts from the date, the field Age and the duration of the exchange`() {
        #expect(freshness(["Date": Self.date]).age == 10)
        #expect(freshness(["Date": Self.date, "Age": "30"]).age == 40)
        #expect(freshness(["Date": Self.date, "Age": "30"], delay: 5).age == 45)
        #expect(freshness(["Date": "Sun, 06 Nov 1994 08:48:37 GMT", "Age": "30"]).age == 70)
        #expect(freshness(["Date": "Sun, 06 Nov 1994 09:48:37 GMT"]).age == 10)
        #expect(freshness(["Date": "garbage"]).age == 10)
        #expect(freshness([:]).age == 10)
    }

    @Test(arguments: [
        ("30", 40), ("30, 0", 40), ("0, 30", 10), ("abc", 10), ("-5", 10), ("7.0", 10), ("", 10),
        ("99999999999999999999", (1 << 31) + 10),
    ])
    func `the first valid number of Age counts`(age: String, expected: Int64) {
        #expect(freshness(["Age": age]).age == expected)
    }

    @Test func `the first and the last time of a record can be calculated with`() {
        let times = [CachedHead.times.lowerBound, 0, CachedHead.times.upperBound]
        let dates = [
            "Sun, 06 Nov 0001 08:49:37 GMT", "Sun, 06 Nov 9999 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
        ]
        for request in times {
            for response in times {
                for date in dates {
                    let head = CachedHead(
                        status: 200,
                        headers: ["Age": "99999999999", "Date": date, "Expires": dates[1], "Last-Modified": date],
                        requestTime: request, responseTime: response)
                    for now in times { #expect(CacheFreshness(head, now: now).age >= 0) }
                }
            }
        }
        for time in [Double.infinity, -.infinity, .nan, 1e300] {
            let cache = ResponseCache(store: .memory(bytes: 1000), now: { Date(timeIntervalSince1970: time) })
            #expect(CachedHead.times.contains(cache.seconds))
        }
    }

    @Test func `max-age takes precedence over Expires, and a malformed Expires is in the past`() {
        let later = "Sun, 06 Nov 1994 09:49:37 GMT"
        #expect(freshness(["Date": Self.date, "Expires": later]).lifetime == 3600)
        #expect(freshness(["Date": Self.date, "Expires": later, "Cache-Control": "max-age=5"]).lifetime == 5)
        #expect(freshness(["Date": Self.date, "Expires": later, "Cache-Control": "s-maxage=5"]).lifetime == 3600)
        for expires in ["0", "-1", "Sun, 06 Nov 1994", "", Self.date] {
            #expect(
                !freshness(["Date": Self.date, "Expires": expires, "Last-Modified": "Sun, 06 Nov 1980 08:49:37 GMT"])
                    .isFresh)
        }
    }

    @Test(arguments: [
        ("Sun, 06 Nov 1994 09:49:37 GMT", true), ("Sunday, 06-Nov-94 09:49:37 GMT", true),
        ("Sun Nov  6 09:49:37 1994", true), ("SUN, 06 nov 1994 09:49:37 gmt", true),
        ("Sun, 06 Nov 1994 09:49:37 UTC", false), ("Sun,  06 Nov 1994 09:49:37 GMT", false),
        ("Sun 06 Nov 1994 09:49:37 GMT", false), ("Sun, 06-Nov-1994 09:49:37 GMT", false),
        ("Sun, 06 Nov 94 09:49:37 GMT", false), ("Sun, 06 Nov 1994 9:49:37 GMT", false),
    ])
    func `every form of a date is read, and nothing else`(text: String, isDate: Bool) {
        #expect((CacheFreshness.date(text, now: Self.time) == Self.time + 3600) == isDate)
    }

    @Test func `without explicit freshness, a tenth of the time since the last change counts, at most a day`() {
        let day = freshness(["Date": Self.date, "Last-Modified": "Sat, 05 Nov 1994 08:49:37 GMT"])
        #expect(day.lifetime == 8640 && day.isHeuristic)
        #expect(freshness(["Date": Self.date, "Last-Modified": "Sun, 06 Nov 1904 08:49:37 GMT"]).lifetime == 86_400)
        #expect(
            freshness(["Date": Self.date, "Last-Modified": "Sat, 05 Nov 1994 08:49:37 GMT"], status: 302).lifetime == 0)
        #expect(freshness(["Date": Self.date, "Last-Modified": "Mon, 07 Nov 1994 08:49:37 GMT"]).lifetime == 0)
    }

    @Test func `a clock that jumps back or far ahead makes a response stale`() {
        let headers: HTTPHeaders = ["Date": Self.date, "Cache-Control": "max-age=100"]
        #expect(freshness(headers, after: 99).isFresh && !freshness(headers, after: 100).isFresh)
        #expect(!freshness(headers, after: -1).isFresh)
        #expect(!freshness(headers, after: -100_000_000).isFresh)
        #expect(!freshness(headers, after: 100_000_000_000).isFresh)
        #expect(freshness(headers, after: 0).isFresh)
    }
}
