/// Limits how long whole loads may take.
///
/// ```swift
/// Deadline(.seconds(30))               // for requests that say nothing themselves
/// GetUser(login: "ada").deadline(in: .seconds(2))
/// ```
///
/// The limit becomes a point on the link's timeline, which travels down in the request. Nobody races against it: whoever
/// waits below, for a place in a queue, a back-off, a fresh token, a redirect, a connection or the next bytes of a body,
/// waits no longer than ``HTTPRequest/timeLeft``, and a wait that would pass the deadline fails at once. A link of your
/// own that waits does the same. Of two deadlines the earlier counts. The timeout of an attempt is apart.
public struct Deadline: LoaderLink {
    private let standard: Duration?
    private let timeline: Timeline

    /// Makes the link.
    ///
    /// - Parameters:
    ///   - standard: for requests without a deadline of their own. Default: nil, no limit.
    ///   - clock: the time. Default: the continuous clock.
    public init(_ standard: Duration? = nil, clock: any Clock<Duration> = ContinuousClock()) {
        self.standard = standard
        timeline = Timeline(clock)
    }

    /// Sets the deadline, and has the request answered.
    ///
    /// - Throws: `.timedOut` when it passed, saying in which phase; `.invalidRequest` when it is zero or less.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async throws(HTTPError) -> HTTPResponse {
        let isSet = request.options.contains(DeadlineOption.self)
        guard let limit = isSet ? request.deadline : standard else { return try await next.load(request) }
        guard limit > .zero else {
            throw HTTPError(.invalidRequest, request: request, message: "the deadline is zero or less; nil is no limit")
        }
        var limited = request
        limited.limit(to: limit, on: timeline)
        return try await next.load(limited).within(limited)
    }
}

extension HTTPResponse {
    /// A body that is still arriving is given out until the deadline of its request.
    fileprivate func within(_ request: HTTPRequest) -> HTTPResponse {
        guard body.buffered == nil else { return self }
        var response = self
        response.body = body.passing { next in
            if let left = request.timeLeft, left <= .zero { throw request.deadlinePassed(while: "reading the body") }
            return try await next()
        }
        return response
    }
}

extension RequestTemplate {
    /// Limits how long the whole load may take, from its start to the last byte: waiting in queues, every attempt,
    /// back-off, refreshed credentials, redirects and reading the body.
    ///
    /// nil means no limit, and lifts the default of a ``Deadline`` of the client.
    ///
    /// Passing it is `.timedOut`, and the message says in which phase. For one attempt alone, see ``timeout(_:)``.
    public func deadline(in limit: Duration?) -> WithOptions<Self> {
        option(DeadlineOption.self, limit)
    }
}

/// How long a whole load may take.
enum DeadlineOption: HTTPRequestOption {
    /// The default of the link ``Deadline``. An option that is explicitly nil means no limit.
    static let defaultOptionValue: Duration? = nil
}

/// The point at which a load must be over, on the timeline of who set it.
struct DeadlinePoint: Sendable {
    let point: Duration
    let timeline: Timeline

    /// A point so long from now.
    init(in limit: Duration, on timeline: Timeline) {
        point = timeline.now + min(limit, .seconds(Int64.max))
        self.timeline = timeline
    }

    /// How much is left, zero or less when it has passed.
    var timeLeft: Duration { point - timeline.now }
}

enum DeadlinePointOption: HTTPRequestOption {
    static let defaultOptionValue: DeadlinePoint? = nil
}

extension HTTPRequest {
    /// How long the whole load may take, from the link ``Deadline`` on.
    ///
    /// Default: not set, the default of that link. Assigning nil means no limit and lifts that default. Passing it is `.timedOut`; zero or less is `.invalidRequest`.
    public var deadline: Duration? {
        get { self[option: DeadlineOption.self] }
        set { self[option: DeadlineOption.self] = newValue }
    }

    /// How much is left until the deadline, zero or less when it has passed; nil without one.
    ///
    /// A law for links and transports that wait: wait no longer than this, and fail at once, with
    /// ``deadlinePassed(while:response:mayHaveBeenSent:)``, when the wait would be longer.
    public var timeLeft: Duration? { self[option: DeadlinePointOption.self]?.timeLeft }

    /// The error of a load whose deadline passed, or would pass in a wait.
    ///
    /// - Parameters:
    ///   - phase: what the load was doing, as in "connecting".
    ///   - response: what had arrived of the response. Default: nil.
    ///   - mayHaveBeenSent: false when it is certain that no byte of the request left. Default: true.
    public func deadlinePassed(
        while phase: String, response: HTTPResponse? = nil, mayHaveBeenSent: Bool = true
    ) -> HTTPError {
        HTTPError(
            .timedOut, request: self, response: response, message: "the deadline passed while \(phase)",
            mayHaveBeenSent: mayHaveBeenSent)
    }

    /// Whether there is a point at which the load must be over.
    var hasDeadline: Bool { options.contains(DeadlinePointOption.self) }

    /// The same without a deadline, for a load whose waiters keep their own.
    var withoutDeadline: HTTPRequest {
        guard hasDeadline else { return self }
        var request = self
        request.options.remove(DeadlinePointOption.self)
        return request
    }

    /// Gives back the deadline that ``withoutDeadline`` took away.
    mutating func returnDeadline(of request: HTTPRequest) {
        guard request.hasDeadline else { return }
        shareDeadline(of: request)
    }

    /// Sets the point, unless there is an earlier one already.
    mutating func limit(to limit: Duration, on timeline: Timeline) {
        if let timeLeft, timeLeft <= limit { return }
        self[option: DeadlinePointOption.self] = DeadlinePoint(in: limit, on: timeline)
    }

    /// Takes over the deadline of another request, on behalf of which this one is sent.
    mutating func shareDeadline(of request: HTTPRequest) {
        self[option: DeadlinePointOption.self] = request[option: DeadlinePointOption.self]
    }
}

extension HTTPRequestOptions {
    /// See ``HTTPRequest/deadline``.
    public var deadline: Duration? {
        get { self[DeadlineOption.self] }
        set { self[DeadlineOption.self] = newValue }
    }
}

extension WithOptions {
    /// See ``RequestTemplate/deadline(in:)``.
    public func deadline(in limit: Duration?) -> Self {
        option(DeadlineOption.self, limit)
    }
}
