// SPDX-License-Identifier: MIT
public import Letterhead
import LetterheadObserving
public import Tracing

/// A link that creates a span of swift-distributed-tracing for each exchange, and sends its context in the format of
/// the tracer.
///
/// ```swift
/// let client = HTTPClient(environment: .production, attemptLinks: TracingLink())
/// ```
///
/// As one of the `attemptLinks`, it creates a span for each attempt and each hop of a redirect, with the number of
/// earlier ones as `http.request.resend_count`. The span is a child of the current span of the task. Its name, its
/// attributes and its status follow OpenTelemetry's semantic conventions for HTTP clients. The URL is redacted. The
/// span ends when the response has arrived, or the head of a streamed response.
///
/// The context is sent to every server that the client calls. Use it instead of `TraceContextPropagation`, not together
/// with it.
public struct TracingLink: LoaderLink {
    private let tracer: @Sendable () -> any Tracer

    /// Creates a link.
    ///
    /// - Parameter tracer: returns the tracer. Default: the tracer of `InstrumentationSystem` when a request is sent.
    public init(_ tracer: @autoclosure @escaping @Sendable () -> any Tracer = InstrumentationSystem.tracer) {
        self.tracer = tracer
    }

    /// Sends the request within a span.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        let tracer = tracer()
        let span = tracer.startSpan(request.spanName, ofKind: .client)
        defer { span.end() }
        span.set(request.spanAttributes)
        var request = request
        // An observed load counts its exchanges itself.
        let sent = request.loadValues[option: SentCount.self]
        if sent > 0 { span.set(["http.request.resend_count": sent]) }
        request.loadValues[option: SentCount.self] = sent + 1
        tracer.inject(span.context, into: &request.headers, using: HeaderInjector())
        do throws(HTTPError) {
            let response = try await next.load(request)
            span.set(response.spanAttributes)
            if response.status.code >= 400 { span.setStatus(SpanStatus(code: .error)) }
            return response
        } catch {
            // A caller that cancels has lost interest, which is no error of the request.
            guard error.code != .cancelled else { throw error }
            span.set(["error.type": error.code.rawValue])
            span.recordError(error)
            span.setStatus(SpanStatus(code: .error, message: error.description))
            throw error
        }
    }
}

/// How often the link has sent the load. Links above pass it on to the next attempt or hop.
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
