// SPDX-License-Identifier: MIT
import Foundation
import LetterheadTesting
import Testing

@testable import Letterhead
@testable import LetterheadResilience

@Suite struct RateReportTests {
    private func report(_ headers: HTTPHeaders, status: HTTPStatus = .ok) -> RateReport? {
        RateReport(
            HTTPResponse(request: HTTPRequest(), status: status, headers: headers),
            now: { Date(timeIntervalSince1970: 1_800_000_000) })
    }

    @Test(
        arguments: [
            (["RateLimit": #""default";r=5;t=30"#], 5, 30), (["ratelimit": #""a";r=5;t=30, "b";r=1;t=900"#], 1, 900),
            (["RateLimit": #""a";t=30;r=0, "b";r=0;t=900"#], 0, 900),
            (["RateLimit": "limit=10, remaining=3, reset=20"], 3, 20),
            (["RateLimit-Limit": "9", "RateLimit-Remaining": "2", "RateLimit-Reset": "15"], 2, 15),
            (["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1800000060"], 0, 60),
            (["x-rate-limit-remaining": "0", "x-rate-limit-reset": "1800000060000"], 0, 60),
            (["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1700000000"], 0, 0),
            (["X-RateLimit-Remaining": "7.0", "X-RateLimit-Reset": "1.5"], 7, 1.5),
            (["x-ratelimit-remaining-requests": "59", "x-ratelimit-reset-requests": "1s"], 59, 1),
            (["x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1d6m0s"], 0, 86_760),
            (["X-RateLimit-Requests-Remaining": "0", "X-RateLimit-Requests-Reset": "1800000060000"], 0, 60),
            (["X-RateLimit-Remaining": "0", "X-RateLimit-Reset-After": "1.25"], 0, 1.25),
            (["X-Rate-Limit-Remaining": "0", "ratelimit-reset": "41"], 0, 41),
            (["x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "6m0.5s"], 0, 360.5),
            (
                [
                    "x-ratelimit-remaining-requests": "9", "x-ratelimit-reset-requests": "20ms",
                    "x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1h2m3s",
                ], 0, 3723
            ),
            (
                [
                    "anthropic-ratelimit-tokens-remaining": "0",
                    "anthropic-ratelimit-tokens-reset": "2027-01-15T08:00:30Z",
                    "anthropic-ratelimit-requests-remaining": "5",
                    "anthropic-ratelimit-requests-reset": "2027-01-15T08:00:01Z",
                ], 0, 30
            ),
        ] as [(HTTPHeaders, Int, Double)]) func `the remaining requests of a window are read in every form`(
            headers: HTTPHeaders, remaining: Int, seconds: Double
        )
    {
        #expect(report(headers)?.window == RateReport.Window(remaining: remaining, reset: .seconds(seconds)))
    }

    @Test(
        arguments: [
            ["RateLimit": "x"], ["RateLimit": #""a";r=1"#], ["RateLimit": #""a";r=-1;t=5"#],
            ["X-RateLimit-Remaining": "0"], ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "soon"],
            ["RateLimit-Remaining": "nan", "RateLimit-Reset": "1"],
            ["x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1x"],
            ["x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "s"],
            ["x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-requests": "1s"],
            ["x-ratelimit-remaining-other": "0", "x-ratelimit-reset-other": "1s"],
            ["anthropic-ratelimit-tokens-remaining": "0", "anthropic-ratelimit-tokens-reset": "2027-99-15T08:00:30Z"],
            ["Content-Type": "text/plain"], [:], ["RateLimit": ""], ["RateLimit": ";;=,=,r=;t="], ["Retry-After": "5"],
        ] as [HTTPHeaders]) func `malformed and missing values have no effect`(headers: HTTPHeaders)
    {
        #expect(report(headers) == nil)
    }

    @Test(arguments: [403, 429, 503]) func `a Retry-After is a pause for 403, 429, 503 and 529`(status: Int) {
        #expect(report(["Retry-After": "5"], status: HTTPStatus(status))?.hold == .seconds(5))
    }

    @Test func `Retry-After-Ms of an overloaded server is a pause`() {
        #expect(report(["retry-after-ms": "1500"], status: 529)?.hold == .milliseconds(1500))
    }

    @Test func `large numbers do not overflow`() {
        let huge = String(repeating: "9", count: 400)
        #expect(
            report(["X-RateLimit-Remaining": "\(huge)", "X-RateLimit-Reset": "5"])?.window?.remaining == 2_147_483_647)
        #expect(
            report(["X-RateLimit-Remaining": "99999999999999999999", "X-RateLimit-Reset": "5"])?.window?.reset
                == .seconds(5))
    }
}

@Suite struct RateBucketTests {
    @Test func `no window allows more than twice the count, and the bucket refills evenly`() {
        var bucket = RateBucket(count: 10, per: .seconds(1))
        var (now, gone): (Duration, [Duration]) = (.zero, [])
        for _ in 0..<100 {
            now += bucket.wait(at: now)
            bucket.take(at: now)
            gone.append(now)
        }
        #expect(gone.filter { $0 < .seconds(1) }.count == 19)
        #expect(gone[99] == .milliseconds(9_000))
    }

    @Test func `the smallest remainder of a window applies, until a new window begins`() throws {
        var bucket = RateBucket(count: .max, per: .seconds(1))
        func learn(_ remaining: Int, _ reset: Int, at now: Int) {
            var report = RateReport(
                HTTPResponse(request: HTTPRequest(), status: 429, headers: ["Retry-After": "0"]),
                now: { Date(timeIntervalSince1970: 0) })
            report?.window = RateReport.Window(remaining: remaining, reset: .seconds(reset))
            if let report { bucket.learn(report, at: .seconds(now), longestServerDelay: .seconds(3_600)) }
        }
        learn(1, 60, at: 0)
        learn(5, 59, at: 1)
        #expect(bucket.wait(at: .seconds(1)) == .zero && bucket.wait(at: .seconds(1), ahead: 1) == .seconds(59))
        bucket.take(at: .seconds(1))
        #expect(bucket.wait(at: .seconds(1)) == .seconds(59))
        #expect(bucket.wait(at: .seconds(60)) == .zero)
        learn(0, 60, at: 61)
        #expect(bucket.wait(at: .seconds(61)) == .seconds(60))
    }
}

@Suite struct RateStateTests {
    @Test func `queues without a state are removed`() {
        var state = RateState<Int>(RateBucket(count: 1, per: .seconds(1)))
        for index in 0..<10_000 {
            let passes = state.pass("\(index)", at: .seconds(index))
            #expect(passes)
        }
        #expect(state.laneCount <= 128)
    }

    @Test func `no Retry-After in seconds needs the date, however many there are`() {
        let headers = HTTPHeaders((1...5_000).map { HTTPHeaders.Field(.retryAfter, "\($0)") })
        let response = HTTPResponse(request: HTTPRequest(), status: 429, headers: headers)
        var reads = 0
        let report = RateReport(response) {
            reads += 1
            return Date(timeIntervalSince1970: 1_800_000_000)
        }
        #expect(report?.hold == .seconds(5_000) && reads == 0)
    }
}
