// SPDX-License-Identifier: MIT
import Foundation
import Letterhead
import LetterheadMetrics
import MetricsTestKit
import Testing

struct MetricsObserverTests {
    private let metrics = TestMetrics()

    private func client(_ respond: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse) -> HTTPClient {
        HTTPClient(
            environment: ServerEnvironment(baseURL: URL(string: "https://a.test") ?? URL(filePath: "/")),
            observers: [MetricsObserver(factory: metrics)], transport: AnyLoader(respond))
    }

    @Test func `each exchange is measured with the attributes of OpenTelemetry`() async throws {
        let client = client { HTTPResponse(request: $0, status: .ok) }
        for login in ["ada", "grace"] {
            _ = try await client.send(Endpoint<HTTPResponse>(.get, "users/\(login, name: "login")"))
        }
        let timer = try metrics.expectTimer(
            "http.client.request.duration",
            [
                ("http.request.method", "GET"), ("http.response.status_code", "200"), ("server.address", "a.test"),
                ("server.port", "443"), ("url.template", "users/{login}"),
            ])
        #expect(timer.values.count == 2 && timer.values.allSatisfy { $0 > 0 })
    }

    @Test func `retries are counted by route and reason`() async throws {
        let client = client { HTTPResponse(request: $0, status: .serviceUnavailable) }
        _ = try? await client.send(Endpoint<HTTPResponse>(.get, "down").retry(.immediate, maximumRetries: 2))
        let counter = try metrics.expectCounter(
            "http.client.retries", [("url.template", "down"), ("error.type", "503")])
        #expect(counter.totalValue == 2)
    }

    @Test func `connections and decisions of the cache are counted`() throws {
        let observer = MetricsObserver(factory: metrics)
        var opened = HTTPEvent("connection.opened")
        (opened[.address], opened[.host], opened[.port]) = ("192.0.2.1:443", "a.test", 443)
        observer.record(opened)
        observer.record(HTTPEvent("cache.hit", route: "a"))
        observer.record(HTTPEvent("a.later.event"))
        let connections = try metrics.expectCounter(
            "http.client.connections",
            [("server.address", "a.test"), ("server.port", "443"), ("reused", "false")])
        let hits = try metrics.expectCounter("http.client.cache", [("url.template", "a"), ("outcome", "hit")])
        #expect(connections.totalValue == 1 && hits.totalValue == 1)
    }
}
