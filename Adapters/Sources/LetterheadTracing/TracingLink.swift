// SPDX-License-Identifier: MIT
public import Foundation
public import Letterhead
import LetterheadObserving
public import Tracing

/// A link that creates a span of swift-distributed-tracing for each exchange, and sends the span context in the format
/// of the tracer.
///
/// ```swift
/// let client = HTTPClient(environment: .production, attemptLinks: TracingLink())
/// ```
///
/// Pass it in the `attemptLinks`. It then creates a span for each attempt and each hop of a redirect, with the number
/// of earlier ones as `http.request.resend_count`. The span is a child of the current span of the task. Its name, its
/// attributes and its status follow the OpenTelemetry semantic conventions for HTTP clients. The URL is redacted. The
/// span ends when the response has arrived, or the head of a streamed response.
///
/// The context is sent to the allowed origins. If the client has a `TraceContextPropagation` as well, it adds no second
/// context to a request that already has the one from the tracer. If the tracer uses `traceparent`, the events of the
/// load contain its trace.
public struct TracingLink: LoaderLink {
    private let tracer: @Sendable () -> any Tracer
    private let origins: [HTTPOrigin?]?

    /// Creates a link.
    ///
    /// - Parameters:
    ///   - tracer: returns the tracer. Default: the tracer of `InstrumentationSystem` when a request is sent.
    ///   - allowedOrigins: the origins that receive the context, with all replicas of a balanced origin. A request to a
    ///     different origin has a span, too. If one of the URLs has no host, each load fails with `.invalidRequest`.
    ///     Default: nil (every origin).
    public init(
        _ tracer: @autoclosure @escaping @Sendable () -> any Tracer = InstrumentationSystem.tracer,
        allowedOrigins: [URL]? = nil
    ) {
        self.tracer = tracer
        origins = allowedOrigins?.map { HTTPRequest(url: $0).origin }
    }

    /// Sends the request within a span.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        if origins?.contains(nil) == true {
            throw HTTPError(
                .invalidRequest, request: request,
                message: "an allowed origin of TracingLink has no host (write it as https://host)")
        }
        let tracer = tracer()
        let span = tracer.startSpan(request.spanName, ofKind: .client)
        defer { span.end() }
        span.set(request.spanAttributes)
        var request = request
        // An observed load counts its exchanges itself.
        let sent = request.loadValues[option: SentCount.self]
        if sent > 0 { span.set(["http.request.resend_count": sent]) }
        request.loadValues[option: SentCount.self] = sent + 1
        if origins?.contains(request.logicalOrigin ?? request.origin) ?? true {
            tracer.inject(span.context, into: &request.headers, using: HeaderInjector())
        }
        do throws(HTTPError) {
            let response = try await next.load(request)
            span.set(response.spanAttributes)
            if response.status.code >= 400 { span.setStatus(SpanStatus(code: .error)) }
            return response
        } catch {
            // A cancellation by the caller isn't an error of the request.
            guard error.code != .cancelled else { throw error }
            span.set(["error.type": error.code.rawValue])
            span.recordError(error)
            span.setStatus(SpanStatus(code: .error, message: error.description))
            throw error
        }
    }
}

/// How often the link has sent this load. The links above pass the number on to the next attempt or hop.
private enum SentCount: HTTPRequestOption { static let defaultOptionValue = 0 }

/// Writes a context to the headers of a request.
private struct HeaderInjector: Injector {
    func inject(_ value: String, forKey key: String, into headers: inout HTTPHeaders) {
        headers[HTTPHeaders.Name(key)] = value
    }
}

extension Span {
    /// Sets attributes with `String` or `Int` values.
    fileprivate func set(_ values: [String: any Sendable]) {
        updateAttributes { attributes in
            for (name, value) in values {
                if let number = value as? Int {
                    attributes[name] = number
                } else {
                    attributes[name] = "\(value)"
                }
            }
        }
    }
}
