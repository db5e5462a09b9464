/// A link that limits the total time of each request, including retries.
///
/// ```swift
/// Deadline(.seconds(30))               // for requests without a deadline
/// GetUser(login: "ada").deadline(in: .seconds(2))
/// ```
///
/// The deadline is a point in time on the clock of the link. The request carries it to the links below. The links below
/// never wait longer than ``HTTPRequest/timeLeft``, for example for a queue, a back-off, a token, a redirect, a
/// connection or the next bytes of a body. If a wait would pass the deadline, the request fails at once. A custom link
/// that waits must do the same. Of two deadlines, the earlier one applies. ``RequestSettings/timeout``, the limit of a
/// single attempt, is independent of the deadline.
public struct Deadline: LoaderLink, CancelledFromOutside {
    private let standard: Duration?
    private let timeline: Timeline

    /// Creates the link.
    ///
    /// - Parameters:
    ///   - standard: the limit for requests that do not set ``RequestSettings/deadline``. A request that sets it to nil
    ///     has no limit. Default: nil (no limit).
    ///   - clock: measures the time. Default: the continuous clock.
    public init(_ standard: Duration? = nil, clock: any Clock<Duration> = ContinuousClock()) {
        self.standard = standard
        timeline = Timeline(clock)
    }

    /// Sets the deadline and sends the request.
    ///
    /// - Throws: `.timedOut` if the deadline has passed, with the phase in the message; `.invalidRequest` if the limit
    ///   is zero or less.
    @inline(__always)
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        let isSet = request.options.contains(DeadlineOption.self)
        guard let limit = isSet ? request.deadline : standard else { return try await next.load(request) }
        guard limit > .zero else {
            throw HTTPError(
                .invalidRequest, request: request, message: "the deadline is zero or less; use nil for no limit")
        }
        var limited = request
        limited.limit(to: limit, on: timeline)
        return try await next.load(limited).within(limited)
    }
}

extension HTTPResponse {
    /// Returns the response, with a body that fails when the deadline of its request passes.
    fileprivate func within(_ request: HTTPRequest) -> HTTPResponse {
        guard body.buffered == nil else { return self }
        var response = self
        response.body = body.observing { next in
            if let left = request.timeLeft, left <= .zero { throw request.deadlinePassed(while: "reading the body") }
            return try await next()
        }
        return response
    }
}

extension RequestTemplate {
    /// Limits the total time of a request, from its start to the last byte of the body: queues, every attempt,
    /// back-off, token refreshes, redirects and reading the body.
    ///
    /// If the limit is nil, the request has no deadline, even if the client's ``Deadline`` has a default.
    ///
    /// A request that exceeds the limit is `.timedOut`, with the phase in the message. To limit a single attempt, use
    /// ``timeout(_:)``.
    public func deadline(in limit: Duration?) -> Modified<Self> {
        settings { $0.deadline = limit }
    }
}

enum DeadlineOption: HTTPRequestOption {
    /// Not set: the default of the link ``Deadline`` applies. An option that is explicitly nil means no limit.
    static let defaultOptionValue: Duration? = nil
}

/// The point at which a load must have ended, on the timeline of the link that set it.
struct DeadlinePoint: Sendable {
    let point: Duration
    let timeline: Timeline

    /// Creates a point at a distance from the current time.
    init(in limit: Duration, on timeline: Timeline) {
        point = timeline.now + min(limit, .seconds(Int64.max))
        self.timeline = timeline
    }

    /// The remaining time; zero or less after the deadline.
    var timeLeft: Duration { point - timeline.now }
}

extension RequestSettings {
    /// The limit of the total time of the request, beginning at the link ``Deadline``.
    ///
    /// Default: not set (the default of that link). If it is set to nil, the request has no deadline, even if the link
    /// has a default. A request that exceeds the limit fails with `.timedOut`. A request with a limit of zero or less
    /// fails with `.invalidRequest`.
    public var deadline: Duration? {
        get { self[option: DeadlineOption.self] }
        set { self[option: DeadlineOption.self] = newValue }
    }
}

extension HTTPRequest {
    /// The time until the deadline: zero or less if the deadline has passed, and nil if there is no deadline.
    ///
    /// Links and transports must not wait longer than this. If a wait would be longer, they fail at once with
    /// ``deadlinePassed(while:response:mayHaveBeenSent:)``.
    public var timeLeft: Duration? { context.deadline?.timeLeft }

    /// Returns the error of a request whose deadline has passed, or would pass during a wait.
    ///
    /// - Parameters:
    ///   - phase: the current activity, such as "connecting".
    ///   - response: the part of the response that has arrived. Default: nil.
    ///   - mayHaveBeenSent: false if it is certain that no byte of the request was sent. Default: true.
    public func deadlinePassed(
        while phase: String, response: HTTPResponse? = nil, mayHaveBeenSent: Bool = true
    ) -> HTTPError {
        HTTPError(
            .timedOut, request: self, response: response, message: "the deadline passed while \(phase)",
            mayHaveBeenSent: mayHaveBeenSent)
    }

    /// Whether the load has a deadline.
    var hasDeadline: Bool { context.deadline != nil }

    /// The request without a deadline, for a shared load whose waiters have their own.
    var withoutDeadline: HTTPRequest {
        guard hasDeadline else { return self }
        var request = self
        request.shareDeadline(of: nil)
        return request
    }

    /// Sets the point, unless an earlier one is set.
    mutating func limit(to limit: Duration, on timeline: Timeline) {
        if let timeLeft, timeLeft <= limit { return }
        context.deadline = DeadlinePoint(in: limit, on: timeline)
    }

    /// Sets the deadline of this request to that of another request. Use it if this request is sent on behalf of the
    /// other one, for example to get a token.
    ///
    /// This method changes the point in time that determines ``timeLeft``. It does not change the setting
    /// ``RequestSettings/deadline``. The new point can be later than the previous one.
    ///
    /// - Parameter request: the request that waits for this one. If it is nil or has no deadline, the deadline of this
    ///   request is removed. Pass nil if several requests wait for this one.
    public mutating func shareDeadline(of request: HTTPRequest?) {
        if context.deadline != nil || request?.context.deadline != nil { context.deadline = request?.context.deadline }
    }
}
