// SPDX-License-Identifier: MIT
public import CoreMetrics
public import Letterhead
import LetterheadObserving

/// An observer that counts and measures the exchanges of a client with swift-metrics, under the names of the
/// OpenTelemetry semantic conventions for HTTP clients.
///
/// ```swift
/// let client = HTTPClient(environment: .production, observers: [MetricsObserver()])
/// ```
///
/// | Metric | Kind | Dimensions |
/// |---|---|---|
/// | `http.client.request.duration` | timer, of each exchange | `HTTPEvent.metricAttributes` |
/// | `http.client.retries` | counter | `url.template`, `error.type` |
/// | `http.client.connections` | counter | `server.address`, `server.port`, `reused` |
/// | `http.client.cache` | counter | `url.template`, `outcome` |
///
/// The dimensions contain the route instead of the URL, so each metric has only few time series.
public struct MetricsObserver: HTTPObserver {
    private let factory: any MetricsFactory

    /// Creates an observer.
    ///
    /// - Parameter factory: creates the metrics. Default: the factory of `MetricsSystem`.
    public init(factory: any MetricsFactory = MetricsSystem.factory) { self.factory = factory }

    /// Counts or measures an event. Events that no metric is about are ignored.
    public func record(_ event: HTTPEvent) {
        switch event.name {
        case .exchangeEnd, .exchangeFailed:
            guard let duration = event[.duration] else { return }
            let dimensions = event.metricAttributes.map { ($0.key, "\($0.value)") }.sorted { $0.0 < $1.0 }
            Timer(label: HTTPEvent.durationMetric, dimensions: dimensions, factory: factory)
                .recordNanoseconds(Int64(duration / .nanoseconds(1)))
        case .retryDecided where event[.isRetried] == true:
            count("http.client.retries", [("url.template", event.route), ("error.type", Self.errorType(of: event))])
        case .connectionOpened, .connectionReused:
            let isReused = event.name == .connectionReused
            count(
                "http.client.connections",
                [
                    ("server.address", event[.host]), ("server.port", event[.port].map { "\($0)" }),
                    ("reused", "\(isReused)"),
                ])
        case let name where name.rawValue.hasPrefix("cache."):
            count(
                "http.client.cache", [("url.template", event.route), ("outcome", String(name.rawValue.dropFirst(6)))])
        default: break
        }
    }

    private func count(_ label: String, _ dimensions: [(String, String?)]) {
        let known = dimensions.compactMap { name, value in value.map { (name, $0) } }
        Counter(label: label, dimensions: known, factory: factory).increment()
    }

    private static func errorType(of event: HTTPEvent) -> String? {
        event[.errorType] ?? event[.status].map { "\($0)" }
    }
}
