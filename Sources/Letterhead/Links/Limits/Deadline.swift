// SPDX-License-Identifier: MIT
/// Limits the total time of each request, including retries.
///
/// ```swift
/// Deadline(.seconds(30))               // for requests without a deadline
/// GetUser(login: "ada").deadline(in: .seconds(2))
/// ```
///
/// A client contains this link, without a default limit. ``RequestSettings/timeout`` independently limits a single
/// attempt.
///
/// The request carries its deadline, a point in time on the clock of the link, to the links below. They never wait
/// longer than ``HTTPRequest/timeLeft``, for example for a queue, a back-off, a token, a redirect, a connection or the
/// next bytes of a body. If a wait would pass the deadline, the request fails at once with `.timedOut`. If you write a
/// link or a transport that waits, let it do the same, because no timer ends its waits. Of two deadlines, the earlier
/// one applies.
public struct Deadline: LoaderLink {
    private let standard: Duration?
    private let timeline: Timeline

    /// Creates a link that limits requests that don't set ``RequestSettings/deadline``.
    ///
    /// - Parameters:
    ///   - standard: the limit. A request that sets its deadline to nil has no limit. Default: nil (no limit).
    ///   - clock: measures the time. Default: the continuous clock.
    public init(_ standard: Duration? = nil, clock: any Clock<Duration> = ContinuousClock()) {
        self.standard = standard
        timeline = Timeline(clock)
    }

    /// Stores the deadline in the request, and checks it while a streamed body is read. The links below end their waits
    /// themselves. The deadline begins here, and ends with the load or with its streamed body.
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
    /// Limits the total time of a request, from the ``Deadline`` link to the last byte of the body.
    ///
    /// The time in queues, attempts, back-off, token refreshes, redirects and reading the body counts. The time in the
    /// `links` of a client and in ``RequestTemplate/decode(_:)`` doesn't count. To limit a single attempt, use
    /// ``timeout(_:)``.
    ///
    /// A request that exceeds the limit fails with `.timedOut`, and the message contains what it was waiting for. If
    /// the limit is nil, the request has no deadline, even if a ``Deadline`` link has a default.
    public func deadline(in limit: Duration?) -> Configured {
        configured { $0.deadline = limit }
    }
}
