// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadObserving
import LetterheadTesting
import TestKit
import Testing

@Suite(.timeLimit(.minutes(3))) struct TimelineTests {
    private func event(
        _ name: HTTPEvent.Name, at time: Int, _ attempt: Int = 1, _ facts: (inout HTTPEvent) -> Void = { _ in }
    ) -> HTTPEvent {
        var event = HTTPEvent(name, attempt: attempt, time: .milliseconds(time), route: "users/{}")
        facts(&event)
        return event
    }

    private var events: [HTTPEvent] {
        [
            event("load.start", at: 0, 0) { $0[.method] = "GET" }, event("attempt.start", at: 0),
            event("exchange.start", at: 0), event("connect.start", at: 0), event("connect.end", at: 10),
            event("request.sent", at: 10),
            event("response.head", at: 30) {
                $0[.status] = 503
                $0[.serverTiming] = "db;dur=53, app"
                $0[.sunset] = "Sat, 31 Dec 2033 23:59:59 GMT"
            },
            event("retry.decided", at: 30) {
                $0[.isRetried] = true
                $0[.wait] = .milliseconds(50)
                $0[.reason] = "exponential"
            },
            event("attempt.start", at: 80, 2), event("exchange.start", at: 80, 2),
            event("response.head", at: 90, 2) { $0[.status] = 200 }, event("body.end", at: 100, 2) { $0[.bytes] = 12 },
            event("load.end", at: 100, 2) { $0[.status] = 200 },
        ]
    }

    @Test func `a load is a waterfall`() {
        #expect(
            HTTPTimeline(events).text(width: 48) == """
                GET users/{} 200 in 100.0 ms
                attempt 1
                  connect   |##                  |    10.0 ms
                  wait      |  ####              |    20.0 ms  503
                  server     db 53.0 ms
                  server     app
                  sunset     Sat, 31 Dec 2033 23:59:59 GMT
                retry       |      ##########    |    50.0 ms  exponential
                attempt 2
                  wait      |                ##  |    10.0 ms  200
                  body      |                  ##|    10.0 ms  12 bytes
                """)
    }

    @Test func `no event, and one event, have a picture`() {
        #expect(HTTPTimeline([]).text() == "(no events) in 0.0 ms" || HTTPTimeline([]).text().hasPrefix("(no events)"))
        #expect(HTTPTimeline([event("load.failed", at: 3) { $0[.errorType] = "timedOut" }]).text().contains("timedOut"))
    }

    @Test func `an observer prints a waterfall or a line for each load`() async throws {
        let transport = AnyLoader { HTTPResponse(request: $0, status: .ok) }
        let texts = SharedValue<[String]>([])
        let write = { @Sendable (text: String) in texts.withLock { $0.append(text) } }
        for (printer, isWaterfall) in [
            (PrintTimeline(write: write) as any HTTPObserver, true), (PrintLoader(.line, write: write), false),
        ] {
            texts.withLock { $0 = [] }
            let client = HTTPClient(environment: .of("https://a.test"), observers: [printer], transport: transport)
            _ = try await client.send(TestEndpoint("users/\(1)"))
            let all = texts.withLock { $0 }
            #expect(all.count == 1 && all[0].hasPrefix("GET users/{} 200 in "))
            #expect(all[0].contains("attempt 1") == isWaterfall)
        }
    }

    @Test func `PrintLoader prints headers and bodies by its level`() async throws {
        let transport = AnyLoader {
            HTTPResponse(request: $0, status: .ok, headers: ["X-Id": "7"], body: HTTPResponseBody(Data("hello".utf8)))
        }
        func text(_ level: PrintLoader.Level) async throws -> String {
            let texts = SharedValue<[String]>([])
            let link = PrintLoader(level) { text in texts.withLock { $0.append(text) } }
            var request = try HTTPRequest(method: .post, "https://a.test/")
            request.headers = ["X-Sent": "1"]
            request.body = JSONBody(["password": "s3cret", "name": "ada"])
            _ = try await (link --> transport).load(request)
            return texts.withLock { $0.joined(separator: "\n") }
        }
        let (line, headers, bodies) = (try await text(.line), try await text(.headers), try await text(.bodies))
        #expect(!line.contains("X-Sent") && line.contains("POST https://a.test/"))
        #expect(headers.contains("X-Sent") && !headers.contains("ada"))
        #expect(bodies.contains("ada") && bodies.contains("hello") && bodies.contains("X-Id: 7"))
        #expect(!bodies.contains("s3cret"))
    }

    @Test func `Server-Timing is parsed`() {
        let headers: HTTPHeaders = [
            "Server-Timing": #"miss, db;dur=53.2;desc="a, \"b\"; c", bad name, x;dur=no, y;dur=-1"#
        ]
        #expect(
            headers.serverTimings.map(\.description) == ["miss", #"db (a, "b"; c) 53.2 ms"#, "x", "y"])
        #expect(HTTPHeaders([.init("Server-Timing", String(repeating: "a,", count: 1_000))]).serverTimings.count == 100)
    }

    @Test func `Deprecation and Sunset are dates`() {
        let headers: HTTPHeaders = ["Deprecation": "@1688169599", "Sunset": "Sun, 06 Nov 1994 08:49:37 GMT"]
        #expect(headers.deprecation == Date(timeIntervalSince1970: 1_688_169_599))
        #expect(headers.sunset == Date(timeIntervalSince1970: 784_111_777))
        #expect((["Deprecation": "true", "Sunset": "soon"] as HTTPHeaders).deprecation == nil)
    }
}
