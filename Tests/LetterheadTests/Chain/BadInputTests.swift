// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadResilience
import LetterheadTesting
import Testing

private struct Lost: Error, CustomStringConvertible {
    let description = "the map is lost"
}

/// Each invalid setting is an error that names the setting, and does not end the process.
@Suite(.timeLimit(.minutes(3))) struct BadInputTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let link: any LoaderLink
        let says: String

        init(_ name: String, _ link: any LoaderLink, says: String) {
            (testDescription, self.link, self.says) = (name, link, says)
        }
    }

    static let cases: [Case] = [
        Case("a negative limit", Throttle(limit: -1), says: "limit or queueLimit of the Throttle is negative"),
        Case(
            "negative streams", Throttle(streams: -1), says: "streams, limit or queueLimit of the Throttle is negative"),
        Case("a negative line", Throttle(queueLimit: -1), says: "limit or queueLimit of the Throttle is negative"),
        Case(
            "a key that throws", Throttle(per: .key { _ in throw Lost() }),
            says: "the closure that returns the key of the request threw Lost"),
        Case(
            "a key of a rate that throws", LimitRate(by: .key { _ in throw Lost() }),
            says: "the closure that returns the key of the request threw Lost"),
        Case("a count of zero", LimitRate(0), says: "the count must be at least 1"),
        Case("an empty window", LimitRate(1, per: .zero), says: "the window more than zero"),
        Case("an endless window", LimitRate(1, per: .seconds(Int64.max)), says: "every duration at most one year"),
        Case("a negative line of a rate", LimitRate(queueLimit: -1), says: "limits not negative"),
        Case(
            "a negative hold", LimitRate(backoff: Backoff(longestServerDelay: .seconds(-1))),
            says: "limits not negative"),
        Case(
            "an endless hold", LimitRate(backoff: Backoff(longestServerDelay: .seconds(Int64.max))),
            says: "every duration at most one year"),
        Case("a deadline of zero", Deadline(.zero), says: "the deadline is zero or less"),
        Case("a negative deadline", Deadline(.seconds(Int64.min)), says: "the deadline is zero or less"),
        Case(
            "a negative limit of redirects", FollowRedirects(.safely.limit(-1)), says: "the redirect limit is negative"),
        Case("a redirect without a host", custom { $0.host = nil }, says: "host"),
        Case("a redirect to an empty host", custom { $0.host = "" }, says: "host"),
        Case("a redirect to another scheme", custom { $0.scheme = "ftp" }, says: "scheme"),
    ]

    private static func custom(_ change: @escaping @Sendable (inout HTTPRequest) -> Void) -> FollowRedirects {
        FollowRedirects(
            .custom { proposal, _ in
                var hop = proposal
                change(&hop)
                return hop
            })
    }

    @Test(arguments: cases) func `an invalid setting fails each load, and the error names it`(_ bad: Case)
        async throws
    {
        let mock = MockLoader.redirecting(["https://a.test/1": (302, "/2")])
        for _ in 0..<2 {
            let request = try HTTPRequest.to("https://a.test/1")
            let error = await #expect(throws: HTTPError.self) { try await (bad.link --> mock).load(request) }
            #expect(error?.code == .invalidRequest && error?.message.contains(bad.says) == true)
            #expect(error?.description.contains(bad.says) == true && error?.request.id == request.id)
        }
        #expect(!mock.requests.contains { $0.path == "/2" })
    }

    static let extremes: [Case] = [
        Case("no limit", Throttle(limit: .max, queueLimit: .max), says: ""),
        Case("nobody may wait", Throttle(limit: 1, queueLimit: 0), says: ""),
        Case("almost no limit", LimitRate(.max - 1, per: .seconds(1)), says: ""),
        Case("no limit in a year", LimitRate(.max, per: .seconds(366 * 86_400)), says: ""),
        Case("one in a year", LimitRate(1, per: .seconds(366 * 86_400)), says: ""),
        Case(
            "as short as there is", LimitRate(.max - 1, per: Duration(secondsComponent: 0, attosecondsComponent: 1)),
            says: ""),
        Case("no hold", LimitRate(backoff: Backoff(longestServerDelay: .zero)), says: ""),
        Case("an endless deadline", Deadline(.seconds(Int64.max)), says: ""),
        Case("the most redirects", FollowRedirects(.safely.limit(.max)), says: ""),
    ]

    // One after another, because the cases of one link share what it counts.
    @Test(.serialized, arguments: extremes, [Int.min, 0, .max])
    func `a setting at the end of its range works`(_ extreme: Case, priority: Int) async throws {
        var request = try HTTPRequest.to("https://a.test/1")
        request.throttling = .priority(priority)
        let mock = MockLoader { request in
            HTTPResponse(
                request: request, status: 429,
                headers: [
                    "Retry-After": "99999999999999999999", "X-RateLimit-Remaining": "-1", "X-RateLimit-Reset": "1e400",
                    "RateLimit": "\"d\";r=9223372036854775808;t=1e999",
                ])
        }
        #expect(try await (extreme.link --> mock).load(request).status == 429)
        await extreme.link.reset(next: mock)
    }
}
