// SPDX-License-Identifier: MIT
/// Limits the total time of each request, including retries.
///
/// ```swift
/// Deadline(.seconds(30))               // for requests without a deadline
/// GetUser(login: "ada").deadline(in: .seconds(2))
/// ```
///
/// The request carries its deadline, a point in time on the link's clock, to the links below. They never wait longer
/// than ``HTTPRequest/timeLeft``, for example for a queue, a back-off, a token, a redirect, a connection or the next
/// bytes of a body. If a wait would pass the deadline, the request fails at once with `.timedOut`. Custom links and
/// transports that wait must do the same, because no timer ends them. Of two deadlines, the earlier one applies.
/// ``RequestSettings/timeout`` independently limits a single attempt.
public struct Deadline: LoaderLink {
    private let standard: Duration?
    private let timeline: Timeline

    /// Limits requests that don't set ``RequestSettings/deadline``. A request that sets it to nil has no limit.
    public init(_ standard: Duration? = nil, clock: any Clock<Duration> = ContinuousClock()) {
        self.standard = standard
        timeline = Timeline(clock)
    }

    /// Stores the deadline, and checks it while a streamed body is read. Everything below ends its own waits.
    ///
    /// - Throws: `.invalidRequest` if the limit is zero or less, and the errors of `next`.
    @inline(__always)
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        let limit = request.options.contains(DeadlineOption.self) ? request.deadline : standard
        if let limit, limit <= .zero {
            throw HTTPError(
                .invalidRequest, request: request, message: "the deadline is zero or less (use nil for no limit)")
        }
        return try await request.load(within: limit, on: timeline) { (limited) async throws(HTTPError) in
            try await next.load(limited)
        }
    }
}

extension Deadline: CustomStringConvertible {
    public var description: String { standard.map { "Deadline(\($0))" } ?? "Deadline" }
}

extension RequestConfigurable {
    /// Limits the total time of a request, from the ``Deadline`` link to the last byte of the body: queues, every
    /// attempt, back-off, token refreshes, redirects and reading the body. The time in a client's `links` and in
    /// ``RequestTemplate/decode(_:)`` doesn't count. To limit a single attempt, use ``timeout(_:)``.
    ///
    /// If the limit is nil, the request has no deadline, even if the client's ``Deadline`` has a default. A request
    /// that exceeds the limit is `.timedOut`, with the phase in the message.
    public func deadline(in limit: Duration?) -> Configured {
        configured { $0.deadline = limit }
    }
}
