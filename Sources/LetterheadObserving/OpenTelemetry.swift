// SPDX-License-Identifier: MIT
public import Letterhead

extension HTTPEvent {
    /// The OpenTelemetry name of the metric for the `.duration` of an exchange, in seconds.
    public static let durationMetric = "http.client.request.duration"

    /// The name of an exchange's span in OpenTelemetry: the method and the route, as in `GET users/{}/followers`.
    public var spanName: String { [standardMethod, route].compactMap(\.self).joined(separator: " ") }

    /// The attributes of the span of an exchange (`exchange.start`, `exchange.end`, `exchange.failed`), under the names
    /// of OpenTelemetry, as `String` or `Int`. If `error.type` is among them, the span has failed.
    public var spanAttributes: [String: any Sendable] {
        var attributes = metricAttributes
        attributes["url.full"] = self[.url]
        if let count = self[.resendCount], count > 0 { attributes["http.request.resend_count"] = count }
        if standardMethod == "HTTP" { attributes["http.request.method_original"] = self[.method] }
        return attributes
    }

    /// The attributes of ``durationMetric``, as `String` or `Int`. Each has only a few different values.
    public var metricAttributes: [String: any Sendable] {
        var attributes: [String: any Sendable] = [:]
        attributes["http.request.method"] = standardMethod == "HTTP" ? "_OTHER" : standardMethod
        attributes["server.address"] = self[.host]
        attributes["server.port"] = self[.port]
        attributes["url.template"] = route
        attributes["http.response.status_code"] = self[.status]
        attributes["error.type"] = self[.errorType]
        attributes["network.protocol.version"] = self[.httpVersion].map { $0.replacingBytes(of: "HTTP/", with: "") }
        return attributes
    }

    /// The method; `HTTP` for a method that is not registered, so that the attribute has only a few different values.
    private var standardMethod: String? {
        let known = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY"]
        return self[.method].map { known.contains($0) ? $0 : "HTTP" }
    }
}

extension HTTPRequest {
    /// The name of a span for this request, for links that create spans themselves: `GET users/{}/followers`.
    public var spanName: String { exchangeEvent.spanName }

    /// The attributes of a span for this request, as `String` or `Int`.
    public var spanAttributes: [String: any Sendable] { exchangeEvent.spanAttributes }
}

extension HTTPResponse {
    /// The attributes that this response adds to the span of its request. Values are `String` or `Int`.
    public var spanAttributes: [String: any Sendable] {
        var event = HTTPEvent(.exchangeEnd)
        event[.status] = status.code
        if status.code >= 400 { event[.errorType] = "\(status.code)" }
        event[.httpVersion] = metrics.httpVersion
        return event.spanAttributes
    }
}
