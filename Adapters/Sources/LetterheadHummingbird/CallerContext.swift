// SPDX-License-Identifier: MIT
public import Letterhead

/// What the caller of a service has asked for: how long it waits for the response, and how important the response is.
///
/// ``CallerContextMiddleware`` reads it from each request, and ``CallerContextLink`` applies it to what a client sends
/// while the request is handled. The caller's trace is `TraceContext.current`.
public struct CallerContext: Sendable {
    /// The context of the request that the current task handles. Default: nil.
    ///
    /// A `Task` that a handler creates inherits it, and so does its deadline. For work that continues after the
    /// response, write `CallerContext.$current.withValue(nil) { Task { … } }`.
    @TaskLocal public static var current: CallerContext?

    /// When the caller stops waiting.
    public let deadline: ContinuousClock.Instant
    /// The `Priority` field (RFC 9218) with the parameters that the RFC defines, such as `u=1, i`. Default: nil.
    public let priority: String?

    public init(deadline: ContinuousClock.Instant, priority: String? = nil) {
        (self.deadline, self.priority) = (deadline, priority)
    }
}

/// Applies the context of the caller to each request that a client sends while a service handles a request.
///
/// ```swift
/// let client = HTTPClient(
///     environment: .orders, links: CallerContextLink(), attemptLinks: DeadlinePropagation("X-Request-Timeout"),
///     tracing: TraceContextPropagation(allowedOrigins: [orders]))
/// ```
///
/// Pass it to a client in `links`, because the deadline includes retries and waits.
///
/// - A request has until the deadline of the caller, or until the deadline that it sets if that is earlier.
/// - A request has the `Priority` of the caller unless it sets the field itself. The order in which requests leave the
///   queue of a `Throttle` doesn't change, because a caller must not overtake others (RFC 9218, 13).
/// - If ``CallerContext/current`` is nil, requests are sent unchanged.
///
/// `TraceContextPropagation` sends the trace, and `DeadlinePropagation` tells the server how much time is left.
public struct CallerContextLink: LoaderLink {
    public init() {}

    /// - Throws: `.timedOut`, with nothing sent, if the caller has stopped waiting, and errors from the next loader.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        guard let caller = CallerContext.current else { return try await next.load(request) }
        let left = caller.deadline - .now
        guard left > .zero else {
            throw request.deadlinePassed(while: "the request was about to be sent", mayHaveBeenSent: false)
        }
        var request = request
        request.deadline = min(request.deadline ?? left, left)
        if let priority = caller.priority, !request.headers.contains("Priority") {
            request.headers["Priority"] = priority
        }
        return try await next.load(request)
    }
}
