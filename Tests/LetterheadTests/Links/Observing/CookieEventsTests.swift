// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadTesting
import TestKit
import Testing

@Suite(.timeLimit(.minutes(3))) struct CookieEventsTests {
    private let log = EventRecorder()

    private func client(_ fields: [String]) -> HTTPClient {
        var headers = HTTPHeaders()
        for field in fields { headers.append(.setCookie, field) }
        return HTTPClient(
            environment: .of("https://a.test"), cookies: CookieJar(), observers: [log],
            transport: AnyLoader { [headers] in HTTPResponse(request: $0, status: .ok, headers: headers) })
    }

    @Test func `each cookie of a response is stored, removed or refused, and no event has its value`() async throws {
        let client = client([
            "id=s3cret1", "old=s3cret2; Max-Age=0", "other=s3cret3; Domain=b.test", "__Host-x=s3cret4",
            "a\u{1}=s3cret5",
        ])
        _ = try await client.send(TestEndpoint("a"))
        let events = log.events.filter { $0.name.hasPrefix("cookie.") }
        #expect(
            events.map(\.name) == [
                "cookie.stored", "cookie.removed", "cookie.refused", "cookie.refused", "cookie.refused",
            ])
        #expect(events.map { $0[.name] } == ["id", "old", "other", "__Host-x", ""])
        #expect(events[0][.reason] == nil && events[2][.reason]?.contains("does not include the host") == true)
        #expect(events[3][.reason]?.contains("__Host-") == true && events[4][.reason]?.contains("malformed") == true)
        #expect(!log.events.map(\.description).joined().contains("s3cret"))
        #expect(ObserverLaws.violations(of: log.events) == [])
    }

    @Test func `the cookies that the jar adds to a request are counted`() async throws {
        let client = client(["a=s3cret1", "b=s3cret2", "c=s3cret3"])
        _ = try await client.send(TestEndpoint("a"))
        #expect(log.first("cookie.sent") == nil)
        _ = try await client.send(TestEndpoint("a").cookie("b", "own"))
        let sent = try #require(log.first("cookie.sent"))
        #expect(sent[.count] == 2)
        let names = log.events.filter { $0.load == sent.load }.map(\.name)
        let (cookie, exchange) = (names.firstIndex(of: "cookie.sent"), names.firstIndex(of: "exchange.start"))
        #expect(try #require(cookie) < #require(exchange))
        #expect(!log.events.map(\.description).joined().contains("s3cret"))
        #expect(ObserverLaws.violations(of: log.events) == [])
    }
}
