public import Foundation

/// Sends the trace that a request belongs to, in the headers `traceparent`, `tracestate` and `baggage` (W3C Trace
/// Context, W3C Baggage).
///
/// ```swift
/// HTTPClient(environment: .production, tracing: TraceContextPropagation(allowedOrigins: [ownServer]))
/// ```
///
/// The trace is that of ``TraceContext/current``. If it is nil, each load begins a new trace. Each exchange, which is
/// an attempt or a hop of a redirect, has its own span identifier. A request that already has a `traceparent` is not
/// changed.
public struct TraceContextPropagation: Sendable {
    private let origins: Set<HTTPOrigin>?
    private let random: @Sendable () -> UInt64
    let brokenRule: String?

    /// Creates the settings.
    ///
    /// - Parameters:
    ///   - allowedOrigins: the origins that receive the headers. If one of the URLs has no host, each load fails with
    ///     `.invalidRequest`. Default: nil (every origin).
    ///   - random: returns random numbers for the identifiers. Default: the random source of the system.
    public init(
        allowedOrigins: [URL]? = nil, random: @escaping @Sendable () -> UInt64 = { .random(in: .min ... .max) }
    ) {
        let origins = allowedOrigins?.map { HTTPRequest(url: $0).origin }
        self.origins = origins.map { Set($0.compactMap(\.self)) }
        self.random = random
        brokenRule =
            origins?.contains(nil) == true
            ? "an allowed origin of TraceContextPropagation has no host; write it as https://host" : nil
    }

    /// The context of a load: the current context, or the context of a new trace.
    var context: TraceContext? { TraceContext.current ?? TraceContext.new(random) }

    /// Adds the headers of one exchange, and returns its context. Returns nil if no headers are added: the origin must
    /// not receive them, or the request already has a `traceparent`.
    func inject(_ context: TraceContext?, into request: inout HTTPRequest) -> TraceContext? {
        guard let context, let origin = request.origin, origins?.contains(origin) ?? true,
            !request.headers.contains("traceparent")
        else { return nil }
        let own = context.with(spanID: max(random(), 1))
        request.headers["traceparent"] = own.traceparent
        if let state = own.state { request.headers["tracestate"] = state }
        if let baggage = own.baggageHeader, !request.headers.contains("baggage") {
            request.headers["baggage"] = baggage
        }
        return own
    }
}
