// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import Testing

@Suite struct RetryAfterTests {
    /// Sun, 06 Nov 1994 08:49:37 GMT.
    static let now = Date(timeIntervalSince1970: 784_111_777)

    private func delay(_ values: String...) -> Duration? {
        var headers = HTTPHeaders()
        for value in values { headers.append("retry-after", value) }
        return headers.retryAfter(now: Self.now)
    }

    @Test(arguments: [
        ("0", 0), ("2", 2), ("007", 7), (" 120 ", 120), ("21601", 21_601), ("Sun, 06 Nov 1994 08:49:47 GMT", 10),
        ("Sunday, 06-Nov-94 08:50:37 GMT", 60), ("Sun Nov  6 08:49:39 1994", 2),
    ]) func `seconds and all three forms of a date are read`(value: String, seconds: Int) {
        #expect(delay(value) == .seconds(seconds))
    }

    @Test(arguments: [("1500", 1500), ("0", 0), ("0.5", 0), ("2500.9", 2500)] as [(String, Int)])
    func `Retry-After-Ms takes precedence over Retry-After`(value: String, milliseconds: Int) {
        let headers: HTTPHeaders = ["Retry-After": "7", "retry-after-ms": "\(value)"]
        let delay = headers.retryAfter(now: Self.now) ?? .zero
        #expect(delay >= .milliseconds(milliseconds) && delay < .milliseconds(milliseconds + 1))
    }

    @Test(arguments: ["", "-5", "+5", "soon", "nan", "inf", ".5", "0x10", "1e3", "1.2.3"])
    func `malformed milliseconds count as absent`(value: String) {
        let headers: HTTPHeaders = ["Retry-After": "7", "Retry-After-Ms": "\(value)"]
        #expect(headers.retryAfter(now: Self.now) == .seconds(7))
    }

    @Test func `milliseconds have no overflow`() {
        let headers: HTTPHeaders = ["Retry-After-Ms": "\(String(repeating: "9", count: 400))"]
        #expect(headers.retryAfter(now: Self.now).map { $0 > .seconds(1 << 30) } == true)
    }

    @Test(arguments: ["Fri, 31 Dec 1993 23:59:59 GMT", "Sun, 06 Nov 1994 08:49:37 GMT"])
    func `a date in the past is no wait`(value: String) {
        #expect(delay(value) == .zero)
    }

    @Test(arguments: [
        "-1", "+1", "1.0", "1,5", "1e3", "0x10", "²", "١", "soon", "", "12 s", "1 2", "Sun, 06 Nov 1994",
        "1994-11-06T08:49:37Z",
    ]) func `a malformed value counts as absent`(value: String) { #expect(delay(value) == nil) }

    @Test(arguments: ["99999999999999999999", "123456789012345678901234567890", "Fri, 31 Dec 9999 23:59:59 GMT"])
    func `a very long wait does not overflow`(value: String) throws {
        #expect(try #require(delay(value)) > .seconds(200_000_000_000))
    }

    @Test func `of several values the longest applies, and malformed ones are ignored`() {
        #expect(delay("5", "x", "30", "-60") == .seconds(30))
    }

    @Test func `without the header there is no wait`() { #expect(HTTPHeaders().retryAfter() == nil) }

    @Test func `a date far away is exact`() {
        let headers: HTTPHeaders = ["Retry-After": "Fri, 31 Dec 9999 23:59:59 GMT"]
        #expect(headers.retryAfter(now: Date(timeIntervalSince1970: 784_111_777)) == .seconds(252_618_189_022 as Int64))
    }

    @Test func `the wait until a date includes the fraction of the current second`() {
        let headers: HTTPHeaders = ["Retry-After": "Sun, 06 Nov 1994 08:49:47 GMT"]
        #expect(headers.retryAfter(now: Self.now.addingTimeInterval(0.5)) == .seconds(9.5))
    }
}
