// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadObserving
import LetterheadTesting
import TestKit
import Testing

@Suite(.timeLimit(.minutes(3))) struct OpenTelemetryTests {
    @Test func `an exchange has the attributes of a span and of a metric`() async throws {
        let log = EventRecorder()
        let server = try await MockServer.start { _ in .init(status: .notFound) }
        let client = HTTPClient(environment: ServerEnvironment(baseURL: server.url), observers: [log])
        _ = try? await client.send(TestEndpoint("users/\("ada")").with { $0.query = ["token": "s3cret"] })
        await server.stop()
        let end = try #require(log.first("exchange.end"))
        #expect(end.spanName == "GET users/{}")
        let span = end.spanAttributes.mapValues { "\($0)" }
        let url = "http://127.0.0.1:\(server.port)/users/ada?token=<redacted>"
        let expected = [
            "http.request.method": "GET", "server.address": "127.0.0.1", "server.port": "\(server.port)",
            "url.full": url,
            "url.template": "users/{}", "http.response.status_code": "404", "error.type": "404",
            "network.protocol.version": "1.1",
        ]
        #expect(span.merging(["network.protocol.version": "1.1"]) { $1 } == expected)
        #expect(end.metricAttributes["url.full"] == nil && HTTPEvent.durationMetric == "http.client.request.duration")
    }

    @Test func `a method that is not registered has one name in metrics`() {
        var event = HTTPEvent("exchange.end")
        event[.method] = "PURGE"
        event[.resendCount] = 2
        #expect(event.metricAttributes["http.request.method"] as? String == "_OTHER")
        #expect(event.spanAttributes["http.request.method_original"] as? String == "PURGE")
        #expect(event.spanAttributes["http.request.resend_count"] as? Int == 2 && event.spanName == "HTTP")
    }

    @Test(arguments: [("cancelled", nil), ("timedOut", "timedOut")] as [(String, String?)])
    func `an exchange that the caller cancelled has not failed`(type: String, attribute: String?) {
        var event = HTTPEvent("exchange.failed")
        event[.errorType] = type
        #expect(event.spanAttributes["error.type"] as? String == attribute)
        #expect(event.metricAttributes["error.type"] as? String == attribute)
    }

    @Test func `an event shows its facts on one line`() {
        var event = HTTPEvent("custom", load: 3, parent: 1, attempt: 2, time: .microseconds(12_345), route: "a/{}")
        event[.reason] = "two\nlines"
        event[.wait] = .milliseconds(5)
        event[.names] = ["a", "b"]
        #expect(
            event.description
                == #"12.3 ms load 3 of 1 attempt 2 custom a/{} reason=two\u{a}lines wait=5.0 ms names=[a, b]"#)
        event[.wait] = nil
        #expect(event.facts.map(\.name) == ["reason", "names"] && event[.status] == nil)
    }
}

extension OpenTelemetryTests {
    @Test func `a request and a response have attributes for links that create spans`() throws {
        var request = try HTTPRequest(method: .post, "https://a.test/x?token=s3cret")
        #expect(request.spanName == "POST")
        request.path = "users/\(7)"
        #expect(request.spanName == "POST users/{}" && request.spanAttributes["server.port"] as? Int == 443)
        #expect(request.spanAttributes["url.full"] as? String == "https://a.test/users/7?token=<redacted>")
        let response = HTTPResponse(request: request, status: .badRequest)
        #expect(response.spanAttributes["http.response.status_code"] as? Int == 400)
        #expect(response.spanAttributes["error.type"] as? String == "400" && response.spanAttributes.count == 2)
    }
}
