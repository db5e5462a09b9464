// SPDX-License-Identifier: MIT
public import Letterhead

/// The wishes of a caller: how long it waits for the response of your service, and how important that response is.
///
/// ``CallerContextMiddleware`` reads the context from each request. ``CallerContextLink`` applies it to requests that a
/// client sends while the request of the caller is handled. The trace of the caller is `TraceContext.current`.
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

    /// Creates a context. The middleware does this for you, so you need it only for a test or a different server.
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
/// - A request has the deadline of the caller, or an earlier one that it sets itself.
/// - A request has the `Priority` of the caller unless it sets the field itself. The priority doesn't change the order
///   in which requests leave the queue of a `Throttle`, because a caller must not overtake others (RFC 9218, 13).
/// - If ``CallerContext/current`` is nil, requests are sent unchanged.
///
/// `TraceContextPropagation` sends the trace, and `DeadlinePropagation` tells the server how much time is left.
public struct CallerContextLink: LoaderLink {
    /// Creates a link. It reads ``CallerContext/current`` for each request.
    public init() {}

    /// Sends the request with the deadline and the priority of the caller, if there is one.
    ///
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
