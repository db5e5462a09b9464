// SPDX-License-Identifier: MIT
public import Letterhead

extension HTTPEvent {
    /// The OpenTelemetry name of the metric for how long an exchange took (`.duration`), in seconds.
    public static let durationMetric = "http.client.request.duration"

    /// The OpenTelemetry span name for an exchange: the method and the route, as in `GET users/{}/followers`.
    public var spanName: String { [standardMethod, route].compactMap(\.self).joined(separator: " ") }

    /// The OpenTelemetry attributes for an exchange span, as `String` or `Int`.
    ///
    /// Use it for the events `exchange.start`, `exchange.end` and `exchange.failed`. If the result contains
    /// `error.type`, the span has failed. An exchange that was cancelled by its caller hasn't failed.
    public var spanAttributes: [String: any Sendable] {
        var attributes = metricAttributes
        attributes["url.full"] = self[.url]
        if let count = self[.resendCount], count > 0 { attributes["http.request.resend_count"] = count }
        if standardMethod == "HTTP" { attributes["http.request.method_original"] = self[.method] }
        return attributes
    }

    /// The OpenTelemetry attributes for ``durationMetric``, as `String` or `Int`. Each has only a few different values.
    public var metricAttributes: [String: any Sendable] {
        var attributes: [String: any Sendable] = [:]
        attributes["http.request.method"] = standardMethod == "HTTP" ? "_OTHER" : standardMethod
        attributes["server.address"] = self[.host]
        attributes["server.port"] = self[.port]
        attributes["url.template"] = route
        attributes["http.response.status_code"] = self[.status]
        let isCancelled = self[.errorType] == HTTPError.Code.cancelled.rawValue
        attributes["error.type"] = isCancelled ? nil : self[.errorType]
        attributes["network.protocol.version"] = self[.httpVersion].map { $0.replacingBytes(of: "HTTP/", with: "") }
        return attributes
    }

    /// The method, or `HTTP` for an unregistered method, so that the attribute has only a few different values.
    private var standardMethod: String? {
        let known = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY"]
        return self[.method].map { known.contains($0) ? $0 : "HTTP" }
    }
}

extension HTTPRequest {
    /// The OpenTelemetry span name for this request, as in `GET users/{}/followers`. Use it in links that create spans
    /// themselves.
    public var spanName: String { exchangeEvent.spanName }

    /// The OpenTelemetry attributes of the span for this request, as `String` or `Int`.
    public var spanAttributes: [String: any Sendable] { exchangeEvent.spanAttributes }
}

extension HTTPResponse {
    /// The OpenTelemetry attributes that this response adds to the span of its request, as `String` or `Int`.
    public var spanAttributes: [String: any Sendable] {
        var event = HTTPEvent(.exchangeEnd)
        event[.status] = status.code
        if status.code >= 400 { event[.errorType] = "\(status.code)" }
        event[.httpVersion] = metrics.httpVersion
        return event.spanAttributes
    }
}
